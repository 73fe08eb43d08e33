//! Where the lines of a hunk are in a file.

use super::{
    super::fold::{Dash, same},
    hunk::{Hunk, Reading},
    lines::{Lines, key},
};

/// Places of one hunk that are told apart.
const PLACES: usize = 1_000;

/// Lines that are compared for one hunk. A file that repeats itself has more places to compare than a call has fuel for.
const COMPARED: usize = 5_000_000;

/// In what lines may differ from those of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Nothing.
    Exact,
    /// White space at their ends.
    Trailing,
    /// White space on both sides.
    Trimmed,
    /// Typography too.
    Unicode,
}

/// Where a hunk can be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Located<'a> {
    pub(super) reading: Reading<'a>,
    pub(super) level: Level,
    /// First lines of places, in order. In a group, the first place that is free is meant; which group is meant must be clear.
    pub(super) groups: Vec<Vec<usize>>,
}

/// Looks for the lines of a hunk. `Err` with the hint if that is not there, or not above them; nothing if the lines are not there.
pub(super) fn locate<'a>(lines: &Lines<'_>, hunk: &Hunk<'a>) -> Result<Option<Located<'a>>, &'a str> {
    let hints = hint_lines(lines, &hunk.hints);
    let mut best: Option<(Reading<'a>, Level, Vec<usize>)> = None;
    for reading in hunk.readings() {
        if reading.old.is_empty() {
            return insertion(lines, hunk, reading, hints).map(Some);
        }
        if let Some((level, places)) = places(lines, &reading.old) {
            let rough = |level: Level| level > Level::Trailing;
            if best.as_ref().is_none_or(|(_, known, _)| rough(*known) && !rough(level)) {
                best = Some((reading, level, places));
            }
        }
    }
    let Some((reading, level, places)) = best else { return Ok(None) };
    let end = places.iter().find(|place| hunk.at_end && *place + reading.old.len() == lines.len());
    let groups = match (end, hunk.hints.last()) {
        (Some(end), _) => vec![vec![*end]],
        (None, None) => places.iter().map(|place| vec![*place]).collect(),
        // Where the lines are only elsewhere, who wrote the patch is mistaken about the file.
        (None, Some(hint)) => grouped(&places, &hints).ok_or(*hint)?,
    };
    Ok(Some(Located { reading, level, groups }))
}

/// Where lines are added that have nothing around them: after the hint, or at the end.
fn insertion<'a>(
    lines: &Lines<'_>,
    hunk: &Hunk<'a>,
    reading: Reading<'a>,
    hints: Vec<usize>,
) -> Result<Located<'a>, &'a str> {
    let groups = match hunk.hints.last() {
        Some(_) if !hints.is_empty() => hints.iter().map(|line| vec![line + 1]).collect(),
        Some(hint) => return Err(hint),
        None => vec![vec![lines.len()]],
    };
    Ok(Located { reading, level: Level::Exact, groups })
}

/// Places by the hint that they come after, if there are such.
fn grouped(places: &[usize], hints: &[usize]) -> Option<Vec<Vec<usize>>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut last = 0;
    for place in places {
        let before = hints.partition_point(|hint| hint <= place);
        match groups.last_mut() {
            _ if before == 0 => {}
            Some(group) if last == before => group.push(*place),
            _ => groups.push(vec![*place]),
        }
        last = before;
    }
    Some(groups).filter(|groups| !groups.is_empty())
}

/// The lines that a hint, or several inside each other, can mean.
fn hint_lines(lines: &Lines<'_>, hints: &[&str]) -> Vec<usize> {
    let mut found: Option<Vec<usize>> = None;
    for hint in hints {
        let all = one_hint(lines, hint);
        found = Some(match found {
            None => all,
            Some(outer) => {
                let inside = |(n, line): (usize, &usize)| {
                    let end = outer.get(n + 1).copied().unwrap_or(usize::MAX);
                    all.iter().copied().find(|inner| inner > line && *inner < end)
                };
                outer.iter().enumerate().filter_map(inside).collect()
            }
        });
    }
    found.unwrap_or_default()
}

/// The lines that are a hint: exactly, or apart from white space around them, or with more behind it.
fn one_hint(lines: &Lines<'_>, hint: &str) -> Vec<usize> {
    let wanted = key(hint);
    let mut found: Vec<usize> =
        (0..lines.len()).filter(|line| lines.keys().get(*line) == Some(&wanted)).take(PLACES).collect();
    if found.iter().any(|line| lines.get(*line) == hint) {
        found.retain(|line| lines.get(*line) == hint);
    }
    if found.is_empty() {
        found = (0..lines.len()).filter(|line| lines.get(*line).contains(hint)).take(PLACES).collect();
    }
    found
}

/// The places of some lines in the file at the strictest level that finds any.
fn places(lines: &Lines<'_>, old: &[&str]) -> Option<(Level, Vec<usize>)> {
    let wanted: Vec<u32> = old.iter().map(|line| key(line)).collect();
    // A line with something in it is rarer than an empty one.
    let pivot = old.iter().position(|line| !line.trim().is_empty()).unwrap_or(0);
    let first = wanted.get(pivot)?;
    let mut best: Option<(Level, Vec<usize>)> = None;
    let mut left = COMPARED;
    // The places that leave room for all lines, by the line that is the pivot there.
    let room = lines.keys().get(pivot..(lines.len() + 1 + pivot).checked_sub(old.len())?)?;
    for (place, _) in room.iter().enumerate().filter(|(_, key)| *key == first) {
        let alike = lines.keys()[place..].iter().zip(&wanted).take_while(|(one, other)| one == other).count();
        left = left.saturating_sub(alike + 1);
        if alike == wanted.len() {
            let mut compared = old.iter().enumerate().map(|(n, line)| level(line, lines.get(place + n)));
            let worst = compared.try_fold(Level::Exact, |worst, level| Some(worst.max(level?)));
            match (&mut best, worst) {
                (_, None) => {}
                (Some((known, _)), Some(level)) if *known < level => {}
                (Some((known, places)), Some(level)) if *known == level => places.push(place),
                (_, Some(level)) => best = Some((level, vec![place])),
            }
        }
        // So many places are not told apart, and then it does not matter how many more there are.
        if left == 0 || best.as_ref().is_some_and(|(_, places)| places.len() >= PLACES) {
            break;
        }
    }
    best
}

/// In what a line differs from one of the file. Nothing if in more than may be.
fn level(old: &str, found: &str) -> Option<Level> {
    if old == found {
        Some(Level::Exact)
    } else if old.trim_end() == found.trim_end() {
        Some(Level::Trailing)
    } else if old.trim() == found.trim() {
        Some(Level::Trimmed)
    } else {
        same(old.trim(), found.trim(), Dash::Double).then_some(Level::Unicode)
    }
}
