//! A command line as a list of commands, each a list of words.
//!
//! It knows quotes, comments, redirections and here-documents, so that text is not taken for commands. It does not judge what is
//! safe: the host parses the line properly for that. Where this reading is wrong, a hint is missing or a rephrasing is asked for.

use std::collections::VecDeque;
use std::iter::Peekable;
use std::str::Chars;

/// The commands of a line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) commands: Vec<Vec<String>>,
    /// Whether `&` leaves one of them behind.
    pub(super) detaches: bool,
}

/// Reads a command line.
pub(super) fn split(line: &str) -> Line {
    Splitter { rest: line.chars().peekable(), ..Splitter::default() }.read()
}

struct Splitter<'a> {
    rest: Peekable<Chars<'a>>,
    line: Line,
    words: Vec<String>,
    /// The word that has begun. Quotes begin one even where nothing is in them.
    word: Option<String>,
    /// What the next word is for.
    role: Role,
    /// Here-documents whose text comes after this line's end.
    documents: VecDeque<String>,
}

#[derive(Clone, Copy, Default)]
enum Role {
    #[default]
    Argument,
    /// The file of a redirection.
    Target,
    /// The last line of a here-document.
    Delimiter,
}

impl Default for Splitter<'_> {
    fn default() -> Self {
        let (rest, line) = ("".chars().peekable(), Line::default());
        Self { rest, line, words: Vec::new(), word: None, role: Role::default(), documents: VecDeque::new() }
    }
}

