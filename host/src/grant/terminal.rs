//! What a component may run, and where.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize, de::Error};

use super::{
    UnwantedCommands,
    folder::{locate, operators_home},
};
use crate::capability::terminal::{
    EscalationRule, EscalationRules, Launcher, Place, SandboxPolicy, Target, cache_names, layers,
};

/// In an argument's pattern: any text. Alone as the last pattern, twice: any number of further arguments.
const ANY: char = '*';

/// Where commands run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// On this machine, confined, for all components.
    #[default]
    Sandbox,
    /// On this machine, as the host's own user. Only for bundled components: all others are confined.
    Local,
    /// On another machine. Only for bundled components, too.
    Ssh,
}

/// Where commands run: `[terminal]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalConfig {
    backend: Backend,
    escalations: EscalationRules,
    ssh: Option<Target>,
    read: Vec<String>,
    write: Vec<String>,
    caches: Vec<String>,
}

impl<'de> Deserialize<'de> for TerminalConfig {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written {
            #[serde(default)]
            backend: Backend,
            /// Whether what the bundled components run confined may ask for the network, or always has it.
            #[serde(default)]
            network: EscalationRule,
            /// Whether it may ask to run unconfined.
            #[serde(default)]
            unconfined: EscalationRule,
            ssh: Option<Target>,
            #[serde(default)]
            read: Vec<String>,
            #[serde(default)]
            write: Vec<String>,
            #[serde(default)]
            caches: Vec<String>,
        }
        let Written { backend, network, unconfined, ssh, read, write, caches } = Written::deserialize(deserializer)?;
        if backend == Backend::Ssh && ssh.is_none() {
            return Err(D::Error::custom("backend = \"ssh\" needs ssh = { host = \"…\" }"));
        }
        for path in read.iter().chain(&write) {
            let place = located(path, Path::new("/workspace")).map_err(D::Error::custom)?;
            if place.parent().is_none() {
                return Err(D::Error::custom("read and write can't name /, the whole machine; name the folders in it"));
            }
        }
        let known: Vec<&str> = cache_names().collect();
        if let Some(unknown) = caches.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(D::Error::custom(format!("no package cache {unknown:?}; known are {}", known.join(", "))));
        }
        Ok(Self { backend, escalations: EscalationRules { network, unconfined }, ssh, read, write, caches })
    }
}

impl TerminalConfig {
    /// Where a component's commands run.
    pub fn place(&self, is_bundled: bool, grant: &TerminalGrant, workspace: &Path) -> Place {
        match (self.backend, &self.ssh) {
            (Backend::Ssh, Some(target)) if is_bundled => Place::Ssh(target.clone()),
            (Backend::Local, _) if is_bundled => Place::Local,
            _ => {
                let is_given = is_bundled && self.escalations.network == EscalationRule::Allow;
                Place::Sandbox { network: grant.network || is_given, policy: self.policy(workspace) }
            }
        }
    }

    /// Whether this machine can run commands as configured.
    pub fn can_run(&self) -> bool {
        self.backend != Backend::Sandbox || layers::held(&Launcher::default()).is_ok()
    }

    /// One line for the operator: where the commands of bundled components run, what holds them, and why.
    pub fn summary(&self) -> String {
        match (self.backend, &self.ssh) {
            (Backend::Sandbox, _) => match layers::held(&Launcher::default()) {
                Ok(held) => format!("confined (backend \"sandbox\", the default) by {}", layers::described(held)),
                Err(why) => format!("none run: {why}"),
            },
            (Backend::Ssh, Some(target)) => {
                format!("on {}, not confined there (backend = \"ssh\" in hermes.toml)", target.host)
            }
            (Backend::Local | Backend::Ssh, _) => "not confined: backend = \"local\" in hermes.toml".into(),
        }
    }

    /// What the commands of a component may ask for. Only bundled ones may ask: the reason of an unknown component is worth nothing.
    pub fn escalations(&self, is_bundled: bool) -> EscalationRules {
        match is_bundled {
            true => self.escalations,
            false => EscalationRules { network: EscalationRule::Never, unconfined: EscalationRule::Never },
        }
    }

    fn policy(&self, workspace: &Path) -> SandboxPolicy {
        // A path that can't be located was refused when the configuration was read.
        let paths = |paths: &[String]| paths.iter().filter_map(|path| located(path, workspace).ok()).collect();
        SandboxPolicy { read: paths(&self.read), write: paths(&self.write), caches: self.caches.clone() }
    }
}

/// Where a path of the operator leads, from the workspace.
fn located(path: &str, workspace: &Path) -> Result<PathBuf, String> {
    locate(Path::new(path), operators_home().as_deref(), workspace)
}

/// Commands that a component may run. None, unless it is said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerminalGrant {
    /// Any command line, under approval.
    #[serde(default)]
    pub shell: bool,
    /// Programs, with the arguments they may be given. No shell reads them, and nobody is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exec: Vec<ExecGrant>,
    /// Whether what runs confined reaches the network.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
}

impl TerminalGrant {
    /// Whether nothing may be run.
    pub fn is_empty(&self) -> bool {
        !self.shell && self.exec.is_empty()
    }

    /// Adds what another one allows.
    pub(super) fn add(&mut self, other: &Self) {
        self.shell |= other.shell;
        self.network |= other.network;
        let new = other.exec.iter().filter(|grant| !self.exec.contains(grant)).cloned().collect::<Vec<_>>();
        self.exec.extend(new);
    }

    /// Takes commands out, and says which were there.
    pub(super) fn remove(&mut self, unwanted: &UnwantedCommands) -> Self {
        let shell = self.shell && unwanted.shell;
        self.shell &= !shell;
        let (removed, kept) = std::mem::take(&mut self.exec).into_iter().partition(|one| unwanted.exec.contains(one));
        self.exec = kept;
        let network = (unwanted.network || self.is_empty()) && std::mem::take(&mut self.network);
        Self { shell, exec: removed, network }
    }

