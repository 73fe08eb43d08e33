//! A change as a unified diff, made from its splices alone: the text around them is looked at, never compared.

use std::{fmt::Write, ops::Range};

use super::{
    splice::{Splice, spliced},
    text::line_breaks,
};

/// Lines that are shown before and after a change.
const CONTEXT: usize = 3;

/// Bytes of one file's diff that an answer shows. No model reads more.
pub(super) const DIFF_BYTES: usize = 64 << 10;

/// What a file was called, and is called now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'a> {
    /// Nothing for a new file.
    pub(crate) old: Option<&'a str>,
    /// Nothing for a removed one.
    pub(crate) new: Option<&'a str>,
}

/// The diff of a text with these splices, which are in order and do not overlap. Changes that would make it longer than `limit` bytes
/// are left out, and the last line says so.
pub(crate) fn diff(names: Names<'_>, text: &str, splices: &[Splice], limit: usize) -> String {
    let mut diff = Diff { text, out: header(names, splices.is_empty()), hunk: None, shift: 0, hidden: 0 };
    let mut line = 0;
    let mut at = 0;
    for (block, splices) in (Blocks { text, splices }) {
        // Blocks are ranges of the text, in order.
        line += line_breaks(&text[at..block.start]);
        at = block.start;
        diff.add(line, block, splices, limit);
    }
    diff.close();
    if diff.hidden > 0 {
        let _ = writeln!(diff.out, "# {} more changes are too large to show", diff.hidden);
    }
    diff.out
}

fn header(names: Names<'_>, empty: bool) -> String {
    let side = |side: char, name: Option<&str>| match name {
        Some(name) => format!("{side}/{}", name.trim_start_matches('/')),
        None => "/dev/null".into(),
    };
    let (old, new) = (side('a', names.old), side('b', names.new));
    let changed = format!("--- {old}\n+++ {new}\n");
    match (names.old, names.new) {
        (Some(from), Some(to)) if from != to => {
            let moved = format!("diff --git {old} {new}\nrename from {from}\nrename to {to}\n");
            if empty { moved } else { moved + &changed }
        }
        _ => changed,
    }
}

/// The whole lines that splices touch, each with its splices.
struct Blocks<'a> {
    text: &'a str,
    splices: &'a [Splice],
}

impl<'a> Iterator for Blocks<'a> {
    type Item = (Range<usize>, &'a [Splice]);

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.splices.first()?;
        // Splices lie in the text.
        let start = self.text[..first.start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = |at: usize| self.text[at..].find('\n').map_or(self.text.len(), |found| at + found + 1);
        let mut end = line_end(first.end);
        let mut count = 1;
        for splice in &self.splices[1..] {
            // What follows the end of the text belongs to its last line, if that has no break.
            let open = !self.text[start..end].ends_with('\n');
            if splice.start > end || (splice.start == end && !open) {
                break;
            }
            if splice.end >= end {
                end = line_end(splice.end);
            }
            count += 1;
        }
        let (own, rest) = self.splices.split_at(count);
        self.splices = rest;
        Some((start..end, own))
    }
}

/// Lines that change together with those around them.
struct Hunk {
    /// The first lines of it, counted from 0, and how many it has, in the old text and in the new.
    old: Range<usize>,
    new: Range<usize>,
    body: String,
    /// Where it ends in the old text so far.
    end: usize,
}

struct Diff<'a> {
    text: &'a str,
    out: String,
    hunk: Option<Hunk>,
    /// How many lines further down the new text is.
    shift: isize,
    hidden: usize,
}

