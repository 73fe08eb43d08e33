//! Reading a patch.

use std::fmt;

use super::{Action, Hunk, Operation, Row, Sign};

/// Operations in one patch. The host commits so many changes at once and no more.
const OPERATIONS: usize = 1_000;

/// Why a text is no patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParseError {
    /// The line of the patch.
    pub(crate) line: usize,
    /// What is wrong with it.
    pub(crate) message: String,
}

impl std::error::Error for ParseError {}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the patch: {}", self.line, self.message)
    }
}

/// A line that begins with `***` and is no content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marker<'a> {
    Begin,
    End,
    EndOfFile,
    Update(&'a str),
    Add(&'a str),
    Delete(&'a str),
    Move(&'a str),
    MoveTo(&'a str),
    Unknown,
}

impl<'a> Marker<'a> {
    fn new(line: &'a str) -> Option<Self> {
        let text = line.strip_prefix("***")?.trim();
        let after = |word: &str| text.strip_prefix(word).map(str::trim);
        Some(match text {
            "Begin Patch" => Self::Begin,
            "End Patch" => Self::End,
            "End of File" => Self::EndOfFile,
            _ => after("Update File:")
                .map(Self::Update)
                .or_else(|| after("Add File:").map(Self::Add))
                .or_else(|| after("Delete File:").map(Self::Delete))
                .or_else(|| after("Move File:").map(Self::Move))
                .or_else(|| after("Move to:").map(Self::MoveTo))
                // Three asterisks alone may be a line of the file; with a file behind them they are a mistake.
                .or_else(|| text.contains(" File:").then_some(Self::Unknown))?,
        })
    }
}

/// Reads a patch. The markers of its beginning and end may be missing.
pub(crate) fn parse(patch: &str) -> Result<Vec<Operation<'_>>, ParseError> {
    let lines = patch.strip_suffix('\n').unwrap_or(patch).split('\n');
    let lines = lines.map(|line| line.strip_suffix('\r').unwrap_or(line)).enumerate().map(|(n, line)| (n + 1, line));
    let begin =
        lines.clone().find(|(_, line)| Marker::new(line) == Some(Marker::Begin)).map_or(0, |(number, _)| number);
    let mut parser = Parser::default();
    for (number, line) in lines.skip(begin) {
        match Marker::new(line) {
            Some(Marker::End) => break,
            Some(marker) => parser.marker(number, marker)?,
            None => parser.line(number, line)?,
        }
    }
    parser.finish()
}

/// What has been read so far. The last operation is still open.
#[derive(Default)]
struct Parser<'a> {
    operations: Vec<Operation<'a>>,
    /// Lines of a new file. Empty ones without a sign count only if more follows.
    added: Vec<&'a str>,
    empty: usize,
    bare: bool,
}

fn error<T>(line: usize, message: impl Into<String>) -> Result<T, ParseError> {
    Err(ParseError { line, message: message.into() })
}

impl<'a> Parser<'a> {
    fn marker(&mut self, line: usize, marker: Marker<'a>) -> Result<(), ParseError> {
        let update = |target| Action::Update { hunks: Vec::new(), target };
        let (path, action) = match marker {
            Marker::Update(path) => (path, update(None)),
            Marker::Add(path) => (path, Action::Add(String::new())),
            Marker::Delete(path) => (path, Action::Delete),
            Marker::Move(paths) => match paths.split_once("->") {
                Some((path, target)) if !target.trim().is_empty() => (path.trim(), update(Some(target.trim()))),
                _ => return error(line, "a move names two files: *** Move File: old -> new"),
            },
            Marker::MoveTo(path) => return self.move_to(line, path),
            Marker::EndOfFile => return self.end_of_file(line),
            Marker::Begin | Marker::End => return error(line, "the patch begins a second time"),
            Marker::Unknown => {
                let known = "Update File, Add File, Delete File, Move File";
                return error(line, format!("no operation is called that; there are {known}"));
            }
        };
        if path.is_empty() {
            return error(line, "the path of the file is missing");
        }
        self.close()?;
        if self.operations.len() == OPERATIONS {
            return error(line, format!("a patch has at most {OPERATIONS} operations; make two of it"));
        }
        self.operations.push(Operation { line, path, action });
        Ok(())
    }

    fn move_to(&mut self, line: usize, path: &'a str) -> Result<(), ParseError> {
        match self.operations.last_mut().map(|operation| &mut operation.action) {
            Some(Action::Update { hunks, target: target @ None }) if hunks.is_empty() && !path.is_empty() => {
                *target = Some(path);
                Ok(())
            }
            _ => error(line, "*** Move to: names a path and stands right after *** Update File:"),
        }
    }

    fn end_of_file(&mut self, line: usize) -> Result<(), ParseError> {
        match self.operations.last_mut().map(|operation| &mut operation.action) {
            Some(Action::Update { hunks, .. }) if !hunks.is_empty() => {
                hunks.iter_mut().last().into_iter().for_each(|hunk| hunk.at_end = true);
                Ok(())
            }
            // Nothing else can follow the lines of a new file.
            Some(Action::Add(_)) => Ok(()),
            _ => error(line, "*** End of File stands after the lines of a change"),
        }
    }

    fn line(&mut self, number: usize, line: &'a str) -> Result<(), ParseError> {
        let blank = line.trim().is_empty();
        match self.operations.last_mut().map(|operation| &mut operation.action) {
            Some(Action::Add(_)) => self.content(number, line),
            Some(Action::Update { hunks, .. }) => match line.strip_prefix("@@") {
                Some(hint) => begin_hunk(hunks, number, hint),
                // A line that parts the header from what follows.
                None if hunks.is_empty() && line.is_empty() => Ok(()),
                None => row(hunks, number, line),
            },
            _ if blank => Ok(()),
            Some(Action::Delete) => {
                error(number, "a deletion has no lines; the next line begins with *** or is the end")
            }
            None => {
                error(number, "a patch begins with *** Begin Patch or with an operation such as *** Update File: path")
            }
        }
    }

    /// A line of a new file.
    fn content(&mut self, number: usize, line: &'a str) -> Result<(), ParseError> {
        if let Some(text) = line.strip_prefix('+') {
            self.added.extend(std::iter::repeat_n("", std::mem::take(&mut self.empty)));
            self.added.push(text);
        } else if line.is_empty() {
            self.empty += 1;
        } else if is_bare_mark(line) {
            self.bare = true;
        } else if !(line.starts_with("@@") && self.added.is_empty()) {
            return error(number, "every line of a new file begins with +");
        }
        Ok(())
    }

    /// Ends the last operation.
    fn close(&mut self) -> Result<(), ParseError> {
        let (added, bare) = (std::mem::take(&mut self.added), std::mem::take(&mut self.bare));
        self.empty = 0;
        let Some(operation) = self.operations.last_mut() else { return Ok(()) };
        match &mut operation.action {
            Action::Add(content) => {
                *content = added.join("\n");
                if !added.is_empty() && !bare {
                    content.push('\n');
                }
                Ok(())
            }
            Action::Delete => Ok(()),
            Action::Update { hunks, target: None } if hunks.is_empty() => {
                error(operation.line, "the update changes nothing; lines with - and + are missing")
            }
            Action::Update { hunks, .. } => {
                let idle = |hunk: &&Hunk<'_>| hunk.rows.iter().all(|row| row.sign == Sign::Context);
                match hunks.iter().find(idle) {
                    Some(hunk) => error(hunk.line, "the change has no lines with - or +"),
                    None => Ok(()),
                }
            }
        }
    }

    fn finish(mut self) -> Result<Vec<Operation<'a>>, ParseError> {
        self.close()?;
        if self.operations.is_empty() {
            return error(
                1,
                "no operation was found; begin with *** Update File: path, Add File, Delete File or Move File",
            );
        }
        Ok(self.operations)
    }
}

/// Whether a line says that the one before it has no line break.
fn is_bare_mark(line: &str) -> bool {
    line.starts_with("\\ No newline")
}

/// `@@`, `@@ hint` or `@@ hint @@`. Several in a row are one hint inside the other.
fn begin_hunk<'a>(hunks: &mut Vec<Hunk<'a>>, line: usize, hint: &'a str) -> Result<(), ParseError> {
    let hint = hint.trim();
    let hint = hint.strip_suffix("@@").unwrap_or(hint).trim_end();
    // Line numbers, as in other diffs, are as often wrong as right: the context says where.
    let numbers = hint
        .strip_prefix('-')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains(" +"));
    if !hunks.last().is_some_and(|hunk| hunk.rows.is_empty()) {
        hunks.push(Hunk { line, ..Hunk::default() });
    }
    if let Some(hunk) = hunks.last_mut().filter(|_| !hint.is_empty() && !numbers) {
        hunk.hints.push(hint);
    }
    Ok(())
}

