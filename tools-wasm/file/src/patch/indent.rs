//! From one style of indentation to another.
//!
//! Lines that were found in a file show how each indentation of theirs is written there. What is not shown is worked out from the
//! steps between them, and what can't be worked out is refused: a wrong guess changes what a program means.

use std::cmp::Ordering;

/// Columns from one tab stop to the next, for telling which of two indentations is deeper.
const TAB: usize = 8;

/// How indentations of a model's text are written in the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Indents<'a> {
    /// Each with its counterpart; the shallowest first.
    known: Vec<(&'a str, &'a str)>,
}

impl<'a> Indents<'a> {
    /// From the indentations of lines and of their counterparts in the file. Nothing if these contradict each other: lines that
    /// are equally deep in one must be so in the other, and deeper ones deeper.
    pub(super) fn new(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Option<Self> {
        let mut known: Vec<_> = pairs.into_iter().collect();
        known.sort_by_key(|(old, new)| (width(old), *old, *new));
        known.dedup();
        in_order(known.iter().copied()).then_some(Self { known })
    }

    /// No change at all.
    pub(super) fn identity() -> Self {
        Self { known: Vec::new() }
    }

    /// Whether indentation is the same in both.
    pub(super) fn is_identity(&self) -> bool {
        self.known.iter().all(|(old, new)| old == new)
    }

    /// These indentations as the file would write them, where that is certain. `around` is a piece of the file, for its style.
    pub(super) fn translate(&self, wanted: &[&str], around: &str) -> Option<Vec<String>> {
        if self.is_identity() {
            return Some(wanted.iter().map(|&indent| indent.to_owned()).collect());
        }
        let step = self.step(wanted, around);
        let translated: Option<Vec<String>> = wanted.iter().map(|indent| self.one(indent, step)).collect();
        let translated = translated?;
        let mut all = self.known.clone();
        all.extend(wanted.iter().copied().zip(translated.iter().map(String::as_str)));
        all.sort_by_key(|(old, new)| (width(old), *old, *new));
        all.dedup();
        in_order(all.into_iter()).then_some(translated)
    }

    fn one(&self, indent: &str, step: Option<(&str, &str)>) -> Option<String> {
        if let Some(shifted) = self.shifted(indent) {
            return Some(shifted);
        }
        let above = self.known.iter().rev().find_map(|(old, new)| Some((indent.strip_prefix(old)?, new)));
        if let Some((rest, new)) = above {
            return Some(format!("{new}{}", scale(rest, step)?));
        }
        let (rest, new) = self.known.iter().find_map(|(old, new)| Some((old.strip_prefix(indent)?, new)))?;
        new.strip_suffix(scale(rest, step)?.as_str()).map(str::to_owned)
    }

    /// What is certain where the whole text was only moved to the left or to the right. One depth alone does not show that.
    fn shifted(&self, indent: &str) -> Option<String> {
        let [(old, new), .., _] = self.known.as_slice() else { return None };
        if let Some(more) = new.strip_suffix(old) {
            let all = self.known.iter().all(|(old, new)| new.strip_prefix(more) == Some(old));
            return all.then(|| format!("{more}{indent}"));
        }
        let less = old.strip_suffix(new)?;
        let all = self.known.iter().all(|(old, new)| old.strip_prefix(less) == Some(new));
        all.then(|| indent.strip_prefix(less).map(str::to_owned))?
    }

    /// One level more in the model's text, and in the file: the smallest step between two known depths. Where only one is known, the
    /// smallest step in the model's text is what the file's own style has for a level.
    fn step<'s>(&self, wanted: &[&'s str], around: &'s str) -> Option<(&'s str, &'s str)>
    where
        'a: 's,
    {
        let [(old, new)] = self.known.as_slice() else {
            let pairs = self.known.iter().enumerate().flat_map(|(n, lower)| {
                self.known
                    .iter()
                    .skip(n + 1)
                    .filter_map(move |higher| Some((higher.0.strip_prefix(lower.0)?, higher.1.strip_prefix(lower.1)?)))
            });
            return pairs.min_by_key(|(from, _)| from.len());
        };
        let steps = wanted.iter().filter_map(|indent| indent.strip_prefix(old).or_else(|| old.strip_prefix(indent)));
        let from = steps.filter(|step| !step.is_empty()).min_by_key(|step| step.len())?;
        let to = if new.contains('\t') { Some("\t") } else { unit(around) };
        // A file that has no style of its own, or another one here, takes the model's.
        Some((from, to.filter(|to| new.is_empty() || to.starts_with(' ') || new.contains('\t')).unwrap_or(from)))
    }
}

/// So many levels of the file as `rest` has of the model's. What is less than a level stays as spaces.
fn scale(rest: &str, step: Option<(&str, &str)>) -> Option<String> {
    if rest.is_empty() {
        return Some(String::new());
    }
    let (from, to) = step?;
    let mut left = rest;
    let mut levels = 0;
    while let Some(less) = left.strip_prefix(from) {
        left = less;
        levels += 1;
    }
    let scaled = to.repeat(levels);
    if left.is_empty() {
        return Some(scaled);
    }
    if let (Some(' '), Some(' '), Some(c)) = (only(rest), only(from), only(to)) {
        let exact = rest.len() * to.len();
        if exact % from.len() == 0 {
            return Some(c.to_string().repeat(exact / from.len()));
        }
    }
    (only(left) == Some(' ')).then(|| scaled + left)
}

