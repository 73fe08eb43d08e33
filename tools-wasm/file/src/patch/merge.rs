//! From edits of lines that a model wrote to splices of the file in which those lines were found.

use std::{borrow::Cow, ops::Range};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{
    align::Spelling,
    indent::Indents,
    splice::Splice,
    text::{begins_line, body, ending, indent, is_blank},
    tokens::tokens,
};

/// Pieces on both sides together up to which the least change is looked for. Beyond it a block is replaced as a whole.
const COMPARED: usize = 20_000;

/// Bytes before and after a passage that show the file's style of indentation.
const AROUND: usize = 16 << 10;

/// Lines of a model's text, and where they lie in a file.
#[derive(Debug)]
pub(super) struct Passage<'a> {
    pub(super) file: &'a str,
    /// Where the first line begins: at the start of a line of the file, or inside of one.
    pub(super) start: usize,
    /// Where the last line ends, before its line break.
    pub(super) end: usize,
    /// Where each line begins, and the one after the last, if that is where a line of the file begins.
    pub(super) bounds: Vec<Option<usize>>,
    pub(super) indents: Indents<'a>,
    /// How the lines are written in the file, if not as in the model's text.
    pub(super) spelling: Option<Spelling<'a>>,
}

/// Some lines in place of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

/// What must be done to turn some lines into others.
pub(super) fn edits(old: &[&str], new: &[&str]) -> Vec<Edit> {
    difference(old, new)
        .into_iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| Edit { old: op.old_range(), new: op.new_range() })
        .filter(|edit| !(edit.old.is_empty() && edit.new.is_empty()))
        .collect()
}

/// The least change, or nearly, that turns one list into another.
fn difference(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(one, other)| one == other).count();
    let head = same(&mut old.iter().zip(new));
    let tail = same(&mut old.iter().rev().zip(new.iter().rev())).min(old.len().min(new.len()) - head);
    let (old_len, new_len) = (old.len() - head - tail, new.len() - head - tail);
    let equal = |old_index, new_index, len| DiffOp::Equal { old_index, new_index, len };
    let mut ops = vec![equal(0, 0, head)];
    // Most changes are of one place, and the search for more of them takes its time.
    if old_len == 0 || new_len == 0 || old_len + new_len == 2 || old_len + new_len > COMPARED {
        ops.push(DiffOp::Replace { old_index: head, old_len, new_index: head, new_len });
    } else {
        // Both ends were counted in both lists.
        let middle = capture_diff_slices(Algorithm::Myers, &old[head..head + old_len], &new[head..head + new_len]);
        ops.extend(middle.into_iter().map(|op| match op {
            DiffOp::Equal { old_index, new_index, len } => equal(head + old_index, head + new_index, len),
            op => DiffOp::Replace {
                old_index: head + op.old_range().start,
                old_len: op.old_range().len(),
                new_index: head + op.new_range().start,
                new_len: op.new_range().len(),
            },
        }));
    }
    ops.push(equal(head + old_len, head + new_len, tail));
    ops
}

/// The splices that make the edits in the file. Lines that are not edited stay as they are there. Nothing if it is not certain how
/// deep a line must be indented.
pub(super) fn splices(passage: &Passage<'_>, old: &[&str], new: &[&str], edits: &[Edit]) -> Option<Vec<Splice>> {
    let mut all = Vec::new();
    for edit in widened(edits, &passage.bounds) {
        let lines = passage.lines(old, new, &edit)?;
        let (range, text) = passage.place(&edit, &lines);
        all.extend(Splice::trimmed(passage.file, range, &text));
    }
    Some(all)
}

/// Edits that begin and end where lines of the file do. Those that can't be told apart there become one.
fn widened(edits: &[Edit], bounds: &[Option<usize>]) -> Vec<Edit> {
    let bound = |line: usize| bounds.get(line).is_none_or(Option::is_some);
    let mut all: Vec<Edit> = Vec::new();
    for edit in edits {
        match all.last_mut() {
            Some(last) if !(last.old.end..=edit.old.start).any(bound) => {
                last.old.end = edit.old.end;
                last.new.end = edit.new.end;
            }
            _ => all.push(edit.clone()),
        }
    }
    let lines = bounds.len().saturating_sub(1);
    for edit in &mut all {
        while edit.old.start > 0 && !bound(edit.old.start) {
            edit.old.start -= 1;
            edit.new.start -= 1;
        }
        while edit.old.end < lines && !bound(edit.old.end) {
            edit.old.end += 1;
            edit.new.end += 1;
        }
    }
    all
}

