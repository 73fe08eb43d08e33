//! Commands that stand as plain strings in program text of another language.

use super::Call;
use crate::approval::shell::{
    resolve::Arg,
    walk::{Flow, Walker},
};

/// Functions that run a text or a list of words.
#[rustfmt::skip]
const RUN: [&str; 22] = [
    "system", "exec", "popen", "Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput", "execSync", "spawn",
    "spawnSync", "execFile", "execFileSync", "shell_exec", "passthru", "execute", "execvp", "execlp", "command", "qx",
];

/// Functions that delete a tree.
const DELETE: [&str; 9] = [
    "rmtree",
    "rmSync",
    "rm_rf",
    "rm_r",
    "remove_tree",
    "removeSync",
    "remove_dir_all",
    "rmdirSync",
    "remove_entry_secure",
];

/// How many strings of one program are looked at.
const STRINGS: usize = 64;

/// Judges the commands that a program text plainly runs. What it makes up is not seen, so the text itself needs a person anyway.
pub(super) fn judge(walker: &mut Walker, call: &Call<'_>, program: &str) {
    let mut rest = program;
    for _ in 0..STRINGS {
        let Some(at) = rest.find(['"', '\'', '`']) else { return };
        let (before, from) = rest.split_at(at);
        let (words, after) = strings(from);
        rest = after;
        let deletes = calls(before, &DELETE);
        // Elsewhere a backtick only quotes.
        let backtick = from.starts_with('`') && ["perl", "ruby", "php"].iter().any(|name| call.name.starts_with(name));
        if backtick || calls(before, &RUN) {
            match words.as_slice() {
                [text] => walker.program_text(call.name, text),
                words => {
                    let argv = words.iter().map(Arg::known).collect();
                    walker.inside(call.name, |walker| walker.aside(|walker| walker.call(argv, &Flow::unknown())));
                }
            }
        } else if deletes {
            let argv = ["rm", "-r"].iter().map(|word| Arg::known(*word)).chain(words.iter().map(Arg::known)).collect();
            walker.inside(call.name, |walker| walker.aside(|walker| walker.call(argv, &Flow::unknown())));
        }
    }
}

/// Whether a text ends in a call of one of these functions, up to its first argument.
fn calls(before: &str, names: &[&str]) -> bool {
    let before = before.trim_end().trim_end_matches('[').trim_end();
    let name = before.trim_end_matches('(').trim_end();
    let start = name.rfind(|found: char| !(found.is_alphanumeric() || found == '_')).map_or(0, |at| at + 1);
    name.get(start..).is_some_and(|name| names.contains(&name))
}

/// The strings of a list, and the text after them.
fn strings(text: &str) -> (Vec<String>, &str) {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let mut chars = rest.char_indices();
        let Some((_, quote)) = chars.next().filter(|(_, quote)| matches!(quote, '"' | '\'' | '`')) else { break };
        let mut string = String::new();
        let mut end = rest.len();
        while let Some((at, letter)) = chars.next() {
            match letter {
                '\\' => string.extend(chars.next().map(|(_, letter)| letter)),
                letter if letter == quote => {
                    end = at + letter.len_utf8();
                    break;
                }
                letter => string.push(letter),
            }
        }
        found.push(string);
        rest = rest.get(end..).unwrap_or("");
        // Node writes the words after the program as a list of their own.
        let next =
            rest.trim_start().strip_prefix(',').map(|next| next.trim_start().trim_start_matches('[').trim_start());
        match next.filter(|next| next.starts_with(['"', '\''])) {
            Some(next) => rest = next,
            None => break,
        }
    }
    (found, rest)
}