impl Diff<'_> {
    fn add(&mut self, line: usize, block: Range<usize>, splices: &[Splice], limit: usize) {
        let around = lines_before(self.text, block.start).into_iter().chain(lines_after(self.text, block.end));
        let size = block.len()
            + splices.iter().map(|splice| splice.text.len()).sum::<usize>()
            + around.map(str::len).sum::<usize>();
        let shown = self.out.len() + self.hunk.as_ref().map_or(0, |hunk| hunk.body.len());
        if shown.saturating_add(size) > limit {
            self.close();
            self.hidden += 1;
            let lines = |text: &str| line_breaks(text) as isize;
            self.shift += splices
                .iter()
                .map(|splice| lines(&splice.text) - lines(&self.text[splice.start..splice.end]))
                .sum::<isize>();
            return;
        }
        let new = spliced(self.text, block.clone(), splices);
        // The block is a range of the text.
        let (mut old, mut new) = (lines(&self.text[block.clone()]), lines(&new));
        let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let before = old.drain(..head).map(str::len).sum::<usize>();
        new.drain(..head);
        let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
        old.truncate(old.len() - tail);
        new.truncate(new.len() - tail);
        if old.is_empty() && new.is_empty() {
            return;
        }
        self.change(line + head, block.start + before, &old, &new);
    }

    /// Puts a change into the hunk before it if that is near, or into a new one.
    fn change(&mut self, line: usize, start: usize, old: &[&str], new: &[&str]) {
        if self.hunk.as_ref().is_some_and(|hunk| line > hunk.old.end + 2 * CONTEXT) {
            self.close();
        }
        let shift = self.shift;
        let text = self.text;
        let hunk = self.hunk.get_or_insert_with(|| {
            let above = lines_before(text, start);
            let first = line - above.len();
            let at = first.saturating_add_signed(shift);
            let context = above.iter().map(|line| line.len()).sum::<usize>();
            Hunk { old: first..first, new: at..at, body: String::new(), end: start - context }
        });
        // A hunk ends before the next change begins.
        hunk.context(&lines(&text[hunk.end..start]));
        old.iter().for_each(|line| hunk.line('-', line));
        new.iter().for_each(|line| hunk.line('+', line));
        hunk.old.end += old.len();
        hunk.new.end += new.len();
        hunk.end = start + old.iter().map(|line| line.len()).sum::<usize>();
        self.shift += new.len() as isize - old.len() as isize;
    }

    /// Ends the hunk, if there is one, with the lines after it.
    fn close(&mut self) {
        let Some(mut hunk) = self.hunk.take() else { return };
        hunk.context(&lines_after(self.text, hunk.end).collect::<Vec<_>>());
        // Where there are no lines, the one before them is named.
        let range = |lines: &Range<usize>| match lines.len() {
            0 => format!("{},0", lines.start),
            1 => format!("{}", lines.start + 1),
            many => format!("{},{many}", lines.start + 1),
        };
        let _ = write!(self.out, "@@ -{} +{} @@\n{}", range(&hunk.old), range(&hunk.new), hunk.body);
    }
}

impl Hunk {
    fn context(&mut self, lines: &[&str]) {
        lines.iter().for_each(|line| self.line(' ', line));
        self.old.end += lines.len();
        self.new.end += lines.len();
        self.end += lines.iter().map(|line| line.len()).sum::<usize>();
    }

