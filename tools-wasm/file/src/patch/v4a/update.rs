//! From hunks to splices of one text.

use super::{
    super::{
        align::Spelling,
        fold::Dash,
        indent::Indents,
        merge::{self, Passage},
        near::{LOOKED_AT, Snippet, near},
        splice::Splice,
        text::{content_end, ending, indent, is_blank},
    },
    Hunk, Why,
    assign::{Assigned, Choice, assign},
    lines::Lines,
    locate::{Level, Located, locate},
};

/// Line numbers that a failure names.
const NAMED: usize = 10;

/// The splices that make all changes of a file, or what is wrong with which of them, by the line of the patch. `allowed` is how
/// many bytes may still be searched for what resembles a hunk.
pub(super) fn update(text: &str, hunks: &[Hunk<'_>], allowed: &mut usize) -> Result<Vec<Splice>, Vec<(usize, Why)>> {
    let line = hunks.first().map_or(0, |hunk| hunk.line);
    let lines = Lines::new(text).ok_or_else(|| vec![(line, Why::TooManyLines)])?;
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for hunk in hunks {
        match locate(&lines, hunk) {
            Ok(Some(located)) => found.push((hunk, located)),
            Ok(None) => wrong.push((hunk.line, Why::NotFound(resembling(text, hunk, allowed)))),
            Err(hint) => wrong.push((hunk.line, Why::NoHint(hint.to_owned()))),
        }
    }
    let choices: Vec<Choice<'_>> =
        found.iter().map(|(_, at)| Choice { groups: &at.groups, changed: at.reading.changed() }).collect();
    let mut splices = Vec::new();
    let assigned = assign(&choices);
    // A hunk that has no place makes others unclear that would not be.
    let complete = wrong.is_empty() && !assigned.contains(&Assigned::Late);
    for ((hunk, located), assigned) in found.iter().zip(assigned) {
        let numbers = || located.groups.iter().flatten().take(NAMED).map(|place| place + 1).collect();
        match assigned {
            Assigned::At(place) => match change(&lines, hunk, located, place) {
                Some(made) => join(&mut splices, made),
                None => wrong.push((hunk.line, Why::Indentation(place + 1))),
            },
            Assigned::Unclear if complete => wrong.push((hunk.line, Why::Several(numbers()))),
            Assigned::Unclear => {}
            Assigned::Late => wrong.push((hunk.line, Why::Order(numbers()))),
        }
    }
    if wrong.is_empty() { Ok(splices) } else { Err(wrong) }
}

/// Adds the splices of the next hunk. If that takes the last line of the file, it must not take its break from the hunk before.
fn join(splices: &mut Vec<Splice>, mut made: Vec<Splice>) {
    let free = splices.last().map_or(0, |splice| splice.end);
    made.iter_mut().take(1).for_each(|splice| splice.start = splice.start.max(free));
    splices.append(&mut made);
}

fn resembling(text: &str, hunk: &Hunk<'_>, allowed: &mut usize) -> Vec<Snippet> {
    let Some(left) = allowed.checked_sub(text.len().min(LOOKED_AT)) else { return Vec::new() };
    *allowed = left;
    near(text, &hunk.readings().first().map(|reading| reading.old.join("\n")).unwrap_or_default())
}

/// The splices of one hunk. Nothing if it is not certain how deep its lines must be indented.
fn change(lines: &Lines<'_>, hunk: &Hunk<'_>, located: &Located<'_>, place: usize) -> Option<Vec<Splice>> {
    let reading = &located.reading;
    let (text, count) = (lines.text, reading.old.len());
    let start = lines.start(place);
    let end = if count == 0 { start } else { content_end(text, lines.start(place + count - 1)) };
    let found = |n: usize| lines.get(place + n);
    let indents = if located.level < Level::Trimmed {
        Indents::identity()
    } else {
        let solid = reading.old.iter().enumerate().filter(|(_, line)| !is_blank(line));
        Indents::new(solid.map(|(n, line)| (indent(line), indent(found(n)))))?
    };
    let spelling = (located.level == Level::Unicode)
        .then(|| Spelling::new(&reading.old.join("\n"), text, start..end, Dash::Double));
    let bounds = (0..=count).map(|n| Some(lines.start(place + n))).collect();
    let passage = Passage { file: text, start, end, bounds, indents, spelling };
    let mut splices = merge::splices(&passage, &reading.old, &reading.new, &reading.edits)?;
    if place + count == lines.len() {
        end_bare(text, hunk, &mut splices);
    }
    Some(splices)
}

/// Takes the last line break away, or adds it, where the hunk says so.
fn end_bare(text: &str, hunk: &Hunk<'_>, splices: &mut Vec<Splice>) {
    let (len, broken) = (text.len(), text.ends_with('\n'));
    match hunk.bare {
        (_, true) => match splices.last_mut() {
            // New lines after the last one come each with its break.
            Some(last) if last.end == len => {
                let content = last.text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text).len());
                last.text.truncate(content.unwrap_or(last.text.len()));
            }
            _ if broken => {
                // The break is one or two bytes.
                let start = if text.ends_with("\r\n") { len - 2 } else { len - 1 };
                splices.push(Splice { start, end: len, text: String::new() });
            }
            _ => {}
        },
        (true, false) if !broken => {
            splices.push(Splice { start: len, end: len, text: ending(text, len).to_owned() });
        }
        _ => {}
    }
}
