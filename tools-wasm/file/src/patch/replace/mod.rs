//! Replacing a text in a file that the model remembers more or less well.
//!
//! The exact text is searched first. If it is not there, one pass finds every place with the same characters in the same order,
//! whatever the white space and typography, and each place is judged by the strictest [`Strategy`] that allows for its
//! differences; the strictest that any place needs decides. So no strategy ever matches text that differs in substance: another
//! name, number, sign or string is no match, only a "did you mean". What may differ is said in [`gap`].

mod around;
mod escape;
mod exact;
mod fit;
mod gap;
mod mismatch;
mod scan;
mod strategy;
mod walk;
mod wanted;

use std::ops::{ControlFlow, Range};

pub(crate) use self::mismatch::{Mismatch, Refusal};
use self::{fit::Fit, strategy::Strategy, wanted::Wanted};
use super::{
    fold::Dash,
    near::near,
    splice::Splice,
    text::{BOM, body, line_number, line_numbers, unix},
};

/// Places of one text that are replaced at most. Each costs some memory, of which a guest has 64 MiB.
const PLACES: usize = 100_000;

/// Bytes of all new texts together, for the same reason.
const INSERTED: usize = 16 << 20;

/// Bytes of `old_string` up to which it is searched in other than the exact form. The search needs five times as much.
const FUZZY_BYTES: usize = 256 << 10;

/// Places that are replaced at most where the text is there in other form: each takes some ten thousand instructions, and a call has two
/// thousand million.
const FUZZY_PLACES: usize = 10_000;

/// Bytes that are compared to judge places, for the same reason. A text that repeats itself has more places with the same characters.
const JUDGED: usize = 1 << 20;

/// Bytes of a file up to which other readings of `old_string` are tried: with escapes undone, with another dash. Each is a pass
/// over the file.
const READINGS: usize = 2 << 20;

/// Line numbers that an error names.
const LINES: usize = 10;

/// A replacement that can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replaced {
    /// The changes of the file's text, in order, none overlapping another.
    pub(crate) splices: Vec<Splice>,
    /// The name of the strategy that found the text.
    pub(crate) strategy: &'static str,
    /// How many places were replaced.
    pub(crate) count: usize,
}

/// Replaces a text by another in one place, or in all of them. Both come with `\n` as line break; the file keeps its own.
pub(crate) fn replace(file: &str, old: &str, new: &str, all: bool) -> Result<Replaced, Mismatch> {
    let (old, new) = (unix(old), unix(new));
    let bare = |text: &str| text.len() - text.trim_start_matches(BOM).len();
    // Byte order marks are whole characters.
    let (old, new) = (&old[bare(&old)..], &new[bare(&new)..]);
    if old.is_empty() {
        return Err(Mismatch::Empty);
    }
    if old == new {
        return Err(Mismatch::Identical);
    }
    if let Some(replaced) = exactly(file, old, new, all)? {
        return Ok(replaced);
    }
    if old.len() <= FUZZY_BYTES {
        let found = Found::search(file, old, Dash::Double)?;
        if let Some(found) = found.as_ref().filter(|found| found.strategy < Strategy::EscapeNormalized) {
            return found.replace(file, new, all);
        }
        if file.len() <= READINGS {
            if let Some(replaced) = unescaped(file, old, new, all)? {
                return Ok(replaced);
            }
        }
        if let Some(found) = found {
            return found.replace(file, new, all);
        }
        if file.len() <= READINGS && [old, file].iter().any(|text| text.contains(['\u{2014}', '\u{2015}'])) {
            if let Some(found) = Found::search(file, old, Dash::Single)? {
                return found.replace(file, new, all);
            }
        }
    }
    Err(Mismatch::NotFound { near: near(file, old) })
}

/// The text as it was given.
fn exactly(file: &str, old: &str, new: &str, all: bool) -> Result<Option<Replaced>, Mismatch> {
    let places = exact::find(file, old, PLACES + 1);
    if places.is_empty() {
        return Ok(None);
    }
    check(file, &places, new, all, Strategy::Exact)?;
    let splices = exact::splices(file, &places, old, new);
    Ok(Some(Replaced { splices, strategy: Strategy::Exact.name(), count: places.len() }))
}

