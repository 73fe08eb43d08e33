//! Unconfined: what is understood runs, and nothing else.

use super::{Category, Verdict, allowed::allowed, daily::DAILY, judged};
use crate::approval::shell::EffectKind;

#[rustfmt::skip]
const UNDERSTOOD: &[&str] = &[
    "ls", "ls -la", "ls -la /etc", "/bin/ls -l", "pwd", "cat Cargo.toml", "cat /etc/hosts", "head -n 20 a.txt", "tail -5 a.txt",
    "wc -l *.rs", "stat Cargo.toml", "du -sh .", "df -h", "uname -a", "whoami", "id", "date", "date +%s", "date -u +%FT%TZ",
    "echo hello", "printf '%s\\n' a b", "true", "false", ":", "grep -rn 'rm -rf /' .", "grep -n foo a.txt", "grep -c x a || true",
    "grep -e a -e b file", "rg 'rm -rf /' src", "rg -n TODO", "rg --files -g '*.md'", "sort a | uniq -c | sort -rn", "sort -o x x",
    "sort -t, -k2 -n data.csv | head", "cut -d: -f1 /etc/passwd", "tr a-z A-Z < x", "find . -name '*.rs'",
    "find . -type f -name '*.py' -print", "find . -name node_modules -prune -o -print", "diff a b", "sha256sum *", "md5sum a",
    "base64 x.png", "mkdir -p a/b", "mkdir build", "touch a.txt", "cp a b", "cp a.txt /tmp/b.txt", "mv a b", "rm a.txt",
    "rm -f a.txt b.txt", "rm ./a", "rmdir empty", "echo x > a.txt", "echo x >> a.txt", "echo x > /tmp/a.txt", "ls > /dev/null 2>&1",
    "ls &> out.log", "cat < a.txt", "tee out.log < a", "ls | tee -a log.txt", "sed -n '1,20p' x", "sed 's/a/b/' x",
    "sed -i 's/a/b/g' src/main.rs", "awk '{print $1}' x", "awk -F: '{print $1}' /etc/passwd", "git status --ignore-submodules",
    "git diff --ignore-submodules HEAD~1 -- src", "git log --oneline | head -5", "git show HEAD", "git blame a.rs", "git branch -a",
    "git rev-parse HEAD", "git remote -v", "git ls-files | wc -l", "git grep -n TODO", "cd src && ls", "cd src && cat main.rs",
    "cd src && touch x", "ls; pwd",
];