impl Splitter<'_> {
    fn read(mut self) -> Line {
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => match self.rest.next() {
                    None | Some('\n') => {}
                    Some(next) => self.push(next),
                },
                '\'' => self.quoted('\'', false),
                '"' => self.quoted('"', true),
                '$' => self.dollar(),
                '#' if self.word.is_none() => self.comment(),
                '\n' => {
                    self.end_command();
                    self.skip_documents();
                }
                ' ' | '\t' | '\r' => self.end_word(),
                '>' | '<' => self.redirection(c),
                '&' => self.ampersand(),
                ';' => self.semicolon(),
                '(' if self.next_is('(') => self.arithmetic(),
                '|' => {
                    // `|&` is a pipe too.
                    self.next_is('&');
                    self.end_command();
                }
                '(' | ')' | '`' => self.end_command(),
                other => self.push(other),
            }
        }
        self.end_command();
        self.line
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    /// Takes the next character if it is this one.
    fn next_is(&mut self, wanted: char) -> bool {
        self.rest.next_if_eq(&wanted).is_some()
    }

    /// Up to the closing quote, or to the end where there is none.
    fn quoted(&mut self, quote: char, escapes: bool) {
        self.word.get_or_insert_default();
        while let Some(c) = self.rest.next() {
            match c {
                c if c == quote => return,
                '\\' if escapes => self.rest.next().into_iter().for_each(|next| self.push(next)),
                other => self.push(other),
            }
        }
    }

    /// `${…}` and `$'…'` are parts of words; what is in `$(…)` is a command of its own.
    fn dollar(&mut self) {
        self.push('$');
        if self.next_is('\'') {
            self.quoted('\'', true);
        } else if self.next_is('{') {
            self.push('{');
            let mut depth = 1;
            while let Some(c) = self.rest.next_if(|_| depth > 0) {
                depth += i32::from(c == '{') - i32::from(c == '}');
                self.push(c);
            }
        }
    }

    /// To the end of a calculation: `&` and `<` in it are operators of numbers.
    fn arithmetic(&mut self) {
        let mut depth = 2;
        while let Some(c) = self.rest.next_if(|_| depth > 0) {
            depth += i32::from(c == '(') - i32::from(c == ')');
        }
    }

    fn comment(&mut self) {
        while self.rest.next_if(|c| *c != '\n').is_some() {}
    }

    fn semicolon(&mut self) {
        self.end_command();
        // `;;`, `;&` and `;;&` end a branch of a case.
        self.next_is(';');
        self.next_is('&');
    }

    fn ampersand(&mut self) {
        if self.rest.peek() == Some(&'>') {
            self.end_word();
            return;
        }
        self.line.detaches |= !self.next_is('&');
        self.end_command();
    }

    fn redirection(&mut self, sign: char) {
        // The number of a stream belongs to the redirection.
        if self.word.as_ref().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        self.role = Role::Target;
        if self.next_is('(') {
            // Process substitution: a command of its own.
            self.role = Role::Argument;
            self.end_command();
        } else if sign == '<' && self.next_is('<') {
            if !self.next_is('<') {
                self.next_is('-');
                self.role = Role::Delimiter;
            }
        } else {
            self.rest.next_if(|c| matches!(c, '>' | '&' | '|'));
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match std::mem::take(&mut self.role) {
            Role::Argument => self.words.push(word),
            Role::Target => {}
            Role::Delimiter => self.documents.push_back(word),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.role = Role::Argument;
        if !self.words.is_empty() {
            self.line.commands.push(std::mem::take(&mut self.words));
        }
    }

    fn skip_documents(&mut self) {
        while let Some(delimiter) = self.documents.pop_front() {
            while self.rest.peek().is_some() {
                let mut text = String::new();
                while let Some(c) = self.rest.next().filter(|c| *c != '\n') {
                    text.push(c);
                }
                if text.trim_start_matches('\t') == delimiter {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Commands with `; ` between them and words with `|` between them.
    fn shown(line: &str) -> String {
        split(line).commands.iter().map(|words| words.join("|")).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn a_line_becomes_commands_and_words() {
        for (line, commands) in [
            ("npm  run\tdev", "npm|run|dev"),
            ("cd a && npm start || b; c | d\ne", "cd|a; npm|start; b; c; d; e"),
            ("echo 'a b' \"c \\\" d\" e\\ f", "echo|a b|c \" d|e f"),
            ("echo \"\" ''x", "echo||x"),
            ("a # b & c\nd#e", "a; d#e"),
            ("a >out 2>&1 <in >>more &>all 2>|x b", "a|b"),
            ("a 2> err b3>c", "a|b3"),
            ("cat <<EOF > f\nnpm start &\nEOF\nnext", "cat; next"),
            ("cat <<-'END' | b\n\tnpm start\n\tEND\nc", "cat; b; c"),
            ("cat <<A <<B\n1\nA\n2\nB\nc", "cat; c"),
            ("cat <<< 'x y' z", "cat|z"),
            ("diff <(a b) c", "diff; a|b; c"),
            ("echo $(a b) `c`", "echo|$; a|b; c"),
            ("(a; b)", "a; b"),
            ("echo ${x:-a b} $'it\\'s'", "echo|${x:-a b}|$it's"),
            ("a \\\n b", "a|b"),
            ("echo $((1 & 2)) b", "echo|$|b"),
            ("a |& b", "a; b"),
        ] {
            assert_eq!(shown(line), commands, "{line}");
        }
    }

    #[test]
    fn only_a_lone_ampersand_detaches() {
        for line in ["a &", "a & b", "a&b", "(a &)", "a >x 2>&1 &", "a & # later", "a &\n"] {
            assert!(split(line).detaches, "{line}");
        }
        for line in [
            "a && b",
            "a 2>&1",
            "a &> b",
            "a &>> b",
            "a <&3 >&-",
            "a |& b",
            "echo '&' \"a & b\" \\&",
            "a # &",
            "echo $((1 & 2))",
            "((x &= 1))",
            "echo ${a/&/b}",
            "case x in x) a ;& y) b ;;& z) c ;; esac",
            "cat <<E\na &\nE",
            "curl 'http://a.example/?b=1&c=2'",
        ] {
            assert!(!split(line).detaches, "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_split(line in "\\PC{0,60}") {
            split(&line);
        }

        #[test]
        fn any_signs_can_be_split(line in "[ab<>&|;(){}$#'\"`\\\\ \n-]{0,60}") {
            let split = split(&line);
            prop_assert!(split.commands.iter().all(|words| !words.is_empty()));
        }

        #[test]
        fn what_is_quoted_is_one_word(text in "[^']{0,40}") {
            let line = format!("echo '{text}'");
            prop_assert_eq!(split(&line), Line { commands: vec![vec!["echo".into(), text]], detaches: false });
        }
    }
}