/// The text without escapes that are too many.
fn unescaped(file: &str, old: &str, new: &str, all: bool) -> Result<Option<Replaced>, Mismatch> {
    for reading in escape::readings(old, new) {
        let places = exact::find(file, &reading.old, PLACES + 1);
        let found = match places.is_empty() {
            true => Found::search(file, &reading.old, Dash::Double)?
                .filter(|found| found.strategy < Strategy::EscapeNormalized),
            false => Wanted::new(&reading.old, Dash::Double).map(|wanted| Found {
                wanted,
                strategy: Strategy::Exact,
                places,
            }),
        };
        let Some(found) = found else { continue };
        let Some(first) = found.places.first() else { continue };
        // Places are ranges of the file.
        let line = line_number(file, first.start);
        let certain = reading.new.filter(|new| !escape::adds_escapes(new, &file[first.clone()]));
        let Some(new) = certain else { return Err(Mismatch::Refused { line, why: Refusal::Escapes }) };
        if new == reading.old {
            return Err(Mismatch::Unchanged { line });
        }
        let replaced = match found.strategy {
            Strategy::Exact => exactly(file, &reading.old, &new, all)?,
            _ => Some(found.replace(file, &new, all)?),
        };
        return Ok(replaced.map(|replaced| Replaced { strategy: Strategy::EscapeNormalized.name(), ..replaced }));
    }
    Ok(None)
}

/// Whether so many places can be meant, and replaced.
fn check(file: &str, places: &[Range<usize>], new: &str, all: bool, strategy: Strategy) -> Result<(), Mismatch> {
    if places.len() > PLACES {
        return Err(Mismatch::TooMany);
    }
    if places.len() > 1 && !all {
        let lines = line_numbers(file, places.iter().take(LINES).map(|place| place.start)).collect();
        return Err(Mismatch::Several { strategy: strategy.name(), count: places.len(), lines });
    }
    if new.len().saturating_mul(places.len()) > INSERTED {
        return Err(Mismatch::TooLarge);
    }
    Ok(())
}

/// The places of a text, all of them in need of the same strategy.
struct Found<'a> {
    wanted: Wanted<'a>,
    strategy: Strategy,
    places: Vec<Range<usize>>,
}

impl<'a> Found<'a> {
    fn search(file: &str, old: &'a str, dash: Dash) -> Result<Option<Self>, Mismatch> {
        let Some(wanted) = Wanted::new(old, dash) else { return Ok(None) };
        let mut best: Option<(Strategy, Vec<Range<usize>>)> = None;
        let mut left = JUDGED;
        let mut ended = false;
        wanted.pattern.search(file, body(file), |place| {
            let cost = place.len() + wanted.text.len();
            ended = cost > left || best.as_ref().is_some_and(|(_, places)| places.len() > FUZZY_PLACES);
            if ended {
                return ControlFlow::Break(());
            }
            left -= cost;
            if let Some(strategy) = Fit::new(&wanted, file, place.clone()).map(|fit| fit.strategy()) {
                match &mut best {
                    Some((known, _)) if *known < strategy => {}
                    Some((known, places)) if *known == strategy => places.push(place),
                    _ => best = Some((strategy, vec![place])),
                }
            }
            ControlFlow::Continue(())
        });
        if ended {
            return Err(Mismatch::TooMany);
        }
        Ok(best.map(|(strategy, places)| Self { wanted, strategy, places: apart(places) }))
    }

    fn replace(&self, file: &str, new: &str, all: bool) -> Result<Replaced, Mismatch> {
        check(file, &self.places, new, all, self.strategy)?;
        let (mut splices, mut count): (Vec<Splice>, usize) = (Vec::new(), 0);
        for place in &self.places {
            let made = Fit::new(&self.wanted, file, place.clone()).and_then(|fit| fit.splices(&self.wanted, new));
            let refused = || Mismatch::Refused { line: line_number(file, place.start), why: Refusal::Indentation };
            let made = made.ok_or_else(refused)?;
            // Two places may share the white space between them; it goes with the first.
            let free = splices.last().map_or(0, |splice| splice.end);
            if made.first().is_none_or(|splice| splice.start >= free) {
                splices.extend(made);
                count += 1;
            }
        }
        match self.places.first() {
            Some(place) if splices.is_empty() => Err(Mismatch::Unchanged { line: line_number(file, place.start) }),
            _ => Ok(Replaced { splices, strategy: self.strategy.name(), count }),
        }
    }
}

/// Without those that overlap one before them.
fn apart(mut places: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut free = 0;
    places.retain(|place| {
        let kept = place.start >= free;
        free = if kept { place.end } else { free };
        kept
    });
    places
}

#[cfg(test)]
mod tests;