#[test]
fn understood_commands_run_unconfined() {
    let wrong: Vec<String> = UNDERSTOOD
        .iter()
        .filter_map(|command| {
            let judgement = judged(command);
            (judgement.verdict != Verdict::Allow).then(|| format!("{command}: {:?}", judgement.reasons))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[rustfmt::skip]
const NOT_UNDERSTOOD: &[&str] = &[
    // Text that is not plain, however harmless.
    "echo \"$HOME\"", "echo $RANDOM", "printf '%s\\n' \"$x\"", "find / -name x 2>/dev/null", "diff <(ls a) <(ls b)",
    "comm -12 <(sort a) <(sort b)", "cat <<EOF\nrm -rf /\nEOF", "cat > src/a.rs <<'E'\nfn main() {}\nE", "(cd src && ls)",
    "x=1; echo $((x + 1))", "x='a b'; echo \"$x\"", "local_file=a.txt; cat \"$local_file\"", "for w in a b; do echo \"$w\"; done",
    "for f in a.txt b.txt; do wc -l \"$f\"; done", "if [ -f a ]; then cat a; fi", "[ -d a ] || mkdir a",
    "[[ -d target ]] && du -sh target", "[[ $x == y ]] && echo z", "test -n \"$CI\" || echo local", "f() { echo \"$1\"; }; f hi",
    "f() { cat \"$1\"; }; f a.txt", "bash -c 'ls -la'", "sh -c 'echo hi; ls'", "eval 'echo hi'", "timeout 10 ls", "nice -n 10 ls",
    "env LC_ALL=C sort a", "LC_ALL=C sort a", "export FOO_file=bar", "set -euo pipefail; ls", "echo \"$(date)\"",
    "n=$(ls | wc -l); echo \"$n\"", "case a in a) echo b;; esac", "while read -r l; do echo \"$l\"; done < list.txt",
    "ls | while IFS= read -r f; do echo \"$f\"; done", "sleep 1 & wait", "jq .a x.json", "! grep -q x a", "time ls", "{ ls; pwd; }",
    "cat \\\n  a.txt",
    // Programs that run code of the project, or that nothing is known of.
    "make", "cargo test", "npm test", "python3 script.py", "./run.sh", "bash run.sh", "unheard-of x", "./ls", "bin/cat x", "LS", "ls.exe",
    "node -v x", ". ./env.sh", "source .venv/bin/activate", "xargs wc -l < list", "ls | xargs cat",
    // Options that are not modelled.
    "rg --pre ./x foo", "rg --pr=./x foo", "sort --compress-program=./x a", "sort --compress-prog ./x a", "sort -T /etc a", "find . -exec ls {} +",
    "find . -okdir ls {} +", "find . -fprint x", "find . $x", "sed -f x.sed a", "sed '1e ls' a", "sed 's/a/b/e' a", "sed 'w out' a", "sed -n '/x/w out' a",
    "awk '{print > \"x\"}' a", "awk -f x.awk a", "awk '{system($1)}' a", "awk \"$x\" a", "cp -r a b", "date -s x", "hostname x", "rm -r a",
    "git status", "git diff", "git describe --dirty", "git diff --ignore-submodules --ext-diff", "env PATH=/x ls", "env GIT_DIR=x git log",
    "git diff --ext-diff", "git log --output=x", "git log --outp=x", "git grep -O x", "git -C sub status", "git --git-dir=x status", "git -c a.b=c status",
    "cd sub && git status", "git commit -m x", "git add .", "git checkout main", "git stash", "git branch -m x", "git diff --no-index a b",
    "bash -lc ls", "bash --rcfile x -c ls", "sh -c 'echo ${x}'", "zsh -c ls", "env -i ls", "env -C / ls", "timeout -k 1 5 ls", "command -p ls", "nohup ls",
    // Names that a pattern may match are options, too.
    "sort *", "grep x *", "rm *.o", "cp *.txt /tmp", "touch *", "sed -n p *",
    // Writes that leave the workspace, or that are not known.
    "touch ~/x", "mkdir -p ~/x", "cp a ~/b", "mv a /tmp/../etc/x", "echo x > ../x", "echo x > src/../../x", "touch a/../b", "rm ../x",
    "echo x > .hidden", "touch .vscode/x", "mkdir .husky", "echo x > \"$x\"", "tee $x", "mv src ~/x",
    // Operands and directories that are only known when it runs.
    "cat \"$x\"", "cat $x", "ls >&$x", "cd src; cat $PWD/x", "bash -c 'cat $0' ~/.ssh/id_rsa", "cat $(ls)", "cd \"$x\" && ls a", "cd -", "cd src; cat x", "cd src || cat x", "! cd src && cat x", "pushd src && ls x",
    "cd a && cd - && cat x", "cat ~-/x", "cat ~1/x", "if cd src; then :; fi; cat x", "cd src; touch x", "false && cd src; cat x",
    // Variables that shells and programs obey.
    "PATH=/x:$PATH ls", "HOME=/x; cat ~/y", "IFS=x; ls", "GIT_DIR=x git status", "FOO=1 ls", "export FOO=1", "BASH_ENV=x; ls", "PS4=x; ls",
    "for PATH in /tmp; do ls; done", "read PATH", ": ${PATH:=x}", "printf -v PATH x", "declare -x LD_PRELOAD=x",
    // What a branch or a function left behind is not known.
    "set -- ./x; false && set -- ls; \"$@\"", "x=./x; f() { local x=ls; }; f; $x", "x=ls; f() { local x; $x ./x; }; f", "x=ls; f() { declare x; $x ./x; }; f",
    // Process substitutions wherever a word may stand.
    "[[ -e <(./x) ]]", "echo ${x:-<(./x)}", "echo ${x#<(./x)}", "case <(./x) in *) ;; esac",
    // Functions that may not be the ones that are seen.
    "if x; then f() { ls; }; fi; f", "f() { ./x; }; if false; then f() { ls; }; fi; f", "f() { ./x; }; f", "f() { cat \"$1\"; }; f \"$x\"",
    "shopt -s extglob", "alias ls=x", "trap ls EXIT", "exec ls", "let x=1", "declare -i x=1", "declare -n x=y", "mapfile x < a", "hash -p x ls",
    "wait -p x", "ulimit -n 1", "enable -f x y", "complete -C x y", "unalias -a", "set -a", "set -o allexport",
];

#[test]
fn what_is_not_understood_asks_unconfined() {
    let allowed: Vec<_> = NOT_UNDERSTOOD.iter().filter(|command| judged(command).verdict == Verdict::Allow).collect();
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[test]
#[allow(clippy::print_stderr)]
fn harmless_rows_are_understood_or_asked_about() {
    let rows: Vec<&str> = allowed().into_iter().chain(DAILY.iter().copied()).collect();
    let understood = rows.iter().filter(|row| judged(row).verdict == Verdict::Allow).count();
    eprintln!("{understood} of {} harmless rows run unconfined", rows.len());
    assert!(understood >= 150, "{understood}");
}

#[test]
fn effects_say_what_is_read_written_deleted_and_run() {
    let has = |command: &str, kind: EffectKind, target: &str| {
        let effects = judged(command).effects;
        assert!(effects.iter().any(|it| it.kind == kind && it.target == target), "{command}: {effects:?}");
    };
    has("cat a.txt", EffectKind::Reads, "/home/ada/project/a.txt");
    has("cat < a.txt", EffectKind::Reads, "/home/ada/project/a.txt");
    has("ls > out.txt", EffectKind::Writes, "/home/ada/project/out.txt");
    has("mv a b", EffectKind::Deletes, "/home/ada/project/a");
    has("mv a b", EffectKind::Writes, "/home/ada/project/b");
    has("rm -rf build", EffectKind::Deletes, "/home/ada/project/build");
    has("timeout 5 make", EffectKind::Runs, "make");
    has("cat \"$x\"", EffectKind::Reads, "…");
    has("curl https://x.y", EffectKind::Network, "curl https://x.y");
}

#[test]
fn an_exported_search_path_into_the_workspace_is_doubted() {
    for (path, verdict) in [("/usr/bin:/bin", Verdict::Allow), ("/home/ada/project/bin:/bin", Verdict::Ask)] {
        let mut around = super::surroundings();
        around.variables.insert("PATH".into(), path.into());
        let judgement = super::judge("ls", &around);
        assert_eq!(judgement.verdict, verdict, "{path}: {:?}", judgement.reasons);
    }
    let mut around = super::surroundings();
    around.variables.insert("LD_PRELOAD".into(), "./x.so".into());
    let judgement = super::judge("ls", &around);
    assert_eq!(judgement.reasons.first().map(|reason| reason.category), Some(Category::UnknownCommand));
}
