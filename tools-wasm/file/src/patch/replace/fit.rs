//! Laying the searched text over a place in the file that has the same characters.

use std::ops::Range;

use super::{
    super::{
        align::Spelling,
        fold::Dash,
        indent::Indents,
        merge::{self, Passage},
        splice::Splice,
        text::{after_break, content_end, is_blank},
    },
    around::{After, Before},
    gap::is_delimiter,
    strategy::{Differences, Strategy},
    walk::Walk,
    wanted::Wanted,
};

/// The searched text at a place where it can be meant.
pub(super) struct Fit<'a> {
    differences: Differences,
    /// Which lines of the searched text are there: all, or those between the blank ones around it.
    lines: Range<usize>,
    passage: Passage<'a>,
    /// Beside the first character and the last one, where these lie inside of a line.
    margins: (Margin<'a>, Margin<'a>),
    dash: Dash,
}

/// White space at an end of the searched text, and how many bytes of it the file has there.
#[derive(Default)]
struct Margin<'a> {
    own: &'a str,
    gap: usize,
}

impl<'a> Fit<'a> {
    /// At a place found by its pattern. Nothing if the two differ in substance, or in the structure that indentation shows.
    pub(super) fn new(wanted: &Wanted<'a>, file: &'a str, place: Range<usize>) -> Option<Self> {
        let mut walk = Walk::over(wanted, file, place.clone())?;
        let (first, last) = (wanted.blank_before(), wanted.lines.len() - wanted.blank_after());
        let before = Before::new(file, place.start);
        let after = After::new(file, place.end);
        let (above, below) = (before.blank_lines(first), after.blank_lines(wanted.blank_after()));
        let inside = (!before.begins && first > 0) || (!after.ends && (wanted.closed || last < wanted.lines.len()));
        if inside {
            return None;
        }
        let mut fit = Self {
            differences: walk.differences,
            lines: 0..wanted.lines.len(),
            passage: Passage {
                file,
                start: place.start,
                end: place.end,
                bounds: walk.bounds,
                indents: Indents::identity(),
                spelling: None,
            },
            margins: Default::default(),
            dash: wanted.dash,
        };
        if let (Some(above), Some(below)) = (&above, &below) {
            fit.passage.bounds.splice(..first, above.iter().copied().map(Some));
            let lines = fit.passage.bounds.len() - 1;
            fit.passage.bounds.splice(last..lines, below.iter().copied().map(Some));
        } else {
            fit.differences.boundary = true;
            fit.lines = first..last;
            fit.passage.bounds = fit.passage.bounds.get(first..=last)?.to_vec();
        }
        fit.begin(wanted, &before, above.filter(|_| !fit.differences.boundary), &mut walk.depths)?;
        fit.end(wanted, &after, below.filter(|_| !fit.differences.boundary))?;
        fit.passage.indents = Indents::new(walk.depths)?;
        Some(fit)
    }

    fn begin(
        &mut self,
        wanted: &Wanted<'a>,
        before: &Before<'a>,
        above: Option<Vec<usize>>,
        depths: &mut Vec<(&'a str, &'a str)>,
    ) -> Option<()> {
        let indent = wanted.indent();
        if !before.begins {
            self.margins.0 = self.beside(indent, before.gap, before.last)?;
            return Some(());
        }
        self.differences.compare_indent(indent, before.gap);
        // A first line that was cut off at its first character, while the others are as they are in the file.
        let cut =
            indent.is_empty() && !before.gap.is_empty() && !depths.is_empty() && depths.iter().all(|(a, b)| a == b);
        let start = self.passage.start - before.gap.len();
        if !(cut && above.as_ref().is_none_or(Vec::is_empty)) {
            depths.push((indent, before.gap));
            self.passage.start = above.and_then(|above| above.first().copied()).unwrap_or(start);
            let own = wanted.blank_before() - self.lines.start;
            *self.passage.bounds.get_mut(own)? = Some(start);
        }
        Some(())
    }

    fn end(&mut self, wanted: &Wanted<'a>, after: &After<'a>, below: Option<Vec<usize>>) -> Option<()> {
        let file = self.passage.file;
        if !after.ends {
            self.margins.1 = self.beside(wanted.trail(), after.gap, after.next)?;
            return Some(());
        }
        self.differences.edge |= wanted.trail() != after.gap;
        let last = below.and_then(|below| below.last().copied()).unwrap_or(self.passage.end);
        self.passage.end = content_end(file, last);
        let next = after_break(file, self.passage.end);
        // The last line of the file may have no break.
        self.differences.boundary |= wanted.closed && next == self.passage.end;
        *self.passage.bounds.last_mut()? = Some(next);
        Some(())
    }

    /// What differs at an end of the text that lies inside of a line.
    fn beside(&mut self, own: &'a str, gap: &str, neighbour: Option<char>) -> Option<Margin<'a>> {
        let apart = |c: char| u8::try_from(c).is_ok_and(|byte| is_delimiter(byte) || b"\"'`".contains(&byte));
        match (own.is_empty(), gap.is_empty()) {
            // A part of a word, of a number or of a name is another thing.
            (_, true) if !neighbour.is_none_or(apart) => return None,
            (false, true) => self.differences.boundary = true,
            (false, false) => self.differences.run |= own != gap,
            (true, _) => {}
        }
        Some(Margin { own, gap: if own.is_empty() { 0 } else { gap.len() } })
    }

    pub(super) fn strategy(&self) -> Strategy {
        self.differences.strategy()
    }

    /// The splices that put a new text in its place. Nothing if it is not certain how deep a line must be indented.
    pub(super) fn splices(mut self, wanted: &Wanted<'_>, new: &str) -> Option<Vec<Splice>> {
        let mut old = wanted.lines.clone();
        let mut new = wanted.replacement(new);
        if self.differences.boundary {
            // Blank lines that the file does not have go from both, as far as both have them.
            let (first, last) = (self.lines.start, wanted.lines.len() - self.lines.end);
            let blank = |line: &&&str| is_blank(line);
            let (more_before, more_after) =
                (new.iter().take_while(blank).count(), new.iter().rev().take_while(blank).count());
            old.drain(..first);
            old.truncate(self.lines.len());
            new.drain(..first.min(more_before));
            new.truncate(new.len().saturating_sub(last.min(more_after)));
        }
        self.leave_margins(&mut old, &mut new);
        if self.differences.in_lines() {
            let Passage { file, start, end, .. } = self.passage;
            self.passage.spelling = Some(Spelling::new(&old.join("\n"), file, start..end, self.dash));
        }
        merge::splices(&self.passage, &old, &new, &merge::edits(&old, &new))
    }

    /// White space that both texts have at an end inside of a line stays as it is in the file. Where the new one has other white
    /// space, that is part of the change.
    fn leave_margins(&mut self, old: &mut [&str], new: &mut [&str]) {
        let (before, after) = &self.margins;
        if let (Some(old), Some(new)) = (old.first_mut(), new.first_mut()) {
            match (old.strip_prefix(before.own), new.strip_prefix(before.own)) {
                (Some(less_old), Some(less_new)) => (*old, *new) = (less_old, less_new),
                _ => self.passage.start -= before.gap,
            }
        }
        if let (Some(old), Some(new)) = (old.last_mut(), new.last_mut()) {
            match (old.strip_suffix(after.own), new.strip_suffix(after.own)) {
                (Some(less_old), Some(less_new)) => (*old, *new) = (less_old, less_new),
                _ => self.passage.end += after.gap,
            }
        }
    }
}
