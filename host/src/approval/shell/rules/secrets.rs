//! Keys and credentials.

use super::{Call, target::pattern_is};
use crate::{
    approval::shell::{Category, resolve::Arg, walk::Walker},
    paths::credentials,
};

/// What secret an argument names; `None` if none.
pub(crate) fn secret(walker: &Walker, arg: &Arg) -> Option<String> {
    let text = arg.text.trim_start_matches('@');
    let text = text.split_once("=@").map_or(text, |(_, file)| file);
    // A bare name in the workspace is no secret, unless a hidden folder holds it.
    let places = &walker.scope.places;
    let is_open =
        |folder: &str| !folder.contains("/.") && (places.workspace.is_none() || places.meets_workspace(folder));
    if !text.contains(['/', '.']) && places.directory.as_deref().is_none_or(is_open) {
        return None;
    }
    let text = text.strip_prefix("file://").unwrap_or(text);
    // Whatever process it is of.
    if text.starts_with("/proc/") && (text.ends_with("/environ") || text.ends_with("/mem")) {
        return Some(arg.shown());
    }
    let own = Arg { text: text.into(), ..arg.clone() };
    let path = match walker.scope.places.absolute(&own) {
        Some(path) => {
            if let Some(held) = walker.held.get(&path) {
                return Some(format!("{held} in {path}"));
            }
            path
        }
        // The end of a path can say enough.
        None => format!(
            "{}/{}",
            walker.scope.places.home,
            text.rsplit_once("/.").map_or("", |(_, end)| end).replace("ssh/", ".ssh/")
        ),
    };
    let could_be = || credentials::paths_from_root().any(|known| pattern_starts(&path, &known));
    if credentials::from_root(&path) || (arg.glob && could_be()) {
        return Some(path);
    }
    if path.starts_with("/proc/") && (path.ends_with("/environ") || path.ends_with("/mem")) {
        return Some(path);
    }
    let below = walker.scope.places.below_home(&path)?;
    let public = [".pub", "known_hosts", "known_hosts.old", ".ssh/config", "authorized_keys"]
        .iter()
        .any(|end| below.ends_with(end));
    (!public && in_home(arg, below)).then_some(path)
}

/// Whether a path below a home, given from there, is one of credentials or could be by its wildcards.
pub(super) fn in_home(arg: &Arg, below: &str) -> bool {
    credentials::in_home(below) || (arg.glob && credentials::paths_in_home().any(|known| pattern_starts(below, known)))
}

/// Whether a path with wildcards could be one that is known, or lie below it.
pub(super) fn pattern_starts(path: &str, known: &str) -> bool {
    let depth = known.split('/').count();
    pattern_is(&path.split('/').take(depth).collect::<Vec<_>>().join("/"), known)
}

/// What private file of a project an argument names. Reading it is daily work; sending it is not.
pub(crate) fn private(arg: &Arg) -> Option<String> {
    let name = arg.text.rsplit(['/', '@']).next().unwrap_or("");
    let sample = [".example", ".sample", ".template", ".dist"].iter().any(|end| name.ends_with(end));
    let key = name.ends_with(".pem") || (name.starts_with("id_") && !name.ends_with(".pub"));
    let above =
        arg.text.strip_suffix(name).and_then(|rest| rest.trim_end_matches('/').rsplit('/').next()).unwrap_or("");
    ((credentials::is_entry(above.as_bytes(), name.as_bytes()) || key) && !sample).then(|| arg.shown())
}

/// Whether a program takes folders with all that is in them.
fn takes_trees(call: &Call<'_>) -> bool {
    match call.name {
        "tar" | "gtar" | "bsdtar" | "zip" | "7z" | "mv" | "ditto" => true,
        "cp" | "gcp" | "scp" | "rsync" => call.has('r', "recursive") || call.has('R', "") || call.has('a', "archive"),
        "grep" | "egrep" | "fgrep" | "diff" => call.has('r', "recursive") || call.has('R', ""),
        "rg" | "ag" | "ack" | "ugrep" => true,
        "http-server" | "serve" | "httpd" | "php" | "rclone" | "aws" | "gsutil" | "s3cmd" => true,
        name if name.starts_with("python") => call.says(&["http.server", "SimpleHTTPServer"]),
        _ => false,
    }
}

/// `ps e`: options without a dash, among them the one that shows every process's variables.
fn shows_environments(call: &Call<'_>, at: usize, arg: &Arg) -> bool {
    let is_value =
        at.checked_sub(1).and_then(|before| call.args.get(before)).is_some_and(|it| it.text.starts_with('-'));
    let letters = arg.text.bytes().all(|byte| b"AHLMOSTXacefghjklmnortuvwx".contains(&byte));
    !is_value && letters && arg.text.contains('e')
}

