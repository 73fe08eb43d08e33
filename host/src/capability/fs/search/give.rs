//! The lines of an answer.

use std::{
    ops::{ControlFlow, Range},
    os::fd::AsFd,
};

use super::{
    excerpt::{Line, excerpt},
    halt::Halt,
    open::{self, Regular},
    order::Wanted,
    pattern::Pattern,
    read::Reader,
    records::{Findings, Hit, Place, Query, Rules, Start, Tally},
    skipped::Skip,
};

/// Lines of an answer, with those of context.
const LINES: usize = 20_000;

/// Bytes of the lines and their paths: the guest holds them too. Where they are more, fewer lines are given. A match with its
/// context always fits.
const LINES_BYTES: usize = 1 << 20;

/// Lines of context before and after each match. Who wants more reads the file.
const CONTEXT: u32 = 100;

/// Bytes of a line. Longer ones were not written by people.
const WIDTH: u32 = 4_096;

/// Reads the wanted lines, file after file.
pub(super) struct Giver<'a> {
    pub(super) start: &'a Start<'a>,
    pub(super) query: &'a Query,
    pub(super) rules: &'a Rules<'a>,
    pub(super) halt: &'a Halt<'a>,
    pub(super) pattern: Pattern,
    pub(super) findings: &'a mut Findings,
    /// Bytes given so far.
    pub(super) bytes: usize,
}

impl Giver<'_> {
    /// Gives the wanted lines of a file, and tells whether there is room for more.
    pub(super) fn give(&mut self, reader: &mut Reader<'_>, file: &Wanted) -> ControlFlow<()> {
        if self.halt.over() {
            return ControlFlow::Break(());
        }
        let hard_links = self.rules.hard_links;
        let given = match self.start.place {
            Place::Folder(start) => {
                open::regular_below(start, &file.path, hard_links).and_then(|open| self.lines(reader, &open, file))
            }
            Place::File { file: start, .. } => {
                open::checked(start, hard_links).and_then(|open| self.lines(reader, &open, file))
            }
        };
        // It was there when it was counted, and somebody changed that since.
        given.unwrap_or(ControlFlow::Continue(()))
    }

    fn lines<Fd: AsFd>(
        &mut self,
        reader: &mut Reader<'_>,
        open: &Regular<Fd>,
        file: &Wanted,
    ) -> Result<ControlFlow<()>, Skip> {
        let path = self.start.show(&file.path);
        let before = self.findings.hits.len();
        let room = reader.text(open, |text| {
            let wanted = self.wanted(text, file)?;
            let context = self.query.context.min(CONTEXT) as usize;
            Ok(excerpt(text, &wanted, context, |line| self.line(text, &path, line)))
        })?;
        if room.is_break() {
            // Lines before a match that had no room say nothing.
            while self.findings.hits.len() > before && self.findings.hits.last().is_some_and(|hit| !hit.matches) {
                self.findings.hits.pop();
            }
        }
        if self.findings.hits.len() > before {
            self.findings.files.push(Tally { path, count: file.count });
        }
        Ok(room)
    }

    fn wanted(&mut self, text: &[u8], file: &Wanted) -> Result<Vec<Range<usize>>, Skip> {
        let (mut skip, mut lines) = (file.skip, Vec::new());
        let masked = self.rules.masked(text);
        self.pattern.lines(masked.as_deref().unwrap_or(text), self.halt, &mut |line| {
            if skip > 0 {
                skip -= 1;
            } else {
                lines.push(line);
            }
            (lines.len() as u64) < file.take
        })?;
        Ok(lines)
    }

    fn line(&mut self, text: &[u8], path: &str, line: Line) -> ControlFlow<()> {
        let width = self.query.width.min(WIDTH) as usize;
        let place = cut(text, line.place, width);
        let bytes = text.get(place.clone()).unwrap_or_default();
        let (masked, secrets) = self.rules.mask.map_or_else(|| (bytes.into(), 0), |mask| mask(text, place));
        let mut shown = String::from_utf8_lossy(&masked).into_owned();
        // A byte that is no UTF-8 is shown by three.
        shown.truncate(shown.floor_char_boundary(width));
        self.bytes += path.len() + shown.len();
        if self.bytes > LINES_BYTES || self.findings.hits.len() >= LINES {
            return ControlFlow::Break(());
        }
        self.findings.masked += secrets;
        self.findings.hits.push(Hit { path: path.into(), number: line.number, text: shown, matches: line.wanted });
        ControlFlow::Continue(())
    }
}

/// A line without its line break and without what is beyond the width, cut before a character.
fn cut(text: &[u8], line: Range<usize>, width: usize) -> Range<usize> {
    let bytes = text.get(line.clone()).unwrap_or_default();
    let bytes = bytes.strip_suffix(b"\n").map_or(bytes, |bytes| bytes.strip_suffix(b"\r").unwrap_or(bytes));
    let continues = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let mut end = bytes.len().min(width);
    if end < bytes.len() {
        // A character has three such bytes at most; more of them are none.
        end = (end.saturating_sub(3)..=end).rev().find(|at| !continues(*at)).unwrap_or(end);
    }
    line.start..line.start + end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut_text(text: &[u8], width: usize) -> &[u8] {
        &text[cut(text, 0..text.len(), width)]
    }

    #[test]
    fn line_breaks_are_left_out() {
        for (line, shown) in [("a\n", "a"), ("a\r\n", "a"), ("a\r", "a\r"), ("\n", ""), ("", ""), ("a\r\r\n", "a\r")] {
            assert_eq!(cut_text(line.as_bytes(), 10), shown.as_bytes());
        }
    }

    #[test]
    fn broken_characters_are_cut_anywhere() {
        assert_eq!(cut_text(&[0x80; 10], 5), [0x80; 5]);
    }

    proptest! {
        #[test]
        fn a_text_is_cut_between_characters(text in "[aä€😀]{0,10}", width in 0..20_usize) {
            let end = text.floor_char_boundary(width);
            prop_assert_eq!(cut_text(text.as_bytes(), width), &text.as_bytes()[..end]);
        }
    }
}
