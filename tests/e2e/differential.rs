//! The judge against the real bash: a program that runs the payload must not be allowed where nothing confines it.
//!
//! Programs are made from building blocks that hand a command to bash in every way that is known to evaluate it, nested, joined
//! and mutated. The payload is a program that the judge can't know; it makes a file. `CONTRIBUTING.md` says how to run it for long.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::Arc,
};

use hermes_host::{
    approval::shell::{Surroundings, Verdict, judge},
    capability::terminal::{Request, Terminal, backend::Local},
};

use crate::terminal::{
    launcher,
    sandbox::{Layers, sandbox},
};

/// How many programs a run makes. Some hundred take seconds; hours by hand find more.
const PROGRAMS: u64 = 500;

/// The program that must not run unasked.
const PAYLOAD: &str = "canary-payload";

/// Programs of the system that the blocks use. Nothing else is in the search path, so that a mutated name runs nothing.
const TOOLS: [&str; 14] =
    ["awk", "bash", "cat", "env", "find", "head", "ls", "nice", "sed", "sh", "sort", "timeout", "touch", "xargs"];

/// Ways to run a command. `@` stands for the command.
#[rustfmt::skip]
const BLOCKS: &[&str] = &[
    "@", "$(@)", "`@`", "echo \"$(@)\"", "x=$(@)", ": \"${x:-$(@)}\"", ": ${x:=$(@)}", ": ${x:-${y:-$(@)}}", ": \"${x:-`@`}\"",
    "x='a[$(@)]'; : $((x))", "x='a[$(@)]'; ((x))", "x='a[$(@)]'; ((y=x)) || :", "x='a[$(@)]'; [[ x -eq 0 ]]", "x='a[$(@)]'; [[ 1 -lt x ]]",
    "x='a[$(@)]'; [[ -v $x ]]", "[[ -v 'a[$(@)]' ]]", "test -v 'a[$(@)]'", "[ -v 'a[$(@)]' ]", "x='a[$(@)]'; let y=x", "let 'y=a[$(@)]'",
    "declare -i y='a[$(@)]'", "declare -i y; y='a[$(@)]'", "x='a[$(@)]'; for ((i=x;i<1;i++)); do :; done", "x='a[$(@)]'; y=abc; echo ${y:x}",
    "x='a[$(@)]'; y=abc; echo \"${y:0:x}\"", "x='a[$(@)]'; echo ${b[x]}", "x='a[$(@)]'; b[x]=1", "x='a[$(@)]'; echo $[x]", "echo $((a[$(@)]))",
    "x='$(@)'; : \"${x@P}\"", "x='y[$(@)]'; echo ${!x}", "x=([$(@)]=1)", "x=(['a[$(@)]']=1)", "declare -a x='($(@))'", "x=(a); declare x='($(@))'",
    "RANDOM='a[$(@)]'", "SECONDS='a[$(@)]'", "printf -v 'a[$(@)]' x", "read 'a[$(@)]' <<< x", "unset 'a[$(@)]'", "b=1; unset 'b[$(@)]'", "PS4='$(@)'; set -x; :",
    "trap '@' EXIT", "trap '@' DEBUG; :", "trap '@' ERR; false", "coproc @; wait", "eval '@'", "eval \"@\"", "x='@'; eval \"$x\"", "x='@'; $x", "bash -c '@'", "sh -c '@'",
    "bash <<< '@'", "echo '@' | bash", "bash <<E\n@\nE", "cat <<E\n$(@)\nE", "cat < <(@)", "echo > >(@)", "f() { @; }; f", "function f { @; }; f x", "f() { \"$@\"; }; f @",
    "set -- @; \"$@\"", "if @; then :; fi", "if true; then @; fi", "while @; do break; done", "until false; do @; break; done", "case $(@) in *) ;; esac",
    "case x in x) @;; esac", "for i in $(@); do :; done", "for i in 1; do @; done", "select i in 1; do @; break; done <<< 1", "{ @; }", "(@)", "! @", "time @", "@ &\nwait",
    "@ | cat", "cat f | @", "true && @", "false || @", "[[ -n $(@) ]]", "command @", "builtin eval '@'", "exec @", "env @", "env -S '@'", "nice @", "timeout 5 @",
    "xargs @ < /dev/null", "find . -maxdepth 0 -exec @ \\;", "awk 'BEGIN{system(\"@\")}'", "sed -n '1e @' f", "sort --compress-program=@ f", "mapfile -C '@;' -c 1 x < f",
    "shopt -s expand_aliases; alias g='@'\ng", "BASH_ALIASES[g]='@'; shopt -s expand_aliases\ng", "BASH_CMDS[ls]=bin/@; ls", "hash -p bin/@ ls; ls", "PATH=$PWD/evil:$PATH; ls",
    "BASH_ENV=<(echo '@') bash -c :", "BASH_ENV=evil/env; export BASH_ENV; bash -c :", "x=f; x='a b'; @", "x='@' y='$x'; eval eval \"$y\"", "cd sub && ../bin/@", "./bin/@", "bin/@",
    ". evil/env", "source evil/env", "x=y; y='@'; ${!x}", "a=(@); \"${a[@]}\"", "f() { @; }; export -f f; bash -c f", "command_not_found_handle() { @; }; nothing-of-that-name",
    "echo \"${x:-\"$(@)\"}\"", "echo \"${x:-'$(@)'}\"", "echo ${x:+y}${x-$(@)}", "echo \"${x+'}$(@)'}\"", "echo \"${x#'}$(@)'}\"", "echo ${x//$(@)/y}", "echo ${x/a/$(@)}", "echo \"${x%%\"$(@)\"}\"",
    "echo {a,$(@)}", "echo $'a'$(@)", "echo \\$(echo)$(@)", "echo '\\'$(@)", "echo \"\\$\"$(@)", "echo a#$(@)", "echo a # $(@)", "echo '$(@)'", "echo \\`@\\`", "echo \"\\`@\\`\"", "echo \\\\`@`",
    "cat <<'E'\n$(@)\nE", "cat <<\\E\n$(@)\nE\n@", "cat <<-E\n\t$(@)\n\tE", "cat <<E | sh\n@\nE", "cat <<A <<B\n$(@)\nA\nB", "x=$(cat <<E\n@\nE\n); $x", "echo ~+/$(@)", "(( 1 )) && @",
    "[[ -e <(@) ]]", "echo ${x:-<(@)}", "echo ${x#<(@)}", "echo ${x/<(@)/y}", "x=<(@)", "x=(<(@))", "case <(@) in *) ;; esac", "set -- @; false && set -- ls; \"$@\"",
    "x=@; f() { local x=ls; }; f; $x", "x=ls; f() { local x; $x @; }; f", "x=ls; f() { declare x; $x @; }; f", "bash -c '$0' @", "x=@; unset x; ls $x", "x=@; (x=ls); $x", "x=@; x=ls | :; $x",
    "x=@; x=ls & $x", "x=@; x=ls true; $x", "x=@; for x in; do :; done; $x", "x=@; if false; then x=ls; fi; $x", "f() { @; }; (f() { ls; }); f", "x=@; : ${x:=ls}; $x", "x=@; : ${x:-ls}; $x",
    "x=@; read x < /dev/null; ${x:-@}", "x=@; true || x=ls; $x", "f() { @; }; true || f() { ls; }; f", "f() { @; }; unset -f f; f() { ls; } | :; f", "x=@; eval 'x=ls' | cat; $x", "echo $((x=1))$(@)",
    "x=@; f() { x=ls; }; $x", "x=@; case y in z) x=ls;; esac; $x", "x=@; while false; do x=ls; done; $x", "readonly q=@; q=ls; $q", "x=@; printf -v x '%s' ls; y=$x; @", "x=@; export x; bash -c '$x'",
    "[[ a == $(@) ]]", "[[ a =~ $(@) ]] || :", "[ \"$(@)\" ] || :", "echo $((1+$(@)1))", "((1+$(@)1))", "echo ${x:$(@)}", "x[$(@)]=1", "x[0$(@)]=1", "declare x=$(@)", "export x=$(@)", "local x=$(@)",
    "readonly x$RANDOM=$(@)", "IFS=: x=@; $x", "x=canary; y=-payload; $x$y", "x=yrnac; canary${z}-payload", "canar\"y\"-payload", "c'anar'y-payload", "{canary-payload,}", "$'canary-payload'",
];

