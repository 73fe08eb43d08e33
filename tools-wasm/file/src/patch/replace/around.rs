//! What is in the file around a place.

use super::super::text::body;

/// What is in the file before a place.
pub(super) struct Before<'a> {
    /// White space on the same line.
    pub(super) gap: &'a str,
    /// Whether nothing else is on that line.
    pub(super) begins: bool,
    /// The character before the white space, on whatever line.
    pub(super) last: Option<char>,
    /// All white space before the place, and where it begins.
    space: &'a str,
    from: usize,
}

impl<'a> Before<'a> {
    pub(super) fn new(file: &'a str, at: usize) -> Self {
        // Places are found behind the byte order mark.
        let text = &file[body(file)..at];
        let solid = text.trim_end();
        let (space, from) = (&text[solid.len()..], body(file) + solid.len());
        let gap = space.rsplit('\n').next().unwrap_or_default();
        Self { gap, begins: gap.len() < space.len() || solid.is_empty(), last: solid.chars().next_back(), space, from }
    }

    /// Where the so many blank lines right above begin, if there are so many.
    pub(super) fn blank_lines(&self, count: usize) -> Option<Vec<usize>> {
        let breaks = self.space.match_indices('\n').map(|(at, _)| self.from + at + 1);
        let mut starts: Vec<usize> = self.last.is_none().then_some(self.from).into_iter().chain(breaks).collect();
        // The last one is the place's own line.
        starts.pop();
        Some(starts.split_off(starts.len().checked_sub(count)?))
    }
}

/// What is in the file after a place.
pub(super) struct After<'a> {
    /// White space on the same line.
    pub(super) gap: &'a str,
    /// Whether nothing else is on that line.
    pub(super) ends: bool,
    /// The character after the white space, on whatever line.
    pub(super) next: Option<char>,
    /// All white space after the place, and where it begins.
    space: &'a str,
    from: usize,
}

impl<'a> After<'a> {
    pub(super) fn new(file: &'a str, at: usize) -> Self {
        // Places end at a character's end.
        let rest = &file[at..];
        let solid = rest.trim_start();
        let space = &rest[..rest.len() - solid.len()];
        let line = space.split('\n').next().unwrap_or_default();
        let broken = line.len() < space.len();
        let gap = if broken { line.strip_suffix('\r').unwrap_or(line) } else { line };
        Self { gap, ends: broken || solid.is_empty(), next: solid.chars().next(), space, from: at }
    }

    /// Where the so many blank lines right below begin, if there are so many.
    pub(super) fn blank_lines(&self, count: usize) -> Option<Vec<usize>> {
        let mut starts: Vec<usize> = self.space.match_indices('\n').map(|(at, _)| self.from + at + 1).collect();
        // The last one is where the next text is, or the end of the file.
        if self.next.is_some() || self.space.ends_with('\n') {
            starts.pop();
        }
        starts.truncate(count);
        (starts.len() == count).then_some(starts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_knows_the_line_that_it_is_on() {
        let file = "\u{feff}  a b \r\n\tc";
        let (before, after) = (Before::new(file, 5), After::new(file, 8));
        assert_eq!((before.gap, before.begins, before.last), ("  ", true, None));
        assert_eq!((after.gap, after.ends, after.next), (" ", true, Some('c')));
        let (before, after) = (Before::new(file, 7), After::new(file, 6));
        assert_eq!((before.gap, before.begins, before.last), (" ", false, Some('a')));
        assert_eq!((after.gap, after.ends, after.next), (" ", false, Some('b')));
    }

    #[test]
    fn blank_lines_are_found_above_and_below() {
        let file = "\n \na\n\n  \nb\n \n";
        assert_eq!(Before::new(file, 3).blank_lines(2), Some(vec![0, 1]));
        assert_eq!(Before::new(file, 3).blank_lines(3), None);
        assert_eq!(After::new(file, 4).blank_lines(2), Some(vec![5, 6]));
        assert_eq!(After::new(file, 4).blank_lines(3), None);
        assert_eq!(Before::new(file, 9).blank_lines(1), Some(vec![6]));
        assert_eq!(After::new(file, 10).blank_lines(1), Some(vec![11]));
        assert_eq!(After::new("a\n ", 1).blank_lines(1), Some(vec![2]));
        assert_eq!(After::new("a\n", 1).blank_lines(1), None);
    }
}