/// A line of a change.
fn row<'a>(hunks: &mut Vec<Hunk<'a>>, number: usize, line: &'a str) -> Result<(), ParseError> {
    if hunks.last().is_none_or(|hunk| hunk.at_end) {
        // What parts one change from the next is no change.
        if line.is_empty() {
            return Ok(());
        }
        hunks.push(Hunk { line: number, ..Hunk::default() });
    }
    let Some(hunk) = hunks.last_mut() else { return Ok(()) };
    if is_bare_mark(line) {
        match hunk.rows.last().map(|row| row.sign) {
            Some(Sign::Remove) => hunk.bare.0 = true,
            Some(Sign::Add) => hunk.bare.1 = true,
            Some(Sign::Context) => hunk.bare = (true, true),
            None => return error(number, "this line stands after the line that it is about"),
        }
        return Ok(());
    }
    let marked = |sign, text| Row { sign, text, raw: text };
    hunk.rows.push(match (line.strip_prefix('-'), line.strip_prefix('+')) {
        (Some(text), _) => marked(Sign::Remove, text),
        (_, Some(text)) => marked(Sign::Add, text),
        _ => Row { sign: Sign::Context, text: line.strip_prefix(' ').unwrap_or(line), raw: line },
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn failure(patch: &str) -> String {
        parse(patch).unwrap_err().to_string()
    }

    fn hunks(patch: &str) -> Vec<Hunk<'_>> {
        match parse(patch).unwrap().remove(0).action {
            Action::Update { hunks, .. } => hunks,
            other => panic!("no update: {other:?}"),
        }
    }

    /// The rows of the first hunk with their signs.
    fn rows(patch: &str) -> Vec<String> {
        let sign = |row: &Row<'_>| match row.sign {
            Sign::Context => ' ',
            Sign::Remove => '-',
            Sign::Add => '+',
        };
        hunks(patch)[0].rows.iter().map(|row| format!("{}{}", sign(row), row.text)).collect()
    }

    #[test]
    fn every_operation_is_read() {
        let patch = "*** Begin Patch\n*** Update File: a.py\n@@ def f():\n-x\n+y\n*** Add File: d/b c.txt\n+one\n+\n+two\n\
                     *** Delete File: c\n*** Move File: d -> e/f\n*** End Patch\n";
        let operations = parse(patch).unwrap();
        assert_eq!(
            operations.iter().map(|op| (op.line, op.path)).collect::<Vec<_>>(),
            [(2, "a.py"), (6, "d/b c.txt"), (10, "c"), (11, "d")]
        );
        assert_eq!(operations[1].action, Action::Add("one\n\ntwo\n".into()));
        assert_eq!(operations[2].action, Action::Delete);
        assert_eq!(operations[3].action, Action::Update { hunks: vec![], target: Some("e/f") });
        assert_eq!(hunks(patch)[0].hints, ["def f():"]);
    }

    #[test]
    fn markers_may_be_missing_or_sloppy() {
        let expected = [" a", "-b", "+c"];
        assert_eq!(rows("*** Update File: f\n@@\n a\n-b\n+c"), expected);
        assert_eq!(rows("***Update File:f\n a\n-b\n+c\n"), expected);
        assert_eq!(
            rows("Here it is:\n```\n*** Begin Patch\n***  Update File: f\n@@\n a\n-b\n+c\n*** End Patch\n```\n"),
            expected
        );
        assert_eq!(rows("*** Begin Patch\r\n*** Update File: f\r\n a\r\n-b\r\n+c\r\n*** End Patch\r\n"), expected);
    }

    #[test]
    fn hints_are_read_in_every_form() {
        for (line, hints) in [
            ("@@", &[][..]),
            ("@@ def f(): @@", &["def f():"]),
            ("@@ class A\n@@   def f():", &["class A", "def f():"]),
            ("@@ -1,2 +1,3 @@", &[]),
            ("@@ -1,2 +1,3 @@ fn f()", &[]),
            ("@@ -x", &["-x"]),
        ] {
            assert_eq!(hunks(&format!("*** Update File: f\n{line}\n-a\n"))[0].hints, hints, "{line}");
        }
    }

    #[test]
    fn an_empty_line_in_a_hunk_is_blank_context() {
        assert_eq!(rows("*** Update File: f\n@@\n a\n\n-b\n+c\n"), [" a", " ", "-b", "+c"]);
    }

    #[test]
    fn lines_without_a_sign_are_context() {
        assert_eq!(rows("*** Update File: f\n@@\ndef f():\n-a\n*** text\n"), [" def f():", "-a", " *** text"]);
    }

    #[test]
    fn a_hunk_ends_with_the_file_where_it_says_so() {
        let found = hunks("*** Update File: f\n@@\n-a\n+b\n*** End of File\n@@\n-c\n");
        assert_eq!((found[0].at_end, found[1].at_end), (true, false));
    }

    #[test]
    fn missing_last_line_breaks_are_read() {
        let mark = "\\ No newline at end of file";
        assert_eq!(hunks(&format!("*** Update File: f\n-a\n{mark}\n+a\n"))[0].bare, (true, false));
        assert_eq!(hunks(&format!("*** Update File: f\n-a\n+a\n{mark}\n"))[0].bare, (false, true));
        assert_eq!(hunks(&format!("*** Update File: f\n+a\n b\n{mark}\n"))[0].bare, (true, true));
        let patch = format!("*** Add File: f\n+a\n{mark}\n");
        assert_eq!(parse(&patch).unwrap()[0].action, Action::Add("a".into()));
    }

    #[test]
    fn an_update_can_move_the_file() {
        let patch = "*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n";
        let [Operation { action: Action::Update { target, hunks }, .. }] = &parse(patch).unwrap()[..] else { panic!() };
        assert_eq!((*target, hunks.len()), (Some("b"), 1));
    }

    #[test]
    fn empty_lines_between_operations_are_no_content() {
        let made = parse("*** Add File: a\n+x\n\n+y\n\n*** Add File: b\n\n*** Delete File: c\n\n").unwrap();
        assert_eq!(made[0].action, Action::Add("x\n\ny\n".into()));
        assert_eq!(made[1].action, Action::Add(String::new()));
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        assert_eq!(failure("*** Add File: a\nx\n"), "line 2 of the patch: every line of a new file begins with +");
        assert!(failure("*** Update File:\n-a\n").starts_with("line 1 of the patch: the path"));
        assert!(failure("*** Move File: a\n").contains("two files"));
        assert!(failure("*** Update File: a\n").contains("changes nothing"));
        assert!(failure("*** Update File: a\n@@\n x\n").starts_with("line 2 of the patch: the change has no lines"));
        assert!(failure("*** Rename File: a\n").contains("Move File"));
        assert!(failure("*** Delete File: a\n-x\n").starts_with("line 2 of the patch: a deletion"));
        assert!(failure("*** Move to: b\n").contains("right after"));
        assert!(failure("--- a/f\n+++ b/f\n").contains("line 1 of the patch: a patch begins with"));
        assert!(failure("").contains("no operation"));
        assert!(failure(&"*** Delete File: a\n".repeat(OPERATIONS + 1)).contains("at most"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(
            lines in prop::collection::vec("(\\*\\*\\*(Update|Add|Move|Delete) File: a( -> b)?|\\*\\*\\* End of File|@@ x|[-+ ]?\\PC{0,5}|\\\\ No newline)", 0..12),
        ) {
            let _ = parse(&lines.join("\n"));
        }
    }
}
