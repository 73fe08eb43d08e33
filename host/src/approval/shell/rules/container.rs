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
            if matches!(call.operand(0), "uninstall" | "delete" | "rollback" | "del" | "un") {
                walker.ask(Category::Cloud, call.shown());
            }
        }
        _ => return false,
    }
    true
}

fn docker(walker: &mut Walker, call: &Call<'_>) {
    let compose = call.name.ends_with("compose") || call.operand(0) == "compose";
    let words: Vec<&str> = call.operands().map(|arg| arg.text.as_str()).take(6).collect();
    let at = usize::from(compose && !call.name.ends_with("compose"));
    let command = words.iter().skip(at).find(|word| COMMANDS.contains(*word)).copied().unwrap_or("");
    let next = words.iter().skip_while(|word| **word != command).nth(1).copied().unwrap_or("");
    let lost = match command {
        "rm" | "rmi" | "stop" | "kill" | "restart" | "prune" => true,
        "down" => compose,
        "volume" | "network" | "image" | "container" | "system" | "builder" | "buildx" | "secret" | "config"
        | "stack" | "service" | "swarm" | "node" | "context" | "pod" | "machine" => {
            matches!(next, "rm" | "prune" | "remove" | "leave" | "kill" | "stop" | "restart" | "delete" | "reset")
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
    if command == "push" {
        walker.ask(Category::Packages, format!("publishes: {}", call.shown()));
    }
}

const COMMANDS: [&str; 28] = [
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
    let host = ["--privileged", "--pid=host", "--userns=host", "--ipc=host", "--cap-add=ALL", "--cap-add=SYS_ADMIN"];
    let mounts = [call.values("-v", "--volume"), call.values("", "--mount")].concat();
    let wide = mounts.iter().any(|mount| {
        let text = mount.text.as_str();
        let source =
            text.split(',').find_map(|part| part.strip_prefix("source=").or_else(|| part.strip_prefix("src=")));
        let source = source.unwrap_or_else(|| text.split(':').next().unwrap_or(""));
        let folder = Arg { text: source.into(), ..mount.clone() };
        source.contains("docker.sock")
            || (source.starts_with('/') && super::target::hardline(&walker.scope.places, &folder).is_some())
    });
    if wide
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
    let words: Vec<&str> = call.operands().map(|arg| arg.text.as_str()).take(6).collect();
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
    if has("exec") {
        inside(walker, call, "exec");
    }
    if call.has('\0', "prune") || (matches!(words.first(), Some(&"get")) && has("secret") || has("secrets")) {
        walker.ask(Category::CredentialRead, call.shown());
    }
}
