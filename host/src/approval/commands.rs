//! Commands of the terminal before the gate.

use futures_util::future::BoxFuture;

use super::{
    gate::{Gate, Ruling},
    question::Asker,
    shell::{HostPaths, Judgement, Surroundings, judge},
};
use crate::capability::{
    DecidedBy,
    terminal::{Decider, Isolation, NotPassed, Passed, Planned},
};

impl Surroundings {
    /// The same surroundings under what confines the command.
    pub fn isolated(self, isolation: Isolation) -> Self {
        Self {
            is_confined: matches!(isolation, Isolation::Confined { .. }),
            has_network: isolation != Isolation::Confined { network: false },
            ..self
        }
    }
}

/// Programs that run what they read, or hand it to something that does, once they are started without more. Beside these, whatever
/// needs a person to start counts as one.
const READERS: &[&str] = &[
    "ash",
    "awk",
    "bash",
    "bc",
    "busybox",
    "bpython",
    "csh",
    "dash",
    "dc",
    "deno",
    "docker",
    "ed",
    "elvish",
    "ex",
    "expect",
    "fish",
    "gdb",
    "ghci",
    "guile",
    "iex",
    "ipython",
    "irb",
    "jshell",
    "julia",
    "kubectl",
    "ksh",
    "lldb",
    "lua",
    "luajit",
    "m4",
    "mksh",
    "mongo",
    "mongosh",
    "mysql",
    "nc",
    "ncat",
    "netcat",
    "nix",
    "node",
    "nu",
    "ocaml",
    "octave",
    "perl",
    "php",
    "podman",
    "psql",
    "pwsh",
    "python",
    "R",
    "racket",
    "redis-cli",
    "ruby",
    "sbcl",
    "scala",
    "screen",
    "sed",
    "sftp",
    "sh",
    "socat",
    "sqlite3",
    "ssh",
    "su",
    "sudo",
    "swipl",
    "tclsh",
    "tcsh",
    "telnet",
    "tmux",
    "tsx",
    "vi",
    "vim",
    "nvim",
    "wish",
    "xargs",
    "yash",
    "zsh",
];

impl Decider for Gate {
    fn decide<'a>(&'a self, planned: Planned<'a>) -> BoxFuture<'a, Result<Passed, NotPassed>> {
        Box::pin(async move {
            let surroundings = surroundings(&planned);
            let asker = Asker {
                tool: planned.tool.to_owned(),
                component: planned.component.to_owned(),
                call: planned.call.to_owned(),
                task: planned.task.map(str::to_owned),
                session: planned.session.map(str::to_owned),
            };
            if let Some(before) = planned.before {
                return said(self.line(&asker, before, planned.text, &surroundings).await, true);
            }
            let judgement = judge(planned.text, &surroundings);
            let reads_code = reads_code(&judgement);
            // The operator's grant names the program and its arguments: that is an approval, and it can't buy what none can.
            if planned.is_granted && planned.escalation.is_none() {
                return match self.forbids(planned.text, &judgement) {
                    Some(why) => Err(NotPassed { why, by: DecidedBy::Rules }),
                    None => Ok(Passed { by: None, decided: None, reads_code }),
                };
            }
            said(self.command(&asker, planned.text, &surroundings, planned.escalation).await, reads_code)
        })
    }
}

fn said(ruling: Ruling, reads_code: bool) -> Result<Passed, NotPassed> {
    match ruling {
        Ruling::Passed { by, decided } => Ok(Passed { by, decided, reads_code }),
        Ruling::Refused { why, decided } => Err(NotPassed { why, by: decided }),
    }
}

/// Whether a command would run what is written to it later. What is not known to be harmless does.
fn reads_code(judgement: &Judgement) -> bool {
    let is_reader = |program: &str| {
        let name = program.rsplit('/').next().unwrap_or_default();
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        READERS.contains(&name)
    };
    let programs = judgement.commands.iter().flat_map(|command| [&command.program].into_iter().chain(&command.through));
    judgement.is_suspect || programs.into_iter().any(|program| is_reader(program))
}

/// What is known of the place that a command would run in. What is no text is not known.
fn surroundings(planned: &Planned<'_>) -> Surroundings {
    let here = planned.here.map(|here| HostPaths { workspace: here.workspace, home: here.home, own: here.own });
    let variables = planned.variables.iter();
    Surroundings {
        directory: planned.directory.and_then(|path| path.to_str()).map(str::to_owned),
        variables: variables
            .filter_map(|(name, value)| Some((name.to_str()?.into(), value.to_str()?.into())))
            .collect(),
        input: planned.input.map(|input| String::from_utf8_lossy(input).into_owned()),
        ..here.map(|here| here.surroundings()).unwrap_or_default()
    }
    .isolated(planned.isolation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_its_input_is_known_and_what_copies_it_is_not_taken_for_it() {
        let reads = |command: &str| reads_code(&judge(command, &Surroundings::default()));
        for command in
            ["bash", "python3 -i x.py", "ssh -T host", "docker run -i alpine sh", "gdb", "sudo -s", "psql", "env sh"]
        {
            assert!(reads(command), "{command}");
        }
        assert!(reads("while read x; do $x; done"));
        for command in ["cat", "npm test", "cargo run", "tee log.txt", "./server --port 80"] {
            assert!(!reads(command), "{command}");
        }
    }
}
