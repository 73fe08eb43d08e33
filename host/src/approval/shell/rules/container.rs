//! Containers and clusters.

use super::Call;
use crate::approval::shell::{
    Category,
    resolve::Arg,
    walk::{Flow, Walker},
};

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    match call.name {
        "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => docker(walker, call),
        "kubectl" | "oc" | "k3s" | "microk8s" | "k" => kubectl(walker, call),
        "helm" => {
            if call.commands_are(&["uninstall", "delete", "rollback", "del", "un"]) {
                walker.ask(Category::Cloud, call.shown());
            }
        }
        _ => return false,
    }
    true
}

fn docker(walker: &mut Walker, call: &Call<'_>) {
    let compose = call.name.ends_with("compose") || call.commands_are(&["compose"]);
    let mut words: Vec<&str> = call.commands().collect();
    if let Some(at) = call.args.iter().position(|arg| arg.text == "compose").filter(|_| compose) {
        words.extend(Call { args: call.args.get(at + 1..).unwrap_or(&[]), ..*call }.commands());
    }
    for command in words.into_iter().filter(|word| COMMANDS.contains(word)) {
        subcommand(walker, call, command, compose);
    }
}

fn subcommand(walker: &mut Walker, call: &Call<'_>, command: &str, compose: bool) {
    let lost = match command {
        "rm" | "rmi" | "stop" | "kill" | "restart" | "prune" => true,
        "down" => compose,
        "volume" | "network" | "image" | "container" | "system" | "builder" | "buildx" | "secret" | "config"
        | "stack" | "service" | "swarm" | "node" | "context" | "pod" | "machine" => {
            let words = ["rm", "prune", "remove", "leave", "kill", "stop", "restart", "delete", "reset"];
            call.commands_then(command, &words)
        }
        _ => false,
    };
    if lost {
        walker.ask(Category::Container, call.shown());
    }
    if matches!(command, "run" | "exec" | "create") {
        open(walker, call);
    }
    if command == "exec" {
        inside(walker, call, "exec");
    }
    if command == "container" && call.commands_then(command, &["run", "exec", "create"]) {
        open(walker, call);
    }
    if command == "cp"
        && let Some(target) = call.operands().last().filter(|arg| !arg.text.contains(':'))
    {
        super::write::file(walker, target, "copies to");
    }
    if command == "push" {
        walker.ask(Category::Packages, format!("publishes: {}", call.shown()));
    }
}

const COMMANDS: [&str; 29] = [
    "cp",
    "rm",
    "rmi",
    "stop",
    "kill",
    "restart",
    "prune",
    "down",
    "volume",
    "network",
    "image",
    "container",
    "system",
    "builder",
    "buildx",
    "secret",
    "config",
    "stack",
    "service",
    "swarm",
    "node",
    "context",
    "pod",
    "machine",
    "run",
    "exec",
    "create",
    "push",
    "ps",
];

/// A container that holds the host.
fn open(walker: &mut Walker, call: &Call<'_>) {
    let host = ["--privileged", "--pid=host", "--userns=host", "--ipc=host", "--uts=host"];
    let rights = [call.values("", "--cap-add"), call.values("", "--security-opt")].concat();
    let strong = rights.iter().any(|right| {
        let right = right.text.to_uppercase();
        ["ALL", "SYS_", "DAC_", "NET_ADMIN", "UNCONFINED", "DISABLE"].iter().any(|word| right.contains(word))
    });
    let disk = call
        .values("", "--device")
        .iter()
        .any(|device| super::target::is_disk(device.text.split(':').next().unwrap_or(""), false));
    let mounts = [call.values("-v", "--volume"), call.values("", "--mount")].concat();
    let wide = mounts.iter().any(|mount| {
        let text = mount.text.as_str();
        let source =
            text.split(',').find_map(|part| part.strip_prefix("source=").or_else(|| part.strip_prefix("src=")));
        let source = source.unwrap_or_else(|| text.split(':').next().unwrap_or(""));
        let folder = Arg { text: source.into(), ..mount.clone() };
        source.contains("docker.sock")
            || super::secrets::secret(walker, &folder).is_some()
            || matches!(source.trim_end_matches('/'), "/var/run" | "/run")
            || (source.starts_with(['/', '.']) && super::target::hardline(&walker.scope.places, &folder).is_some())
    });
    let deletes =
        call.args.iter().any(|arg| matches!(arg.text.rsplit('/').next(), Some("rm" | "shred" | "mkfs" | "dd")));
    if !mounts.is_empty() && deletes {
        walker.ask(Category::RecursiveDelete, format!("deletes through a mounted folder: {}", call.shown()));
    }
    if wide
        || strong
        || disk
        || call.says(&host)
        || call.args.windows(2).any(|pair| matches!(pair, [a, b] if a.text == "--pid" && b.text == "host"))
    {
        walker.ask(Category::Privilege, format!("a container that reaches the host: {}", call.shown()));
    }
}

/// What `exec NAME command…` runs.
fn inside(walker: &mut Walker, call: &Call<'_>, word: &str) {
    let mut rest = call.args.iter().skip_while(|arg| arg.text != word).skip(1).peekable();
    while let Some(arg) = rest.next_if(|arg| arg.is_option()) {
        if matches!(
            arg.text.as_str(),
            "-e" | "-u" | "-w" | "--user" | "--env" | "--workdir" | "-n" | "-c" | "--namespace" | "--container"
        ) {
            rest.next();
        }
        if arg.text == "--" {
            break;
        }
    }
    rest.next();
    let command: Vec<Arg> = rest.skip_while(|arg| arg.text.starts_with('-')).cloned().collect();
    walker.aside(|walker| {
        walker.scope.places.workspace = None;
        walker.scope.places.directory = None;
        walker.call(command, &Flow::unknown());
    });
}

fn kubectl(walker: &mut Walker, call: &Call<'_>) {
    let words: Vec<&str> = call.leading(3).collect();
    let has = |word: &str| words.contains(&word);
    let scaled = call.values("", "--replicas").iter().any(|count| count.text == "0");
    if has("delete")
        || has("drain")
        || has("cordon")
        || has("taint")
        || (has("scale") && scaled)
        || (has("replace") && call.has('\0', "force"))
        || (has("rollout") && (has("undo") || has("restart")))
    {
        walker.ask(Category::Cloud, call.shown());
    }
    let from_address = call.values("-f", "--filename").iter().any(|file| file.text.contains("://"));
    if from_address || (has("create") && words.iter().any(|word| word.contains("rolebinding"))) {
        walker.ask(Category::Cloud, call.shown());
    }
    if has("debug") || call.args.iter().any(|arg| arg.text.contains("hostPID") || arg.text.contains("privileged")) {
        walker.ask(Category::Privilege, call.shown());
    }
    if let Some(target) = call.operands().last().filter(|arg| has("cp") && !arg.text.contains(':')) {
        super::write::file(walker, target, "copies to");
    }
    if has("exec") {
        inside(walker, call, "exec");
    }
    if call.has('\0', "prune") || (matches!(words.first(), Some(&"get")) && has("secret") || has("secrets")) {
        walker.ask(Category::CredentialRead, call.shown());
    }
}
