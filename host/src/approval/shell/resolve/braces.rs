//! `{a,b}` and `{1..3}`.

use crate::approval::shell::{limits::BRACES, syntax::Part};

/// A character outside quotes, or any other part of a word.
#[derive(Clone, Copy, Debug)]
pub(super) enum Atom<'a> {
    Char(char),
    Part(&'a Part),
}

/// The parts of a word, one atom for each bare character.
pub(super) fn atoms(parts: &[Part]) -> Vec<Atom<'_>> {
    let mut atoms = Vec::new();
    for part in parts {
        match part {
            Part::Bare(text) => atoms.extend(text.chars().map(Atom::Char)),
            part => atoms.push(Atom::Part(part)),
        }
    }
    atoms
}

/// The words that a word becomes; `None` if there are too many.
pub(super) fn expand(atoms: Vec<Atom<'_>>) -> Option<Vec<Vec<Atom<'_>>>> {
    let mut done = Vec::new();
    let mut waiting = vec![(atoms, 0)];
    while let Some((atoms, from)) = waiting.pop() {
        match group(&atoms, from) {
            None => done.push(atoms),
            Some((open, close, choices)) => {
                for choice in choices.into_iter().rev() {
                    let mut word = atoms.get(..open)?.to_vec();
                    word.extend(choice);
                    word.extend_from_slice(atoms.get(close + 1..)?);
                    waiting.push((word, open));
                }
            }
        }
        if done.len() + waiting.len() > BRACES {
            return None;
        }
    }
    Some(done)
}

type Group<'a> = (usize, usize, Vec<Vec<Atom<'a>>>);

/// The first brace expression at or after `from`.
fn group<'a>(atoms: &[Atom<'a>], from: usize) -> Option<Group<'a>> {
    let opens = (from..atoms.len()).filter(|at| matches!(atoms.get(*at), Some(Atom::Char('{'))));
    // More braces than this are not followed; the word then stays as it is, a name that no rule knows.
    for open in opens.take(BRACES) {
        let mut depth = 0usize;
        let mut commas = Vec::new();
        for at in open + 1..atoms.len() {
            match atoms.get(at) {
                Some(Atom::Char('{')) => depth += 1,
                Some(Atom::Char('}')) if depth > 0 => depth -= 1,
                Some(Atom::Char(',')) if depth == 0 => commas.push(at),
                Some(Atom::Char('}')) => {
                    let choices = if commas.is_empty() {
                        range(atoms.get(open + 1..at)?)
                    } else {
                        commas.push(at);
                        let starts = std::iter::once(open + 1).chain(commas.iter().map(|comma| comma + 1));
                        Some(starts.zip(&commas).filter_map(|(a, b)| atoms.get(a..*b).map(<[_]>::to_vec)).collect())
                    };
                    match choices {
                        Some(choices) => return Some((open, at, choices)),
                        None => break,
                    }
                }
                _ => {}
            }
        }
    }
    None
}

/// `1..9` and `a..e`, with at most as many values as one more than the limit.
fn range<'a>(inside: &[Atom<'a>]) -> Option<Vec<Vec<Atom<'a>>>> {
    let text: String = inside
        .iter()
        .map(|atom| if let Atom::Char(found) = atom { Some(*found) } else { None })
        .collect::<Option<_>>()?;
    let (first, rest) = text.split_once("..")?;
    let last = rest.split_once("..").map_or(rest, |(last, _)| last);
    let spell = |text: String| text.chars().map(Atom::Char).collect::<Vec<_>>();
    if let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let step = if first <= last { 1 } else { -1 };
        let count = (last.abs_diff(first)).min(BRACES as u64) as i64;
        return Some((0..=count).map(|at| spell((first + at * step).to_string())).collect());
    }
    let (mut a, mut b) = (first.chars(), last.chars());
    match (a.next(), a.next(), b.next(), b.next()) {
        (Some(a), None, Some(b), None) if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
            let (low, high) = (a.min(b), a.max(b));
            Some((low..=high).map(|found| vec![Atom::Char(found)]).collect())
        }
        _ => None,
    }
}
