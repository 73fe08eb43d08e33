//! Connections that give a shell away or send files.

use super::{Call, is_shell};
use crate::approval::shell::{Category, EffectKind, resolve::Arg, walk::Walker};

/// Whether a program can send what it is given.
pub(super) fn sends(name: &str) -> bool {
    matches!(
        name,
        "curl"
            | "wget"
            | "nc"
            | "ncat"
            | "netcat"
            | "socat"
            | "scp"
            | "sftp"
            | "rsync"
            | "ftp"
            | "lftp"
            | "ssh"
            | "telnet"
            | "mail"
            | "mailx"
            | "sendmail"
            | "mutt"
            | "http"
            | "https"
            | "xh"
            | "rclone"
            | "croc"
            | "gh"
            | "tftp"
            | "openssl"
            | "nslookup"
            | "dig"
            | "host"
            | "s3cmd"
            | "aws"
            | "gsutil"
    )
}

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    if sends(call.name) {
        let address = call.operands().next().map_or("", |arg| arg.text.as_str());
        walker.effect(EffectKind::Network, format!("{} {address}", call.name).trim_end());
    }
    let uploads = matches!(call.name, "scp" | "rsync" | "sftp" | "rclone");
    if walker.sends_out && uploads && call.operands().last().is_some_and(|arg| arg.text.contains(':')) {
        walker.ask(Category::Exfiltration, format!("sends files: {}", call.shown()));
    }
    match call.name {
        "nc" | "ncat" | "netcat" | "nc.traditional" | "nc.openbsd" => netcat(walker, call),
        "socat" => socat(walker, call),
        "telnet" if call.input.fed => walker.ask(Category::ReverseShell, call.shown()),
        "curl" | "wget" | "http" | "https" | "xh" => upload(walker, call),
        "scp" | "sftp" => {
            for program in call.values("-S", "") {
                walker.program_text("scp -S", &program.text);
            }
            for setting in call.values("-o", "") {
                walker.ssh_setting(&setting.text);
            }
            if let Some(target) = call.operands().skip(1).last().filter(|arg| !arg.text.contains(':')) {
                super::write::file(walker, target, "downloads to");
            }
        }
        "ssh" => {
            for forward in call.values("-R", "") {
                walker.ask(Category::ReverseShell, format!("lets the other side in: ssh -R {}", forward.shown()));
            }
        }
        "ztcp" | "zmodload" => walker.ask(Category::ReverseShell, call.shown()),
        "ngrok" | "cloudflared" | "bore" | "localtunnel" | "chisel" | "frpc" => {
            walker.ask(Category::ReverseShell, format!("lets the network in: {}", call.shown()));
        }
        _ => return false,
    }
    true
}

fn netcat(walker: &mut Walker, call: &Call<'_>) {
    let runs = call.options().any(|arg| match arg.text.strip_prefix("--") {
        Some(name) => name.starts_with("exec") || name.starts_with("sh-exec") || name.starts_with("lua-exec"),
        None => arg.text.contains('e') || arg.text.contains('c'),
    });
    if runs || call.operands().any(|arg| is_shell(arg.text.rsplit('/').next().unwrap_or(""))) {
        walker.ask(Category::ReverseShell, call.shown());
    } else if call.has('l', "listen") {
        walker.ask(Category::ReverseShell, format!("waits for a connection: {}", call.shown()));
    } else if call.input.fed && !call.has('z', "") {
        walker.ask(Category::Exfiltration, format!("sends its input: {}", call.shown()));
    }
}

fn socat(walker: &mut Walker, call: &Call<'_>) {
    let mut bad = false;
    for arg in call.args {
        let text = arg.text.to_lowercase();
        if let Some((_, program)) =
            text.split_once("exec:").or_else(|| text.split_once("system:")).or_else(|| text.split_once("shell:"))
        {
            bad = true;
            let program = program.trim_matches(['\'', '"']).split(',').next().unwrap_or("").to_owned();
            walker.program_text("socat", &program);
        }
    }
    if bad || call.args.iter().any(|arg| arg.text.to_lowercase().contains("listen")) {
        walker.ask(Category::ReverseShell, call.shown());
    }
}

/// Files that a request carries.
fn upload(walker: &mut Walker, call: &Call<'_>) {
    let mut sent: Vec<String> = Vec::new();
    let letters = if call.name == "curl" { ['d', 'F'].as_slice() } else { &[] };
    let mut values: Vec<Arg> = letters.iter().flat_map(|letter| call.clustered(*letter)).collect();
    for long in ["--data", "--form", "--data-binary", "--data-raw", "--data-urlencode", "--json"] {
        values.extend(call.long_values(long));
    }
    sent.extend(values.iter().filter_map(|value| {
        value.text.split_once('@').map(|(_, file)| file.split(';').next().unwrap_or("").to_owned())
    }));
    let files = if call.name == "curl" { call.clustered('T') } else { vec![] };
    let long = ["--upload-file", "--post-file", "--body-file"].iter().flat_map(|long| call.long_values(long));
    sent.extend(files.into_iter().chain(long).map(|value| value.text));
    // Where the sandbox gave the network, everything that the command can read may leave by it.
    let unknown = values.iter().any(|value| !value.is_known());
    if walker.sends_out && (unknown || !sent.is_empty()) {
        walker.ask(Category::Exfiltration, format!("sends a file: {}", call.shown()));
    }
    for file in sent {
        if super::secrets::private(&Arg::known(file.as_str())).is_some()
            || file.contains("/.")
            || file.starts_with("~/.")
        {
            walker.ask(Category::Exfiltration, format!("{} sends {file}", call.name));
        }
    }
    for arg in call.args {
        let text = arg.text.to_lowercase();
        let local = ["localhost", "127.", "[::1]", "0.0.0.0"].iter().any(|host| text.contains(host));
        if ["169.254.169.254", "metadata.google.internal", "169.254.170.2", "fd00:ec2::254"]
            .iter()
            .any(|host| text.contains(host))
        {
            walker.ask(
                Category::CredentialRead,
                format!("asks the cloud for this machine's credentials: {}", arg.shown()),
            );
        } else if text.contains("docker.sock") || text.contains("containerd.sock") {
            walker.ask(Category::Privilege, call.shown());
        } else if local && text.contains("approval") {
            walker.ask(Category::Host, format!("may answer for a person: {}", arg.shown()));
        }
    }
    if call.values("-K", "--config").iter().any(|file| !file.is_known() || walker.is_made(file)) && call.name == "curl"
    {
        walker.ask(Category::UnknownTarget, format!("options from a file: {}", call.shown()));
    }
}