/// The character that a text consists of.
fn only(text: &str) -> Option<char> {
    let first = text.chars().next()?;
    text.chars().all(|c| c == first).then_some(first)
}

/// What one level of indentation is in a piece of a file: the step that lines take most often.
fn unit(around: &str) -> Option<&str> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let mut last = "";
    for line in around.lines().filter(|line| !super::text::is_blank(line)) {
        let indent = super::text::indent(line);
        let step = indent.strip_prefix(last).filter(|step| *step == "\t" || (2..=TAB).contains(&step.len()));
        if let Some(step) = step.filter(|step| only(step).is_some()) {
            match counts.iter_mut().find(|(known, _)| *known == step) {
                Some((_, count)) => *count += 1,
                None => counts.push((step, 1)),
            }
        }
        last = indent;
    }
    counts.into_iter().max_by_key(|(step, count)| (*count, std::cmp::Reverse(step.len()))).map(|(step, _)| step)
}

/// Whether pairs, sorted by the depth of the first, say one thing for each and keep what is deeper than what.
fn in_order<'s>(pairs: impl Iterator<Item = (&'s str, &'s str)> + Clone) -> bool {
    pairs.clone().zip(pairs.skip(1)).all(|(lower, higher)| match width(lower.0).cmp(&width(higher.0)) {
        Ordering::Less => width(lower.1) < width(higher.1),
        _ => width(lower.1) == width(higher.1) && lower.0 != higher.0,
    })
}

/// How many columns an indentation takes.
fn width(indent: &str) -> usize {
    indent.chars().fold(0, |width, c| if c == '\t' { width / TAB * TAB + TAB } else { width + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translate(known: &[(&str, &str)], wanted: &[&str], around: &str) -> Option<Vec<String>> {
        Indents::new(known.iter().copied()).unwrap().translate(wanted, around)
    }

    #[test]
    fn two_spaces_become_four_or_a_tab() {
        assert_eq!(
            translate(&[("", ""), ("  ", "    ")], &["    ", "      "], "").unwrap(),
            [" ".repeat(8), " ".repeat(12)]
        );
        assert_eq!(translate(&[("", ""), ("  ", "\t")], &["", "  ", "    "], "").unwrap(), ["", "\t", "\t\t"]);
        assert_eq!(translate(&[("\t", "  "), ("\t\t", "    ")], &["\t\t\t", ""], "").unwrap(), ["      ", ""]);
    }

    #[test]
    fn a_step_that_only_the_new_text_takes_is_worked_out() {
        assert_eq!(translate(&[("", ""), ("    ", "        ")], &["  "], "").unwrap(), ["    "]);
        assert_eq!(translate(&[("", ""), ("  ", "\t")], &["   "], "").unwrap(), ["\t "]);
    }

    #[test]
    fn moved_text_keeps_its_shape() {
        assert_eq!(
            translate(&[("", "    "), ("  ", "      ")], &["   ", "     "], "").unwrap(),
            [" ".repeat(7), " ".repeat(9)]
        );
        assert_eq!(translate(&[("    ", ""), ("      ", "  ")], &["         "], "").unwrap(), ["     "]);
        assert_eq!(translate(&[("    ", ""), ("      ", "  ")], &["  "], ""), None);
    }

    #[test]
    fn one_known_depth_takes_the_style_of_the_file() {
        let four = "a\n    b\n        c\n";
        assert_eq!(translate(&[("  ", "    ")], &["    ", ""], four).unwrap(), ["        ", ""]);
        assert_eq!(translate(&[("", "    ")], &["    "], four).unwrap(), ["        "]);
        assert_eq!(translate(&[("", "    ")], &["  "], four).unwrap(), ["        "]);
        assert_eq!(translate(&[("    ", "\t")], &["        "], "").unwrap(), ["\t\t"]);
        assert_eq!(translate(&[("  ", "    ")], &["    "], "no style\n").unwrap(), ["      "]);
    }

    #[test]
    fn contradictions_are_refused() {
        assert_eq!(Indents::new([("", ""), ("  ", "    "), ("", "    ")]), None);
        assert_eq!(Indents::new([("", "    "), ("  ", "    ")]), None);
        assert_eq!(Indents::new([("", "  "), ("  ", "")]), None);
    }

    #[test]
    fn what_can_not_be_worked_out_is_refused() {
        assert_eq!(translate(&[("  ", "    ")], &["\t"], ""), None);
        assert_eq!(translate(&[("    ", "  ")], &[""], "a\n    b\n"), None);
    }

    #[test]
    fn a_file_shows_its_step() {
        assert_eq!(unit("a\n\tb\n\t\tc\n"), Some("\t"));
        assert_eq!(unit("a\n  b\n\n      aligned\n  c\n    d\n"), Some("  "));
        assert_eq!(unit("a\nb\n"), None);
    }
}
