//! The only shell text that is allowed where nothing confines it.
//!
//! Bash is a large language, and a model of it is always behind: functions, variables, loops, conditions, substitutions and text that is
//! evaluated twice each gave a way to run what the model did not see. So nothing of that is allowed unconfined. A plain text has words
//! that stand for themselves, joined by `;`, `&&`, `||` and `|`, with redirections to named files. It is read here by a scanner of its
//! own, which knows nothing else: where the parser misreads a text, this refuses it.

use super::table;

/// Programs that need no table beside [`table`]: their models are functions of this module.
const MODELLED: [&str; 8] = ["awk", "cd", "find", "gawk", "git", "mawk", "printf", "sed"];

/// Programs that only read but that plain text does not name: they run commands, evaluate text or read files by their own language.
const EVALUATING: [&str; 8] = ["[", "expr", "jobs", "jq", "break", "continue", "return", "test"];

/// Characters of a word outside quotes that stand for themselves.
fn is_literal(found: char) -> bool {
    found.is_ascii_alphanumeric() || "_./,:+=@%^-".contains(found)
}

/// Characters that make a word a pattern of names.
const WILDCARDS: [char; 2] = ['*', '?'];

/// Why a text is not plain; nothing, if it is.
pub(crate) fn obstacle(text: &str) -> Option<String> {
    let mut scanner = Scanner { rest: text, commands: Vec::new() };
    match scanner.scan() {
        Err(obstacle) => Some(obstacle),
        Ok(()) => scanner.commands.iter().find_map(PlainCommand::obstacle).or_else(|| moves(&scanner.commands)),
    }
}

/// How a command is joined to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joint {
    /// A line of its own, or `;`.
    Then,
    And,
    Or,
    Pipe,
}

#[derive(Debug)]
struct PlainCommand {
    joint: Joint,
    words: Vec<PlainWord>,
}

#[derive(Debug, Default)]
struct PlainWord {
    text: String,
    /// Whether it starts with a wildcard: a name that it matches may be an option.
    starts_wild: bool,
}

impl PlainCommand {
    fn obstacle(&self) -> Option<String> {
        let (program, operands) = self.words.split_first()?;
        if program.text.contains('=') {
            return Some("a variable is set".into());
        }
        let name = program.text.rsplit('/').next().unwrap_or_default();
        let only_reads = table::only_reads(name) && !EVALUATING.contains(&name);
        if !only_reads && table::find(name).is_none() && !MODELLED.contains(&name) {
            return Some(format!("what `{name}` does is not modelled"));
        }
        let is_wild = program.text.contains(WILDCARDS);
        let may_be_option = operands.iter().any(|word| word.starts_wild) && (!only_reads || name == "printf");
        (is_wild || may_be_option).then(|| format!("a pattern may match a name that `{name}` takes for an option"))
    }
}

/// A directory is known only if its `cd` comes first and everything else runs after its success.
fn moves(commands: &[PlainCommand]) -> Option<String> {
    let is_move = |command: &PlainCommand| command.words.first().is_some_and(|word| word.text == "cd");
    let after = commands.iter().skip(1);
    let moves_later = after.clone().any(is_move);
    let may_fail = commands.first().is_some_and(is_move)
        && (after.clone().any(|command| matches!(command.joint, Joint::Then | Joint::Or))
            || after.clone().next().is_some_and(|command| command.joint == Joint::Pipe));
    (moves_later || may_fail).then(|| "the directory is known only after `cd DIRECTORY && …`".to_owned())
}

/// Reads a text from its start.
struct Scanner<'a> {
    rest: &'a str,
    commands: Vec<PlainCommand>,
}