impl Passage<'_> {
    fn bound(&self, line: usize) -> Option<usize> {
        self.bounds.get(line).copied().flatten()
    }

    /// The new lines of an edit, indented and spelled as in the file.
    fn lines(&self, old: &[&str], new: &[&str], edit: &Edit) -> Option<Vec<String>> {
        // Edits are ranges of these lines.
        let block = &new[edit.new.clone()];
        let contents = self.contents(old, block, edit);
        // A line that begins inside of one of the file has no indentation of its own.
        let open = usize::from(edit.old.start == 0 && self.bound(0).is_none());
        let depths: Vec<&str> =
            block.iter().skip(open).filter(|line| !is_blank(line)).map(|line| indent(line)).collect();
        let mut depths = self.indents.translate(&depths, self.around())?.into_iter();
        let line = |(n, (line, content)): (usize, (&&str, Cow<'_, str>))| match n < open {
            true => format!("{}{content}", indent(line)),
            false if is_blank(line) && self.indents.is_identity() => (*line).to_owned(),
            false if is_blank(line) => String::new(),
            false => depths.next().unwrap_or_default() + &content,
        };
        Some(block.iter().zip(contents).enumerate().map(line).collect())
    }

    /// The new lines without their indentation. What they have in common with the old ones is spelled as in the file.
    fn contents<'s>(&self, old: &[&str], block: &[&'s str], edit: &Edit) -> Vec<Cow<'s, str>> {
        let plain = || block.iter().map(|line| Cow::Borrowed(line.trim_start())).collect();
        let Some(spelling) = self.spelling.as_ref().filter(|_| !edit.old.is_empty()) else { return plain() };
        let mut at: usize = old.iter().take(edit.old.start).map(|line| line.len() + 1).sum();
        let (mut places, mut ours) = (Vec::new(), Vec::new());
        for line in &old[edit.old.clone()] {
            let mut place = at + indent(line).len();
            for token in tokens(line.trim_start()).chain(["\n"]) {
                places.push(place);
                ours.push(token);
                place += token.len();
            }
            at += line.len() + 1;
        }
        let theirs: Vec<&str> = block.iter().flat_map(|line| tokens(line.trim_start()).chain(["\n"])).collect();
        if ours.len() + theirs.len() > COMPARED {
            return plain();
        }
        let mut spelled: Vec<Option<&str>> = vec![None; theirs.len()];
        for op in difference(&ours, &theirs) {
            let DiffOp::Equal { old_index, new_index, len } = op else { continue };
            // White space alone is equal by chance. Equal ranges lie in both lists.
            if ours[old_index..old_index + len].iter().all(|token| is_blank(token)) {
                continue;
            }
            for n in 0..len {
                // The breaks are the model's.
                let token = ours[old_index + n];
                spelled[new_index + n] = spelling.of(token, places[old_index + n]).filter(|_| token != "\n");
            }
        }
        let words: Vec<&str> = spelled.iter().zip(&theirs).map(|(found, token)| found.unwrap_or(token)).collect();
        let whole = words.concat();
        whole.split('\n').take(block.len()).map(|line| Cow::Owned(line.to_owned())).collect()
    }

    /// What an edit replaces in the file, and by what.
    fn place(&self, edit: &Edit, lines: &[String]) -> (Range<usize>, String) {
        let start = self.bound(edit.old.start).unwrap_or(self.start);
        let last = edit.old.end + 1 == self.bounds.len();
        let after = self.bound(edit.old.end).unwrap_or(self.end);
        let ending = ending(self.file, start);
        let closed = || lines.iter().flat_map(|line| [line, ending]).collect::<String>();
        if !last || (edit.old.is_empty() && begins_line(self.file, after)) {
            return (start..after, closed());
        }
        match (lines.is_empty(), edit.old.is_empty()) {
            (true, _) if after > self.end && begins_line(self.file, start) => (start..after, String::new()),
            // The last line goes, and with it the break that led to it.
            (true, _) => (self.before_break(start)..self.end, String::new()),
            (false, true) => (after..after, lines.iter().flat_map(|line| [ending, line]).collect()),
            (false, false) => (start..self.end, lines.join(ending)),
        }
    }

    /// The position before the line break that leads here.
    fn before_break(&self, at: usize) -> usize {
        // `at` is a position in the file.
        let before = &self.file[body(self.file).min(at)..at];
        let content = before.strip_suffix('\n').map_or(before, |line| line.strip_suffix('\r').unwrap_or(line));
        at - (before.len() - content.len())
    }

    fn around(&self) -> &str {
        let inside = |at: &usize| self.file.is_char_boundary(*at);
        let from = (0..=self.start.saturating_sub(AROUND)).rev().find(inside).unwrap_or(0);
        let to = (self.end.saturating_add(AROUND).min(self.file.len())..=self.file.len()).find(inside);
        // Both are boundaries, and the passage lies between them.
        &self.file[from..to.unwrap_or(self.file.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::{super::splice::apply, *};
    use proptest::{collection::vec, prelude::*};

    #[test]
    fn the_least_change_is_found() {
        assert_eq!(
            edits(&["a", "b", "c", "d"], &["a", "x", "c", "d", "e"]),
            [Edit { old: 1..2, new: 1..2 }, Edit { old: 4..4, new: 4..5 },]
        );
        assert_eq!(edits(&["a"], &["a"]), []);
        assert_eq!(edits(&["a", "a"], &["a"]), [Edit { old: 1..2, new: 1..1 }]);
    }

    #[test]
    fn edits_reach_to_where_lines_of_the_file_begin() {
        let [one, two] = [Edit { old: 1..2, new: 1..3 }, Edit { old: 3..3, new: 4..5 }];
        let bounds = |known: &[usize]| (0..=4).map(|line| known.contains(&line).then_some(line)).collect::<Vec<_>>();
        assert_eq!(widened(&[one.clone(), two.clone()], &bounds(&[0, 1, 2, 3, 4])), [one.clone(), two.clone()]);
        assert_eq!(
            widened(&[one.clone(), two.clone()], &bounds(&[1, 2, 4])),
            [one.clone(), Edit { old: 2..4, new: 3..6 }]
        );
        assert_eq!(widened(&[one, two], &bounds(&[])), [Edit { old: 0..4, new: 0..6 }]);
    }

    proptest! {
        #[test]
        fn edited_lines_take_the_place_of_the_old_ones(
            before in vec("[ab]{0,2}", 0..3), old in vec("[ab]{0,2}", 1..6), after in vec("[ab]{0,2}", 0..3),
            new in vec("[ab]{0,2}", 0..6), known in vec(any::<bool>(), 7), crlf: bool,
        ) {
            let ending = if crlf { "\r\n" } else { "\n" };
            let text = |lines: &[String]| lines.iter().flat_map(|line| [line, ending]).collect::<String>();
            let file = [text(&before), text(&old), text(&after)].concat();
            let start = text(&before).len();
            let mut starts = vec![start];
            old.iter().for_each(|line| starts.push(starts[starts.len() - 1] + line.len() + ending.len()));
            let ends = [0, old.len()];
            let bounds = starts.iter().enumerate().map(|(n, at)| (ends.contains(&n) || known[n]).then_some(*at)).collect();
            let end = starts[old.len()] - ending.len();
            let passage = Passage { file: &file, start, end, bounds, indents: Indents::identity(), spelling: None };
            let ours: Vec<&str> = old.iter().map(String::as_str).collect();
            let theirs: Vec<&str> = new.iter().map(String::as_str).collect();
            let made = splices(&passage, &ours, &theirs, &edits(&ours, &theirs)).unwrap();
            prop_assert_eq!(apply(&file, &made), [text(&before), text(&new), text(&after)].concat());
        }
    }
}
