//! The searched text and a place in the file with the same characters, side by side.

use std::ops::Range;

use super::{
    super::{align::Atoms, text::line_breaks},
    gap::Syntax,
    strategy::Differences,
    wanted::Wanted,
};

/// A walk over the searched text and its place, side by side.
pub(super) struct Walk<'a> {
    pub(super) differences: Differences,
    /// Where each line begins, if that is where a line of the file begins.
    pub(super) bounds: Vec<Option<usize>>,
    /// How deep lines are indented, and how deep in the file.
    pub(super) depths: Vec<(&'a str, &'a str)>,
}

impl<'a> Walk<'a> {
    /// From the first character to the last. Nothing if the two differ in substance.
    pub(super) fn over(wanted: &Wanted<'a>, file: &'a str, place: Range<usize>) -> Option<Self> {
        let mut walk = Self {
            differences: Differences::default(),
            bounds: vec![None; wanted.lines.len() + 1],
            depths: Vec::new(),
        };
        let ours = Atoms::new(wanted.text, wanted.start..wanted.end, wanted.dash);
        let theirs = Atoms::new(file, place, wanted.dash);
        let (first, last) = (wanted.blank_before(), wanted.lines.len() - 1 - wanted.blank_after());
        let (mut line, mut syntax) = (first, Syntax::default());
        for (own, found) in ours.zip(theirs) {
            // An atom's gap lies in its text.
            let (old, gap) = (&wanted.text[own.gap..own.start], &file[found.gap..found.start]);
            if !old.is_empty() || !gap.is_empty() {
                let next = line + old.matches('\n').count();
                let inner = line > first && next < last;
                syntax.compare(old, gap, own.byte, inner, &mut walk.differences)?;
                if next > line {
                    walk.break_line(line..next, (old, gap), found.gap)?;
                    syntax.next_line();
                    line = next;
                }
            }
            walk.differences.unicode |= own.raw != found.raw;
            syntax.see(own.byte, !old.is_empty());
        }
        Some(walk)
    }

    /// White space with line breaks: notes where the lines after them begin.
    fn break_line(&mut self, lines: Range<usize>, (old, gap): (&'a str, &'a str), at: usize) -> Option<()> {
        let mut starts = gap.match_indices('\n').map(|(found, _)| at + found + 1);
        let depth = |gap: &'a str| gap.rsplit('\n').next().unwrap_or_default();
        if line_breaks(gap) == lines.len() {
            for (line, start) in lines.zip(starts) {
                *self.bounds.get_mut(line + 1)? = Some(start);
            }
        } else if let Some(start) = starts.next_back() {
            *self.bounds.get_mut(lines.end)? = Some(start);
        } else {
            return Some(());
        }
        let pair = (depth(old), depth(gap));
        if !self.depths.contains(&pair) {
            self.depths.push(pair);
        }
        Some(())
    }
}