/// What secret a program is asked to print; `None` if none.
pub(crate) fn prints(call: &Call<'_>) -> Option<&'static str> {
    let found = match call.name {
        "ps" => call.args.iter().enumerate().any(|(at, arg)| shows_environments(call, at, arg)),
        "gpg" | "gpg2" => call.has('\0', "export-secret-keys") || call.has('\0', "export-secret-subkeys"),
        "security" => call.leading(0).any(|word| word.starts_with("find-") || word.starts_with("dump-")),
        "secret-tool" => call.commands_are(&["lookup", "search"]),
        "pass" | "gopass" => !call.commands_are(&["ls", "list", "find", "git", "help", "version"]),
        "gh" | "glab" => call.commands_then("auth", &["token"]) || call.says(&["--show-token"]),
        "gcloud" => call.leading(3).any(|word| word.starts_with("print-")),
        "az" => call.leading(2).any(|word| word == "get-access-token"),
        "aws" => call.leading(2).any(|word| {
            matches!(
                word,
                "export-credentials" | "get-session-token" | "assume-role" | "get-secret-value" | "get-login-password"
            )
        }),
        "kubectl" | "oc" => call.has('\0', "raw") && call.commands_then("config", &["view"]),
        "vault" => call.leading(1).any(|word| matches!(word, "read" | "get")),
        "op" => call.commands_are(&["read"]) || call.commands_then("item", &["get"]),
        "keyctl" => call.commands_are(&["print", "pipe", "read"]),
        "bw" | "lpass" | "keepassxc-cli" => call.commands_are(&["get", "show", "list", "export", "clip"]),
        _ => false,
    };
    found.then_some("a secret")
}

/// The folder that an argument names, if folders with keys lie in it.
fn above(walker: &Walker, arg: &Arg) -> Option<String> {
    let places = &walker.scope.places;
    let path = places.absolute(arg)?;
    let path = path.trim_end_matches(['*', '/']).to_owned();
    let lies_in = |known: &str| format!("{}/{known}", places.home).starts_with(&format!("{path}/"));
    let from_root = || credentials::paths_from_root().any(|known| known.starts_with(&format!("{path}/")));
    (credentials::paths_in_home().any(lies_in) || from_root()).then_some(path)
}

/// Programs that take a path without showing or sending what it holds.
fn blind(name: &str) -> bool {
    matches!(
        name,
        "ls" | "stat"
            | "test"
            | "["
            | "echo"
            | "printf"
            | "ssh-keygen"
            | "ssh-add"
            | "ssh-copy-id"
            | "chmod"
            | "chown"
            | "mkdir"
            | "touch"
            | "rm"
            | "file"
            | "du"
            | "ssh"
            | "cd"
            | "rmdir"
            | "find"
            | "basename"
            | "dirname"
            | "realpath"
            | "git"
            | "command"
            | "which"
            | "man"
            | "export"
            | "tee"
    )
}

/// Judges the reading of keys and credentials.
pub(super) fn read(walker: &mut Walker, call: &Call<'_>) {
    let sends = super::network::sends(call.name);
    if sends && let Some(secret) = &call.input.secret {
        walker.ask(Category::Exfiltration, format!("{} sends {secret}", call.name));
    }
    if sends
        && let Some(secret) = walker.taken.clone()
        && call.args.iter().any(|arg| !arg.is_known())
    {
        walker.ask(Category::Exfiltration, format!("{} may send {secret}", call.name));
    }
    if blind(call.name) {
        return;
    }
    if let Some(what) = prints(call) {
        walker.ask(Category::CredentialRead, format!("prints {what}: {}", call.shown()));
    }
    if takes_trees(call) {
        for arg in call.operands().chain(&call.values("-C", "--directory")) {
            if let Some(folder) = above(walker, arg) {
                walker.ask(Category::CredentialRead, format!("{} takes {folder} with all that it holds", call.name));
            }
        }
    }
    for arg in call.args {
        if arg.is_option() && !arg.text.contains('/') {
            continue;
        }
        let value = arg.text.split_once('=').filter(|_| arg.is_option());
        let own = value.map(|(_, text)| Arg { text: text.into(), ..arg.clone() });
        let Some(secret) = secret(walker, own.as_ref().unwrap_or(arg)) else { continue };
        let identity = matches!(call.name, "scp" | "sftp" | "rsync") && follows_identity(call, arg);
        if identity {
            continue;
        }
        if sends {
            walker.ask(Category::Exfiltration, format!("{} sends {secret}", call.name));
        } else if !walker.is_held(own.as_ref().unwrap_or(arg)) {
            walker.ask(Category::CredentialRead, format!("{} reads {secret}", call.name));
        }
    }
}

/// Whether an argument is the key that a program logs in with.
fn follows_identity(call: &Call<'_>, arg: &Arg) -> bool {
    call.args.windows(2).any(|pair| matches!(pair, [option, value] if option.text == "-i" && std::ptr::eq(value, arg)))
}
