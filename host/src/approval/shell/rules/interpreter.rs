//! Programs whose arguments are programs.

use super::{Call, literals, sed};
use crate::approval::shell::{Category, resolve::UNKNOWN, walk::Walker};

/// How an interpreter takes its code.
struct Interpreter {
    name: &'static str,
    /// Letters of options that are followed by code.
    code: &'static str,
    /// Letters of options that are followed by something else.
    values: &'static str,
    /// Long options that are followed by code.
    long: &'static [&'static str],
}

const fn interpreter(
    name: &'static str,
    code: &'static str,
    values: &'static str,
    long: &'static [&'static str],
) -> Interpreter {
    Interpreter { name, code, values, long }
}

static INTERPRETERS: [Interpreter; 36] = [
    interpreter("gnuplot", "e", "", &[]),
    interpreter("clojure", "e", "", &["--eval"]),
    interpreter("clj", "e", "", &["--eval"]),
    interpreter("ghc", "e", "", &[]),
    interpreter("runghc", "e", "", &[]),
    interpreter("ocaml", "e", "I", &[]),
    interpreter("swift", "e", "", &[]),
    interpreter("kotlin", "e", "", &[]),
    interpreter("jrunscript", "e", "", &[]),
    interpreter("m4", "", "", &[]),
    interpreter("dc", "e", "", &["--expression"]),
    interpreter("python", "c", "mWXQ", &[]),
    interpreter("pypy", "c", "mWXQ", &[]),
    interpreter("ipython", "c", "m", &[]),
    interpreter("jython", "c", "m", &[]),
    interpreter("node", "ep", "rC", &["--eval", "--print"]),
    interpreter("nodejs", "ep", "rC", &["--eval", "--print"]),
    interpreter("bun", "ep", "r", &["--eval", "--print"]),
    interpreter("tsx", "e", "", &["--eval"]),
    interpreter("ts-node", "ep", "rP", &["--eval"]),
    interpreter("perl", "eE", "IMmFCDx", &[]),
    interpreter("ruby", "e", "rICFEx", &[]),
    interpreter("php", "rBRE", "cdf", &["--run"]),
    interpreter("lua", "e", "l", &[]),
    interpreter("luajit", "e", "l", &[]),
    interpreter("rscript", "e", "", &[]),
    interpreter("r", "e", "f", &[]),
    interpreter("osascript", "e", "l", &[]),
    interpreter("julia", "eE", "pLJ", &["--eval", "--print"]),
    interpreter("elixir", "e", "r", &["--eval"]),
    interpreter("groovy", "e", "", &[]),
    interpreter("guile", "c", "l", &[]),
    interpreter("racket", "e", "", &["--eval"]),
    interpreter("tclsh", "", "", &[]),
    interpreter("expect", "c", "", &[]),
    interpreter("octave", "", "", &["--eval"]),
];

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    match call.name {
        "awk" | "gawk" | "mawk" | "nawk" => awk(walker, call),
        "sed" | "gsed" => sed::rule(walker, call),
        "deno" | "bun" if call.operands().take(3).any(|arg| arg.text.contains("://")) => {
            walker.ask(Category::DownloadedCode, format!("runs an address: {}", call.shown()));
        }
        _ if call.args.iter().any(|arg| arg.text.contains("data:text/javascript")) => inline(walker, call),
        "deno" if call.commands_are(&["eval", "repl"]) => walker.ask(Category::InlineCode, call.shown()),
        "jshell" | "ghci" | "irb" | "pry" | "iex" | "scala" => {
            walker.ask(Category::PipedCode, format!("{} runs what its input says", call.name));
        }
        name => {
            if call.options().any(|arg| EVALUATES.contains(&arg.text.split('=').next().unwrap_or(""))) {
                inline(walker, call);
                return true;
            }
            let Some(known) = find(name) else { return false };
            code(walker, call, known);
        }
    }
    true
}

/// Options that are followed by code, whatever the program.
const EVALUATES: [&str; 5] = ["--eval", "-eval", "--eval-string", "--batch-string", "--execute-code"];

fn find(name: &str) -> Option<&'static Interpreter> {
    let plain = name.trim_end_matches(|found: char| found.is_ascii_digit() || found == '.' || found == '-');
    INTERPRETERS.iter().find(|known| known.name == plain || known.name == name)
}

/// Whether a program runs scripts of another language. Their arguments are theirs.
pub(crate) fn is_interpreter(name: &str) -> bool {
    find(name).is_some()
}