/// Commands that do nothing of note, to stand beside the others.
const FILLERS: &[&str] = &[
    "true",
    "false",
    ":",
    "echo x",
    "ls",
    "cat f",
    "x=1",
    "y=f",
    "cd sub",
    "cd ..",
    "touch new",
    "x=",
    "set -e",
    "sort f",
    "echo \"$x\"",
    "[ -f f ]",
    "[[ -n $x ]]",
    "((1))",
    "f() { :; }",
    "# a comment",
];

/// Characters and fragments that mutations put in.
const FRAGMENTS: &[&str] = &[
    "\\\n", "\\", "'", "\"", "`", "$", "$(", ")", "{", "}", "${", "#", ";", "\n", " ", "&", "|", "((", "))", "[", "]",
    "<<E\n", "$'", "\"$(", "*", "~", "=", "!", "\t", "''", "\"\"", "<(", ">", "1",
];

/// xorshift64*: the same programs for the same seed, everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % sides.max(1)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }

    fn program(&mut self) -> String {
        let mut text = PAYLOAD.to_owned();
        for _ in 0..1 + self.roll(3) {
            text = self.pick(BLOCKS).replace('@', &text);
        }
        for _ in 0..self.roll(3) {
            let joint = self.pick(&["; ", " && ", " || ", "\n", " | ", " & "]);
            let filler = self.pick(FILLERS);
            text = if self.roll(2) == 0 { format!("{filler}{joint}{text}") } else { format!("{text}{joint}{filler}") };
        }
        for _ in 0..[0, 0, 1, 1, 2, 3][self.roll(6)] {
            text = self.mutated(&text);
        }
        text
    }

    fn mutated(&mut self, text: &str) -> String {
        let at = self.roll(text.len() + 1);
        if !text.is_char_boundary(at) {
            return text.to_owned();
        }
        let (before, after) = text.split_at(at);
        match self.roll(4) {
            0 => format!("{before}{}{}", after.get(1..).unwrap_or(""), ""),
            1 => format!("{before}\\\n{after}"),
            _ => format!("{before}{}{after}", self.pick(FRAGMENTS)),
        }
    }
}