    /// Whether a program may be run with these arguments.
    pub fn allows(&self, program: &OsStr, arguments: &[OsString]) -> bool {
        self.exec.iter().any(|grant| grant.allows(program, arguments))
    }
}

/// A program and patterns for its arguments, one for each. `*` in a pattern is any text, `**` as the last pattern any number of
/// arguments. Neither begins an option: `--output=*` must be written out, or a program that was granted to sort files could be told
/// to run others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct ExecGrant {
    /// Its name, as the host finds it, or its absolute path.
    pub program: String,
    /// A pattern for each argument.
    pub args: Vec<String>,
}

/// As it stands in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    program: String,
    #[serde(default)]
    args: Vec<String>,
}

impl TryFrom<Written> for ExecGrant {
    type Error = String;

    fn try_from(Written { program, args }: Written) -> Result<Self, String> {
        let grant = Self { program, args };
        grant.check().map(|()| grant)
    }
}

impl ExecGrant {
    /// From words as one would type them.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.contains(['\'', '"', '\\']) {
            return Err("quotes are not understood here; write arguments with blanks or quotes into hermes.toml: \
                        terminal = { exec = [{ program = \"…\", args = [\"…\"] }] }"
                .into());
        }
        let mut words = text.split_whitespace().map(str::to_owned);
        let program = words.next().ok_or("it names no program")?;
        let grant = Self { program, args: words.collect() };
        grant.check().map(|()| grant)
    }

    /// What is wrong with it.
    fn check(&self) -> Result<(), String> {
        if self.program.contains(ANY) {
            return Err(format!("the program '{}' must be named exactly", self.program));
        }
        if self.program.contains('/') && !self.program.starts_with('/') {
            return Err(format!("the program '{}' is neither a name nor an absolute path", self.program));
        }
        Ok(())
    }

    fn allows(&self, program: &OsStr, arguments: &[OsString]) -> bool {
        if program != OsStr::new(&self.program) {
            return false;
        }
        let (patterns, more) = match self.args.split_last() {
            Some((last, patterns)) if last == "**" => (patterns, true),
            _ => (&*self.args, false),
        };
        let is_option = |argument: &OsString| argument.as_encoded_bytes().first() == Some(&b'-');
        let rest = arguments.get(patterns.len()..);
        let fits = patterns.iter().zip(arguments).all(|(pattern, argument)| fits(pattern, argument));
        fits && rest.is_some_and(|rest| rest.is_empty() || (more && !rest.iter().any(is_option)))
    }
}

/// Whether an argument is what its pattern says.
fn fits(pattern: &str, argument: &OsStr) -> bool {
    let bytes = argument.as_encoded_bytes();
    if pattern.starts_with(ANY) && bytes.first() == Some(&b'-') {
        return false;
    }
    let mut parts = pattern.split(ANY);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = bytes.strip_prefix(first.as_bytes()) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = memchr::memmem::find(rest, part.as_bytes()) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last.as_bytes())
}

impl UnwantedCommands {
    pub(super) fn is_empty(&self) -> bool {
        !self.shell && self.exec.is_empty() && !self.network
    }

    /// The first that is not among what was taken out.
    pub(super) fn missing_in(&self, removed: &TerminalGrant) -> Option<String> {
        if self.shell && !removed.shell {
            return Some("command lines".into());
        }
        if self.network && !removed.network {
            return Some("the network".into());
        }
        self.exec.iter().find(|one| !removed.exec.contains(one)).map(|one| format!("`{one}`"))
    }
}

/// One line for each kind.
impl fmt::Display for TerminalGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shell = self.shell.then(|| "run command lines, under approval".to_owned());
        let exec = self.exec.iter().map(|grant| format!("run `{grant}`"));
        let network = self.network.then(|| "with the network".to_owned());
        let all: Vec<String> = shell.into_iter().chain(exec).chain(network).collect();
        f.write_str(&all.join(", "))
    }
}

impl fmt::Display for ExecGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.program)?;
        self.args.iter().try_for_each(|pattern| write!(f, " {pattern}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(grant: &str, command: &str) -> bool {
        let mut words = command.split(' ').map(OsString::from);
        let program = words.next().unwrap();
        ExecGrant::parse(grant).unwrap().allows(&program, &words.collect::<Vec<_>>())
    }

    #[test]
    fn a_program_runs_with_the_arguments_that_were_named() {
        for (grant, command) in [
            ("git status", "git status"),
            ("git log *", "git log main"),
            ("git log --format=* **", "git log --format=%h a b"),
            ("cargo test **", "cargo test"),
            ("/usr/bin/sort *.txt", "/usr/bin/sort a.txt"),
        ] {
            assert!(allowed(grant, command), "{grant}: {command}");
        }
    }

    #[test]
    fn nothing_else_runs() {
        for (grant, command) in [
            ("git status", "git status x"),
            ("git status", "git"),
            ("git status *", "git status"),
            ("git status", "/tmp/git status"),
            ("sort *", "sort --compress-program=sh"),
            ("sort **", "sort a -o/etc/passwd"),
            ("git **", "git -c core.pager=sh log"),
            ("tar *f *", "tar --to-command=shf x"),
            ("sort *.txt", "sort a.txt.sh"),
            ("a *x*y", "a xx"),
        ] {
            assert!(!allowed(grant, command), "{grant}: {command}");
        }
        assert!(
            ExecGrant::parse("./run").is_err() && ExecGrant::parse("* x").is_err() && ExecGrant::parse(" ").is_err()
        );
    }
}