fn code(walker: &mut Walker, call: &Call<'_>, known: &Interpreter) {
    let mut at = 0;
    let mut module = false;
    while let Some(arg) = call.args.get(at) {
        if !arg.is_option() {
            break;
        }
        at += 1;
        if arg.text.starts_with("--") {
            let name = arg.text.split('=').next().unwrap_or("");
            if known.long.contains(&name) {
                return inline(walker, call);
            }
            continue;
        }
        for (place, letter) in arg.text.char_indices().skip(1) {
            if known.code.contains(letter) {
                return inline(walker, call);
            }
            if known.values.contains(letter) {
                module |= letter == 'm' && known.code == "c";
                let last = place + letter.len_utf8() == arg.text.len();
                at += usize::from(last && !matches!(known.name, "perl" | "ruby"));
                break;
            }
        }
        if module {
            // A few modules run their arguments or their input.
            if call.says(&["timeit"]) {
                inline(walker, call);
            } else if call.says(&["code", "pdb", "asyncio"]) {
                walker.code_stream(call.name, call.input);
            }
            return;
        }
    }
    if call.says(&["--version", "-V", "-v", "--help"]) {
        return;
    }
    match call.args.get(at) {
        Some(script) if script.text != "-" => walker.foreign_script(call.name, script, call.input),
        _ => walker.code_stream(call.name, call.input),
    }
}

fn inline(walker: &mut Walker, call: &Call<'_>) {
    let has = |words: &[&str]| words.iter().all(|word| call.args.iter().any(|arg| arg.text.contains(word)));
    if has(&["fork while fork"]) || has(&["fork", "while", "os.fork()"]) {
        walker.never(Category::ForkBomb, call.shown());
    }
    let shell = has(&["/bin/sh"]) || has(&["/bin/bash"]) || has(&["pty"]) || has(&["dup2"]) || has(&["fsockopen"]);
    if shell && (has(&["ocket"]) || has(&["sock"]) || has(&["pty.spawn"]) || has(&["net."])) {
        walker.ask(Category::ReverseShell, call.shown());
    }
    walker.ask(Category::InlineCode, call.shown());
    for arg in call.args {
        literals::judge(walker, call, &arg.text);
    }
}

fn awk(walker: &mut Walker, call: &Call<'_>) {
    let files = call.values("-f", "--file");
    for file in &files {
        walker.foreign_script(call.name, file, call.input);
    }
    let file = !files.is_empty();
    let mut programs: Vec<&str> = Vec::new();
    let mut skip = false;
    for arg in call.args {
        if std::mem::take(&mut skip) {
            continue;
        }
        if arg.is_option() {
            skip = matches!(arg.text.as_str(), "-v" | "-F" | "-f" | "-i" | "-l" | "-e");
            if arg.text.starts_with("-i") && call.says(&["inplace"]) || arg.text == "-l" {
                walker.ask(Category::InlineCode, call.shown());
            }
            continue;
        }
        programs.push(&arg.text);
        break;
    }
    programs.retain(|_| !file);
    let values = call.values("-e", "--source");
    programs.extend(values.iter().map(|arg| arg.text.as_str()));
    for program in programs {
        let outside = without_strings(program);
        let compact: String = outside.chars().filter(|found| !found.is_whitespace()).collect();
        let runs = compact.contains("system(")
            || compact.contains("|getline")
            || compact.contains("|\"")
            || compact.contains("|&")
            || compact.contains("@load")
            || compact.contains("print|")
            || piped_print(&outside);
        if runs || program.contains(UNKNOWN) {
            walker.ask(Category::InlineCode, format!("awk runs programs: {}", call.shown()));
            literals::judge(walker, call, program);
        }
        if unknown_file(&outside) {
            walker.ask(
                Category::UnknownTarget,
                format!("awk writes a file that is only known when it runs: {}", call.shown()),
            );
        }
        for text in program.split('>').skip(1) {
            let Some(path) =
                text.trim_start_matches(['>', ' ']).strip_prefix('"').and_then(|rest| rest.split('"').next())
            else {
                continue;
            };
            let path = crate::approval::shell::resolve::Arg::known(path);
            super::write::file(walker, &path, "awk writes");
        }
    }
}

/// `print … | variable`: a bar after a print, before the statement ends, with no pattern between.
fn piped_print(program: &str) -> bool {
    program.split([';', '\n', '{', '}']).any(|statement| {
        let Some((_, rest)) = statement.split_once("print") else { return false };
        rest.replace("||", "").contains('|') && !rest.contains('/') && !rest.contains('~')
    })
}

/// `print … > expression`: a file whose name is no plain string.
fn unknown_file(program: &str) -> bool {
    program.split([';', '\n', '{', '}']).any(|statement| {
        let Some((_, rest)) = statement.split_once("print") else { return false };
        let mut depth = 0_i32;
        for (at, found) in rest.char_indices() {
            match found {
                '(' => depth += 1,
                ')' => depth -= 1,
                '>' if depth <= 0 => {
                    let target = rest.get(at..).unwrap_or("").trim_start_matches(['>', ' ']);
                    // Strings are empty here; one with something after it is put together.
                    return target.strip_prefix("\"\"").is_none_or(|after| !after.trim().is_empty());
                }
                _ => {}
            }
        }
        false
    })
}

fn without_strings(program: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    let mut chars = program.chars();
    while let Some(found) = chars.next() {
        match found {
            '\\' if inside => {
                chars.next();
            }
            '"' => {
                inside = !inside;
                out.push('"');
            }
            found if !inside => out.push(found),
            _ => {}
        }
    }
    out
}