    fn line(&mut self, sign: char, line: &str) {
        self.body.push(sign);
        self.body.push_str(line);
        if !line.ends_with('\n') {
            self.body.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// The lines of a text, with their breaks.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The lines right before a position at which one begins.
fn lines_before(text: &str, at: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut end = at;
    while lines.len() < CONTEXT && end > 0 {
        // `end` is where a line begins.
        let above = &text[..end];
        let start = above.strip_suffix('\n').unwrap_or(above).rfind('\n').map_or(0, |found| found + 1);
        lines.insert(0, &above[start..]);
        end = start;
    }
    lines
}

/// The lines right after a position at which one begins.
fn lines_after(text: &str, at: usize) -> impl Iterator<Item = &str> {
    // It is a position in the text.
    text[at..].split_inclusive('\n').take(CONTEXT)
}

#[cfg(test)]
mod tests {
    use super::{super::splice::apply, *};
    use proptest::{collection::vec, prelude::*, sample::Index};

    const FILE: Names<'_> = Names { old: Some("f"), new: Some("f") };

    fn splice(start: usize, end: usize, text: &str) -> Splice {
        Splice { start, end, text: text.into() }
    }

    /// Applies a diff strictly: every line of it must be what the text has there.
    fn applied(old: &str, diff: &str) -> Option<String> {
        let (old, mut new) = (lines(old), Vec::new());
        let mut at = 0;
        let mut rows = diff.split_inclusive('\n').skip(2).peekable();
        while let Some(row) = rows.next() {
            let numbers = |sign: char| -> Option<(usize, usize)> {
                let part = row.split(' ').find(|part| part.starts_with(sign))?;
                let (start, count) = part[1..].split_once(',').unwrap_or((&part[1..], "1"));
                let count = count.parse().ok()?;
                Some((start.parse::<usize>().ok()? - usize::from(count > 0), count))
            };
            let ((start, removed), (place, added)) = (numbers('-')?, numbers('+')?);
            new.extend(old.get(at..start)?.iter().map(|line| (*line).to_owned()));
            at = start;
            if new.len() != place {
                return None;
            }
            while let Some(row) = rows.next_if(|row| !row.starts_with("@@")) {
                let mut line = row[1..].to_owned();
                if rows.next_if(|next| next.starts_with('\\')).is_some() {
                    line.pop();
                }
                if !row.starts_with('+') {
                    (*old.get(at)? == line).then_some(())?;
                    at += 1;
                }
                if !row.starts_with('-') {
                    new.push(line);
                }
            }
            (at == start + removed && new.len() == place + added).then_some(())?;
        }
        new.extend(old.get(at..)?.iter().map(|line| (*line).to_owned()));
        Some(new.concat())
    }

    #[test]
    fn a_change_is_shown_with_three_lines_around_it() {
        let text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let shown = diff(FILE, text, &[splice(8, 9, "five")], usize::MAX);
        assert_eq!(shown, "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
    }

    #[test]
    fn near_changes_share_a_hunk_and_far_ones_do_not() {
        let text = "a\n".repeat(20);
        let near = diff(FILE, &text, &[splice(0, 1, "b"), splice(14, 15, "b")], usize::MAX);
        assert_eq!(near.matches("@@ -").count(), 1, "{near}");
        assert!(near.contains("@@ -1,11 +1,11 @@"));
        let far = diff(FILE, &text, &[splice(0, 1, "b\nb"), splice(16, 17, "b")], usize::MAX);
        assert!(far.contains("@@ -1,4 +1,5 @@") && far.contains("@@ -6,7 +7,7 @@"), "{far}");
    }

    #[test]
    fn a_missing_last_line_break_is_shown() {
        let shown = diff(FILE, "a\nb", &[splice(3, 3, "\n")], usize::MAX);
        assert_eq!(shown, "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
        let shown = diff(FILE, "a\nb\n", &[splice(4, 4, "c")], usize::MAX);
        assert!(shown.ends_with("@@ -1,2 +1,3 @@\n a\n b\n+c\n\\ No newline at end of file\n"), "{shown}");
    }

    #[test]
    fn new_removed_and_renamed_files_have_their_headers() {
        let new = diff(Names { old: None, new: Some("d/n") }, "", &[splice(0, 0, "x\ny\n")], usize::MAX);
        assert_eq!(new, "--- /dev/null\n+++ b/d/n\n@@ -0,0 +1,2 @@\n+x\n+y\n");
        let gone = diff(Names { old: Some("/o"), new: None }, "x\n", &[splice(0, 2, "")], usize::MAX);
        assert_eq!(gone, "--- a/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n");
        let moved = diff(Names { old: Some("o"), new: Some("n") }, "x\n", &[], usize::MAX);
        assert_eq!(moved, "diff --git a/o b/n\nrename from o\nrename to n\n");
    }

    #[test]
    fn what_is_too_large_is_left_out_and_counted() {
        let text = format!("{}\n1\n2\n3\n4\nsmall\n", "x".repeat(5000));
        let shown = diff(FILE, &text, &[splice(0, 1, "y\n"), splice(5003, 5004, "t"), splice(5009, 5010, "t")], 1000);
        let expected = "--- a/f\n+++ b/f\n@@ -3,4 +4,4 @@\n 2\n 3\n 4\n-small\n+tmall\n";
        assert_eq!(shown, format!("{expected}# 2 more changes are too large to show\n"));
    }

    proptest! {
        #[test]
        fn a_diff_applied_to_the_old_text_gives_the_new(
            text in "([abä]{0,2}\r?\n?){0,30}",
            cuts in vec((any::<Index>(), "[ab\n]{0,4}"), 0..8),
        ) {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let mut at: Vec<usize> = cuts.iter().map(|(cut, _)| places[cut.index(places.len())]).collect();
            at.sort_unstable();
            let splices: Vec<Splice> =
                at.chunks_exact(2).zip(&cuts).map(|(ends, (_, new))| splice(ends[0], ends[1], new)).collect();
            let new = apply(&text, &splices);
            let shown = diff(FILE, &text, &splices, usize::MAX);
            prop_assert_eq!(applied(&text, &shown), Some(new), "{}", shown);
        }
    }
}
