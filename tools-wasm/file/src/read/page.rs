//! Some lines of a text as the answer that shows them.

use std::fmt::Write;

use hermes_tool::fs::{Excerpt, LinesQuery};

use super::answer::Answer;
use super::number::{Numbered, number};
use super::{MAX_LINE, Read};

/// Lines of a text, and where they stand in it.
pub(super) struct Page<'a> {
    /// The lines with their line breaks.
    pub(super) bytes: &'a [u8],
    pub(super) first: u64,
    /// How many were asked for.
    pub(super) count: u32,
    /// How many lines the whole text has.
    pub(super) total: u64,
    /// Of the file, in bytes.
    pub(super) size: u64,
    pub(super) masked: u32,
}

impl<'a> Page<'a> {
    pub(super) fn of(excerpt: &'a Excerpt, query: &LinesQuery) -> Self {
        Self {
            bytes: &excerpt.bytes,
            first: query.first,
            count: query.count,
            total: excerpt.total,
            size: excerpt.metadata.size,
            masked: excerpt.masked,
        }
    }

    /// The answer, with a note in front of the hints where there is one.
    pub(super) fn answer(self, note: Option<String>) -> Answer {
        let numbered = number(self.bytes, self.first);
        let next = self.first.saturating_add(numbered.lines.into());
        let more = numbered.lines > 0 && next <= self.total;
        let by_limit = more && numbered.lines == self.count;
        let hints = self.hints(&numbered, note, more.then_some(next));
        let rest = Read {
            total_lines: self.total,
            file_size: self.size,
            truncated: Some(more),
            is_binary: Some(false),
            is_image: Some(false),
            truncated_by: more.then(|| if by_limit { "lines".into() } else { "bytes".into() }),
            next_offset: more.then_some(next),
            hint: (!hints.is_empty()).then_some(hints),
            ..Read::default()
        };
        Answer { page: Some(numbered.json), rest }
    }

    fn hints(&self, numbered: &Numbered, note: Option<String>, next: Option<u64>) -> String {
        let mut hints = note.unwrap_or_default();
        let mut add = |hint: std::fmt::Arguments<'_>| {
            let separator = if hints.is_empty() { "" } else { "; " };
            // Writing to a string does not fail.
            let _ = write!(hints, "{separator}{hint}");
        };
        let Self { first, total, masked, .. } = self;
        if *total == 0 {
            add(format_args!("the file is empty"));
        } else if first > total {
            add(format_args!("offset {first} is past the end: total_lines is {total}"));
        }
        if let Some(next) = next {
            add(format_args!("lines {first} to {} of {total} are shown, go on with offset {next}", next - 1));
        }
        if numbered.cut > 0 {
            add(format_args!("lines over {MAX_LINE} characters are cut: {}", numbered.cut));
        }
        if numbered.garbled {
            add(format_args!("bytes that are not UTF-8 are shown as \u{fffd}"));
        }
        if *masked > 0 {
            add(format_args!(
                "secrets in these lines are masked: {masked}; what stands in their place is not in the file and must not be \
                 written back, change the other lines with patch"
            ));
        }
        hints
    }
}
