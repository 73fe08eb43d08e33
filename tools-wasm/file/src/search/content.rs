//! Lines, files or counts by what the files hold.

use hermes_tool::fs::{self, Fault, Filter, Findings, Granularity, Hit, Reason, SearchQuery};
use hermes_tool::{Error, Result};

use super::paging::Paging;
use super::{Match, Mode, Searched};
use crate::{cut, missing};

/// Characters of a line that are shown: a match is found again by its number, and minified code fills no answer.
const MAX_LINE: usize = 500;

/// From so many matches on, they are grouped by file: naming the file again and again would be most of the answer.
const GROUPED_FROM: usize = 5;

/// Bytes of lines in one answer, as they stand in its JSON: below what the host passes on in one piece.
const MAX_TEXT: usize = 90_000;

const FORMAT: &str = "the path of a file on a line of its own, below it its lines as NUMBER:text for a match and NUMBER-text for \
    context; -- where lines are left out; an empty line between files";

pub(super) fn search(filter: Filter, pattern: String, mode: Mode, context: u32) -> Result<Searched> {
    let granularity = if mode == Mode::Content { Granularity::Lines } else { Granularity::Files };
    let context = if mode == Mode::Content { context } else { 0 };
    let query = SearchQuery { filter, pattern, granularity, context, width: cut::width(MAX_LINE) };
    let Findings { hits, files, total, total_files, masked, extent } =
        fs::search(&query).map_err(|fault| explain(fault, &query))?;
    let mut searched = Searched { total_count: total, ..Searched::default() };
    let mut paging = Paging { given: files.len() as u64, total: total_files, unit: "files" };
    match mode {
        Mode::Content => {
            paging = Paging { given: show(&mut searched, hits), total, unit: "matches" };
        }
        Mode::FilesOnly => {
            searched.total_count = total_files;
            searched.files = Some(files.into_iter().map(|tally| tally.path).collect());
        }
        Mode::Count => searched.counts = Some(files.into_iter().map(|tally| (tally.path, tally.count)).collect()),
    }
    paging.note(&mut searched, &query.filter, &extent);
    if masked > 0 {
        searched.warn(&format!(
            "secrets in these lines are masked: {masked}; what stands in their place is not in the files"
        ));
    }
    Ok(searched)
}

fn explain(fault: Fault, query: &SearchQuery) -> Error {
    match fault.reason {
        Reason::Invalid => fault.into(),
        _ => missing::explain(fault, &query.filter.path),
    }
}

/// Puts the lines into the answer, and says how many matches that were.
fn show(searched: &mut Searched, hits: Vec<Hit>) -> u64 {
    let matches = hits.iter().filter(|hit| hit.matches).count();
    if matches < GROUPED_FROM && matches == hits.len() {
        searched.matches = Some(hits.into_iter().map(alone).collect());
        return matches as u64;
    }
    let (text, given) = grouped(&hits);
    searched.matches_format = Some(FORMAT.into());
    searched.matches_text = Some(text);
    given as u64
}

fn alone(hit: Hit) -> Match {
    let mut content = String::with_capacity(hit.text.len());
    cut::push(&mut content, &hit.text, MAX_LINE);
    Match { path: hit.path, line: hit.number, content }
}

/// Bytes of a text in a JSON string.
fn in_json(text: &str) -> usize {
    let bytes = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\t' | b'\r' => 2,
        0..b' ' => 6,
        _ => 1,
    };
    text.bytes().map(bytes).sum()
}

/// The lines as [`FORMAT`] says, as many as fit, and how many of them are matches.
fn grouped(hits: &[Hit]) -> (String, usize) {
    let mut text = String::new();
    let mut digits = itoa::Buffer::new();
    let (mut given, mut size) = (0, 0);
    let mut last: Option<&Hit> = None;
    let with_context = hits.iter().any(|hit| !hit.matches);
    for hit in hits {
        let before = text.len();
        match last {
            Some(last) if last.path == hit.path => {
                text.push('\n');
                if with_context && last.number.saturating_add(1) != hit.number {
                    text.push_str("--\n");
                }
            }
            _ => {
                text.push_str(if last.is_some() { "\n\n" } else { "" });
                text.push_str(&hit.path);
                text.push('\n');
            }
        }
        text.push_str(digits.format(hit.number));
        text.push(if hit.matches { ':' } else { '-' });
        cut::push(&mut text, &hit.text, MAX_LINE);
        // The first match is always shown, so that there is a way on.
        size += in_json(&text[before..]);
        if size > MAX_TEXT && given > 0 {
            text.truncate(before);
            break;
        }
        given += usize::from(hit.matches);
        last = Some(hit);
    }
    (text, given)
}
