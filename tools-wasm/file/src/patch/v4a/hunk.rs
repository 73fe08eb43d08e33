//! One change of a file: lines that go and come, and lines around them that say where.

use std::ops::Range;

use super::super::merge::Edit;

/// What a line of a hunk stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// It is there and stays.
    Context,
    /// It goes.
    Remove,
    /// It comes.
    Add,
}

/// A line of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row<'a> {
    pub(crate) sign: Sign,
    /// The line without its sign.
    pub(crate) text: &'a str,
    /// The line as it was written, where it is context: the space in front may be its sign, or its own.
    pub(crate) raw: &'a str,
}

/// A change of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hunk<'a> {
    /// The line of the patch at which it begins.
    pub(crate) line: usize,
    /// Lines of the file after which it is, the outermost first.
    pub(crate) hints: Vec<&'a str>,
    pub(crate) rows: Vec<Row<'a>>,
    /// Whether it is at the end of the file.
    pub(crate) at_end: bool,
    /// Whether the last line has no line break, before and after the change.
    pub(crate) bare: (bool, bool),
}

/// A way to read the rows of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reading<'a> {
    /// The lines that are in the file.
    pub(super) old: Vec<&'a str>,
    /// Those that shall be.
    pub(super) new: Vec<&'a str>,
    pub(super) edits: Vec<Edit>,
}

impl<'a> Hunk<'a> {
    /// The ways to read it, the plain one first. Context may have been written without the space in front, and empty lines at its
    /// end may only part it from what follows.
    pub(super) fn readings(&self) -> Vec<Reading<'a>> {
        let plain = |row: &Row<'a>| row.text;
        let mut readings = vec![Reading::new(&self.rows, plain)];
        let unsigned = |row: &Row<'a>| row.sign == Sign::Context && row.text == row.raw && !row.raw.is_empty();
        if self.rows.iter().any(unsigned) {
            readings.push(Reading::new(&self.rows, |row| row.raw));
        }
        let empty = self.rows.iter().rev().take_while(|row| row.sign == Sign::Context && row.raw.is_empty()).count();
        if empty > 0 {
            // There are at least as many rows.
            readings.push(Reading::new(&self.rows[..self.rows.len() - empty], plain));
        }
        readings
    }
}

impl<'a> Reading<'a> {
    fn new(rows: &[Row<'a>], text: impl Fn(&Row<'a>) -> &'a str) -> Self {
        let (mut old, mut new, mut edits) = (Vec::new(), Vec::new(), Vec::<Edit>::new());
        for row in rows {
            let at = Edit { old: old.len()..old.len(), new: new.len()..new.len() };
            if row.sign != Sign::Add {
                old.push(text(row));
            }
            if row.sign != Sign::Remove {
                new.push(text(row));
            }
            if row.sign != Sign::Context {
                let ends = (old.len(), new.len());
                let edit = match edits.pop() {
                    Some(last) if last.old.end == at.old.start && last.new.end == at.new.start => last,
                    other => {
                        edits.extend(other);
                        at
                    }
                };
                edits.push(Edit { old: edit.old.start..ends.0, new: edit.new.start..ends.1 });
            }
        }
        Self { old, new, edits }
    }

    /// Which of the old lines change, from the first to the last.
    pub(super) fn changed(&self) -> Range<usize> {
        let (first, last) = (self.edits.first(), self.edits.last());
        first.map_or(0, |edit| edit.old.start)..last.map_or(0, |edit| edit.old.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(line: &str) -> Row<'_> {
        let (sign, text) = match line.chars().next() {
            Some('-') => (Sign::Remove, &line[1..]),
            Some('+') => (Sign::Add, &line[1..]),
            Some(' ') => (Sign::Context, &line[1..]),
            _ => (Sign::Context, line),
        };
        Row { sign, text, raw: if sign == Sign::Context { line } else { text } }
    }

    fn readings(rows: &[&'static str]) -> Vec<Reading<'static>> {
        Hunk { rows: rows.iter().map(|line| row(line)).collect(), ..Hunk::default() }.readings()
    }

    #[test]
    fn signs_say_what_is_and_what_shall_be() {
        let [reading] = readings(&[" a", "-b", "+c", "+d", " e", "+f"]).try_into().unwrap();
        assert_eq!(reading.old, ["a", "b", "e"]);
        assert_eq!(reading.new, ["a", "c", "d", "e", "f"]);
        assert_eq!(reading.edits, [Edit { old: 1..2, new: 1..3 }, Edit { old: 3..3, new: 4..5 }]);
    }

    #[test]
    fn context_without_signs_has_a_second_reading() {
        let found = readings(&["def f():", "    a", "-    b", "+    c"]);
        assert_eq!(found[0].old, ["def f():", "   a", "    b"]);
        assert_eq!(found[1].old, ["def f():", "    a", "    b"]);
    }

    #[test]
    fn empty_lines_at_the_end_may_be_no_context() {
        let found = readings(&["-a", "+b", "", ""]);
        assert_eq!(found.iter().map(|reading| reading.old.len()).collect::<Vec<_>>(), [3, 1]);
    }
}
