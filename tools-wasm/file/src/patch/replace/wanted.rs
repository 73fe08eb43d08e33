//! The text that is searched, and the lines that shall take its place.

use super::{
    super::{fold::Dash, text::line_breaks},
    scan::Pattern,
};

/// `old_string`, taken apart. Its offsets are bytes of `text`.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    /// Without the last line break.
    pub(super) text: &'a str,
    pub(super) lines: Vec<&'a str>,
    /// Whether it ends with a line break: then it means whole lines.
    pub(super) closed: bool,
    /// Where its first character is, and where its last one ends.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) pattern: Pattern,
    pub(super) dash: Dash,
}

impl<'a> Wanted<'a> {
    /// Nothing for white space alone.
    pub(super) fn new(old: &'a str, dash: Dash) -> Option<Self> {
        let pattern = Pattern::new(old, dash)?;
        let text = old.strip_suffix('\n').unwrap_or(old);
        let (start, end) = (text.len() - text.trim_start().len(), text.trim_end().len());
        let lines = text.split('\n').collect();
        Some(Self { text, lines, closed: text.len() < old.len(), start, end, pattern, dash })
    }

    /// How many blank lines it begins with.
    pub(super) fn blank_before(&self) -> usize {
        // The text has a character, which has a start and an end.
        line_breaks(&self.text[..self.start])
    }

    /// How many blank lines it ends with.
    pub(super) fn blank_after(&self) -> usize {
        line_breaks(&self.text[self.end..])
    }

    /// The white space before its first character, on the same line.
    pub(super) fn indent(&self) -> &'a str {
        self.text[..self.start].rsplit('\n').next().unwrap_or_default()
    }

    /// The white space after its last character, on the same line.
    pub(super) fn trail(&self) -> &'a str {
        self.text[self.end..].split('\n').next().unwrap_or_default()
    }

    /// The lines of a text that shall take its place. Whole lines are replaced by whole lines: the last line break stays, unless
    /// nothing is put in their place.
    pub(super) fn replacement<'n>(&self, new: &'n str) -> Vec<&'n str> {
        match (self.closed, new) {
            (true, "") => Vec::new(),
            (true, new) => new.strip_suffix('\n').unwrap_or(new).split('\n').collect(),
            (false, new) => new.split('\n').collect(),
        }
    }
}