impl Scanner<'_> {
    fn scan(&mut self) -> Result<(), String> {
        let mut joint = Joint::Then;
        loop {
            let command = self.command(joint)?;
            let is_empty = command.words.is_empty();
            if !is_empty {
                self.commands.push(command);
            }
            // A joint needs a command before it, and all but `;` one behind it.
            joint = match self.joint()? {
                Some(Joint::Then) if is_empty && joint == Joint::Then => Joint::Then,
                Some(next) if !is_empty => next,
                Some(_) => return Err("an operator without a command".into()),
                None if is_empty && joint != Joint::Then => return Err("an operator without a command".into()),
                None => return Ok(()),
            };
        }
    }

    fn command(&mut self, joint: Joint) -> Result<PlainCommand, String> {
        let mut command = PlainCommand { joint, words: Vec::new() };
        loop {
            self.blanks();
            match self.rest.chars().next() {
                None | Some(';' | '&' | '|' | '\n') if !self.rest.starts_with("&>") => return Ok(command),
                _ if self.redirection() => {
                    self.blanks();
                    let target = self.word()?;
                    if target.text.is_empty() || target.text.contains(WILDCARDS) {
                        return Err("a redirection without a plain target".into());
                    }
                }
                _ => {
                    let word = self.word()?;
                    if word.text.is_empty() && command.words.is_empty() {
                        return Err("an empty command name".into());
                    }
                    command.words.push(word);
                }
            }
        }
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn joint(&mut self) -> Result<Option<Joint>, String> {
        let joints =
            [("&&", Joint::And), ("||", Joint::Or), (";", Joint::Then), ("\n", Joint::Then), ("|", Joint::Pipe)];
        for (text, joint) in joints {
            if let Some(rest) = self.rest.strip_prefix(text) {
                if text == ";" && rest.starts_with([';', '&']) {
                    return Err("an operator without a command".into());
                }
                self.rest = rest;
                return Ok(Some(joint));
            }
        }
        if self.rest.is_empty() { Ok(None) } else { Err("a command in the background".into()) }
    }

    /// Takes a redirection up to its target. `2>&1` and its kin have none and are taken whole, as a word that leads nowhere.
    fn redirection(&mut self) -> bool {
        for whole in ["2>&1", "1>&2", ">&2", ">&1"] {
            if let Some(rest) = self.rest.strip_prefix(whole)
                && rest.chars().next().is_none_or(|next| " \t\n;|&".contains(next))
            {
                self.rest = rest;
                self.blanks();
                return self.redirection();
            }
        }
        for operator in ["&>>", "&>", "2>>", "1>>", ">>", "2>", "1>", ">", "<"] {
            if let Some(rest) = self.rest.strip_prefix(operator) {
                // `>&`, `>|`, `<<`, `<>`, `<(` and their kin are something else.
                if rest.starts_with(['&', '|', '<', '>', '(']) {
                    return false;
                }
                self.rest = rest;
                return true;
            }
        }
        false
    }

    fn word(&mut self) -> Result<PlainWord, String> {
        let mut word = PlainWord::default();
        let mut is_started = false;
        while let Some(next) = self.rest.chars().next() {
            let after = &self.rest[next.len_utf8()..];
            match next {
                ' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>' if is_started => break,
                '\'' => {
                    let (quoted, rest) = after.split_once('\'').ok_or("a quote that is not closed")?;
                    word.text.push_str(quoted);
                    self.rest = rest;
                }
                '"' => {
                    let (quoted, rest) = after.split_once('"').ok_or("a quote that is not closed")?;
                    if let Some(special) = quoted.chars().find(|found| "$`\\".contains(*found)) {
                        return Err(format!("{special:?} inside double quotes"));
                    }
                    word.text.push_str(quoted);
                    self.rest = rest;
                }
                '~' if !is_started && after.chars().next().is_none_or(|next| "/ \t\n;|&".contains(next)) => {
                    word.text.push('~');
                    self.rest = after;
                }
                // Only a `~` that starts a word or follows these means a home.
                '~' if is_started && !word.text.ends_with([':', '=']) => {
                    word.text.push('~');
                    self.rest = after;
                }
                _ if WILDCARDS.contains(&next) => {
                    word.starts_wild |= !is_started;
                    word.text.push(next);
                    self.rest = after;
                }
                _ if is_literal(next) => {
                    word.text.push(next);
                    self.rest = after;
                }
                _ => return Err(format!("{next:?} outside quotes")),
            }
            is_started = true;
        }
        Ok(word)
    }
}

#[cfg(test)]
mod tests {
    use super::obstacle;

    #[test]
    fn words_joints_and_redirections_are_plain() {
        for text in [
            "ls -la",
            "cat a.txt | sort | uniq -c",
            "echo 'any $(thing) `here`' > out.txt 2>&1",
            "grep -rn \"two words\" src || true",
            "cd src && ls && cat main.rs | head",
            "ls ~/x; pwd\nls ~",
            "ls *.rs",
            "cat <a >b 2>/dev/null",
            "ls &> out",
            "find . -name '*.rs'",
            "git log HEAD~3",
            "",
        ] {
            assert_eq!(obstacle(text), None, "{text}");
        }
    }

    #[test]
    fn everything_else_of_the_shell_is_not() {
        for text in [
            "echo $x",
            "echo \"$x\"",
            "echo `x`",
            "echo \"a\\b\"",
            "a\\\nb",
            "x=1",
            "x=1 ls",
            "x=1; ls",
            "ls #x",
            "a=(1)",
            "f() { ls; }",
            "for x in a; do ls; done",
            "if ls; then ls; fi",
            "{ ls; }",
            "(ls)",
            "! ls",
            "time ls",
            "ls &",
            "ls & ls",
            "coproc ls",
            "[[ a ]]",
            "[ -d a ]",
            "test -d a",
            "ls > $x",
            "ls >& x",
            "ls >|x",
            "ls <<< x",
            "cat <<E\nE",
            "ls <(ls)",
            "ls {a,b}",
            "ls ~root",
            "ls a=~",
            "ls a:~",
            "eval ls",
            "exec ls",
            "bash -c ls",
            "env ls",
            "timeout 5 ls",
            "command ls",
            "nice ls",
            "unheard-of",
            "jobs -x ls",
            "ls; cd a",
            "cd a; ls",
            "cd a || ls",
            "cd a | ls",
            "cd a && ls; ls",
            "cd a && cd b",
            "sort *",
            "printf *",
            "ls 'x",
            "ls \"x",
            "&& ls",
            "ls &&",
            "ls | | ls",
            "ls;; ls",
            "> *",
            "ls >",
            "3>x ls",
            "{x}>y ls",
            "ls é",
            "ls !x",
            "ls a[b]",
            "alias x=y",
            "''",
            "rm *",
            "*",
        ] {
            assert!(obstacle(text).is_some(), "{text}");
        }
    }
}