/// A folder to run programs in.
struct Bench {
    root: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let bench = Self { root };
        for folder in ["work/bin", "work/sub", "work/evil", "path", "canaries"] {
            fs::create_dir_all(bench.at(folder)).unwrap();
        }
        for tool in TOOLS {
            let found =
                ["/usr/bin", "/bin"].iter().map(|folder| Path::new(folder).join(tool)).find(|path| path.exists());
            if let Some(found) = found {
                symlink(found, bench.at("path").join(tool)).unwrap();
            }
        }
        let payload = "#!/bin/sh\n: > \"$CANARY\"\n";
        for place in ["path/canary-payload", "work/bin/canary-payload", "work/evil/ls"] {
            fs::write(bench.at(place), payload).unwrap();
            fs::set_permissions(bench.at(place), fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(bench.at("work/evil/env"), "canary-payload\n").unwrap();
        fs::write(bench.at("work/f"), "b\na\n").unwrap();
        bench
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn surroundings(&self) -> Surroundings {
        let work = self.at("work").to_str().map(str::to_owned);
        Surroundings { directory: work.clone(), workspace: work.clone(), home: work, ..Surroundings::default() }
    }

    /// Commands in the sandbox, with this folder as their workspace: a mutation may do anything.
    fn terminal(&self) -> Terminal {
        let sandbox = sandbox(Layers::All, self.root.path(), self.root.path()).unwrap();
        let backend = Local::new(launcher(), self.root.path()).unwrap().confined(Arc::new(sandbox), false);
        Terminal::new(Arc::new(backend), None)
    }

    /// Runs a program in bash, and says whether the payload ran. Limits keep a mutation that loops or grows from taking long.
    async fn runs_payload(&self, terminal: &Terminal, number: u64, program: &str) -> bool {
        let canary = self.at("canaries").join(number.to_string());
        let variable = |name: &str, path: PathBuf| format!("{name}={}", path.display());
        let variables =
            [variable("PATH", self.at("path")), variable("HOME", self.at("work")), variable("CANARY", canary.clone())];
        let limits = "ulimit -f 1024 -t 5 -v 1000000; exec timeout -s KILL 5 bash --noprofile --norc -c \"$1\"";
        let bash = ["/bin/bash", "--noprofile", "--norc", "-c", limits, "bash", program].map(str::to_owned);
        let words: Vec<String> = ["-i".to_owned()].into_iter().chain(variables).chain(bash).collect();
        let request = Request { workdir: Some(self.at("work")), ..Request::exec("/usr/bin/env", words) };
        // bash can't be given a NUL.
        let _ = terminal.run("differential", request).await;
        canary.exists()
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[tokio::test]
#[allow(clippy::print_stderr)]
async fn a_program_that_runs_the_payload_is_not_allowed() {
    let bench = Bench::new();
    let terminal = bench.terminal();
    let around = bench.surroundings();
    let count = number("HERMES_DIFFERENTIAL_PROGRAMS", PROGRAMS);
    let mut dice = Dice(number("HERMES_DIFFERENTIAL_SEED", 0x5EED).max(1));
    let (mut ran, mut allowed, mut wrong) = (0, 0, Vec::new());
    // First each block alone, then what chance makes of them.
    let plain = BLOCKS.iter().map(|block| block.replace('@', PAYLOAD)).collect::<Vec<_>>();
    for at in 0..count {
        let program = plain.get(at as usize).cloned().unwrap_or_else(|| dice.program());
        let is_allowed = judge(&program, &around).verdict == Verdict::Allow;
        let runs = bench.runs_payload(&terminal, at, &program).await;
        ran += u64::from(runs);
        allowed += u64::from(is_allowed);
        if runs && is_allowed {
            wrong.push(program);
        }
    }
    eprintln!("{count} programs, {ran} ran the payload, {allowed} were allowed");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(ran * 3 >= count, "only {ran} of {count} ran the payload: the blocks no longer work");
    assert!(allowed > 0, "nothing was allowed: the test shows nothing");
}
