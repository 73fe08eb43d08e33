//! Text that bash evaluates a second time, and places that move while it runs.

use super::{Verdict, confined, judge, judged};

/// Each of these runs `touch`, which is understood where it stands alone, or changes what a later command means.
#[rustfmt::skip]
const TWICE: &[&str] = &[
    "x='a[$(touch c)]'; : $((x))", "x='a[$(touch c)]'; ((x))", "x='a[$(touch c)]'; ((y=x))", "x='a[$(touch c)]'; [[ x -eq 0 ]]",
    "x='a[$(touch c)]'; [[ 0 -lt x ]]", "x='a[$(touch c)]'; [[ $x -ne 1 ]]", "x='a[$(touch c)]'; [[ -v $x ]]", "[[ -v 'a[$(touch c)]' ]]",
    "test -v 'a[$(touch c)]'", "[ -v 'a[$(touch c)]' ]", "x='a[$(touch c)]'; let y=x", "let 'y=a[$(touch c)]'", "declare -i y='a[$(touch c)]'",
    "declare -i y; y='a[$(touch c)]'", "x='a[$(touch c)]'; for ((i=x;i<1;i++)); do :; done", "x='a[$(touch c)]'; y=abc; echo ${y:x}",
    "x='a[$(touch c)]'; y=abc; echo ${y:0:x}", "x='a[$(touch c)]'; echo ${b[x]}", "x='a[$(touch c)]'; b[x]=1", "x='a[$(touch c)]'; echo $[x]",
    "x='$(touch c)'; echo \"${x@P}\"", "x='`touch c`'; : ${x@P}", "x='y[$(touch c)]'; echo ${!x}", "x=([$(touch c)]=1)", "x=(['a[$(touch c)]']=1)",
    "declare -a x='($(touch c))'", "declare x='($(touch c))'", "RANDOM='a[$(touch c)]'", "SECONDS='a[$(touch c)]'", "printf -v 'a[$(touch c)]' x",
    "read 'a[$(touch c)]' <<< x", "unset 'a[$(touch c)]'", "PS4='$(touch c)'; set -x; ls", "PROMPT_COMMAND='touch c'", "BASH_CMDS[ls]=/x; ls",
    "BASH_ALIASES[ls]=x; ls", "DIRSTACK[0]=/etc; cat ~0/x", "BASH_ENV=x bash -c ls", "ENV=x sh -c ls", "CDPATH=/etc; cd ssh && cat x", "GLOBIGNORE=x; ls *",
    "HISTFILE=x; ls", "coproc touch c", "trap 'touch c' EXIT", "trap 'touch c' DEBUG; ls", "env -C /etc touch c", "sudo -D /etc touch c",
    "parallel --wd /etc touch ::: c", "$\\\n(touch c)", "$\\\n{x:-touch} c", "echo \"$\\\n(touch c)\"", "ev\\\nal 'touch c'", "ls &\\\n& touch c",
    "cat <\\\n< E\nx\nE", "x\\\n=1 touch c", "i\\\nf ls; then touch c; fi", "\"${x:-$'touch'}\" c", "\"${x:-$\"touch\"}\" c", "echo \"${x:-$\\$(touch c)}\"",
];

#[test]
fn what_bash_evaluates_twice_asks_unconfined() {
    let allowed: Vec<_> = TWICE.iter().filter(|command| judged(command).verdict == Verdict::Allow).collect();
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[test]
fn a_joined_line_hides_nothing_that_is_never_run() {
    for command in [
        "r\\\nm -rf /",
        "\"r\\\nm\" -rf /",
        "rm -r\\\nf /",
        "s\\\nu\\\ndo rm -rf /",
        "true &\\\n& rm -rf /",
        "$\\\n(rm -rf /)",
        "echo \"$\\\n(rm -rf /)\"",
        "$\\\n{x:-rm} -rf /",
        "x=rm; $\\\nx -rf /",
        "i\\\nf true; then rm -rf /; fi",
        "bash -c 'r\\\nm -rf /'",
        "ev\\\nal 'rm -rf /'",
        "cat <<E\n$\\\n(rm -rf /)\nE",
    ] {
        for around in [super::surroundings(), confined()] {
            assert_eq!(judge(command, &around).verdict, Verdict::Never, "{command}");
        }
    }
}

#[test]
fn a_wrapper_that_changes_the_directory_hides_no_target() {
    for command in [
        "env -C / rm -rf etc",
        "env -C/ rm -rf etc",
        "env --chdir=/ rm -rf etc",
        "env --chd / rm -rf etc",
        "env -C / -S 'rm -rf etc'",
        "sudo -D / rm -rf etc",
        "sudo --chdir=/ rm -rf etc",
        "parallel --wd / rm -rf ::: etc",
        "parallel --workdir / rm -rf ::: etc",
    ] {
        assert_eq!(judged(command).verdict, Verdict::Never, "{command}");
    }
}
