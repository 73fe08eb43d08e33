//! Variables that change what later commands mean.

use crate::approval::shell::{
    Category,
    resolve::{UNKNOWN, Value},
    walk::Walker,
};

/// Variables that make a loader or a shell run more than it was asked to.
#[rustfmt::skip]
const LOADS: [&str; 17] = [
    "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "GCONV_PATH", "BASH_ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "PERL5OPT",
    "PERL5DB", "RUBYOPT", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONINSPECT", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "PYTHONBREAKPOINT",
];

/// Variables whose text programs run.
#[rustfmt::skip]
const RUN: [&str; 25] = [
    "PAGER", "GIT_PAGER", "MANPAGER", "SYSTEMD_PAGER", "AWS_PAGER", "PSQL_PAGER", "BAT_PAGER", "EDITOR", "VISUAL", "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS",
    "GIT_PROXY_COMMAND", "LESSOPEN", "LESSCLOSE", "BROWSER", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RSYNC_RSH",
    "FZF_DEFAULT_COMMAND",
];

/// How the names of variables end whose text programs run.
const ENDS: [&str; 7] = ["_PAGER", "_EDITOR", "_BROWSER", "_WRAPPER", "_RUNNER", "_LINKER", "_ASKPASS"];

/// Options of virtual machines that load code.
const LOADING: [&str; 7] = ["--require", "-r ", "--import", "--eval", "-javaagent", "--loader", "OnOutOfMemoryError"];

/// Judges an assignment.
pub(crate) fn assignment(walker: &mut Walker, name: &str, value: &Value) {
    let unknown = *value == Value::Unknown;
    let text = match value {
        Value::Known(text) | Value::Guess(text) => text.as_str(),
        Value::Unknown => "",
    };
    let changes = match name {
        // `ENV=production` is a setting of many programs; only a path is a start file.
        "ENV" | "PS0" | "PS4" => unknown || text.contains(['/', '$', '`']),
        "NODE_OPTIONS" | "JAVA_TOOL_OPTIONS" | "_JAVA_OPTIONS" => LOADING.iter().any(|word| text.contains(word)),
        "MAKEFLAGS" | "GNUMAKEFLAGS" | "TAR_OPTIONS" | "GOFLAGS" | "MANOPT" | "RUSTFLAGS" | "RSYNC_OPTIONS" => {
            unknown || ["eval", "exec", "command", "-I", "-P", "pager", "linker"].iter().any(|word| text.contains(word))
        }
        "IFS" => unknown,
        "PATH" => return path(walker, text),
        name if name.starts_with("GIT_CONFIG") || name.starts_with("BASH_FUNC_") => true,
        name => LOADS.contains(&name) && (unknown || !text.is_empty()),
    };
    if matches!(name, "PS1" | "PS2" | "PS3") {
        walker.carried_by(name, value);
    }
    if changes {
        walker.ask(Category::Environment, format!("{name}={}", text.replace(UNKNOWN, "…")));
    } else if RUN.contains(&name) || ENDS.iter().any(|end| name.ends_with(end)) {
        let text = text.trim_start_matches('|');
        if !text.trim().is_empty() && !text.starts_with('-') {
            walker.program_text(name, text);
        }
    } else if text.contains("[$(") || text.contains("[`") {
        // Arithmetic and tests run what stands in an index, even if it comes from a variable.
        walker.ask(Category::UnknownCommand, format!("{name} holds an index that runs a command"));
    }
}

/// A search path whose first hit could be anybody's file.
fn path(walker: &mut Walker, text: &str) {
    let places = walker.scope.places.clone();
    for part in text.split(':') {
        let open = ["/tmp", "/var/tmp", "/dev/shm"]
            .iter()
            .any(|folder| part == *folder || part.starts_with(&format!("{folder}/")));
        let relative = !part.starts_with(['/', '~', UNKNOWN, '$']);
        let made = places
            .absolute_text(part)
            .is_some_and(|folder| walker.made.iter().any(|file| file.starts_with(&format!("{folder}/"))));
        if !part.contains(UNKNOWN) && (open || relative || made) {
            walker.ask(
                Category::Environment,
                format!("PATH with {}", if part.is_empty() { "the current folder" } else { part }),
            );
        }
    }
}
