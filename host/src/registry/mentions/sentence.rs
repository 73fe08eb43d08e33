//! Where sentences end. "e.g. this", "3.5", `a. b` and (one. two.) do not end one; a line does, unless it was only wrapped.

use std::ops::Range;

/// Characters of a line that may have been wrapped. Shorter ones are lines of their own.
const WRAPPED: usize = 40;

/// Short forms after which a sentence goes on.
const SHORT_FORMS: [&str; 12] = ["e.g", "i.e", "eg", "ie", "vs", "cf", "approx", "incl", "max", "min", "resp", "fig"];

/// What may stand between the end of a sentence and the space after it.
const CLOSING: [char; 9] = ['"', '\'', '”', '’', '»', '`', ')', ']', '*'];

/// The sentences of one paragraph, without the space between them.
pub(super) fn sentences(text: &str, paragraph: Range<usize>) -> Vec<Range<usize>> {
    let body = &text[paragraph.clone()];
    let mut enclosed = enclosed(body).into_iter().peekable();
    let mut found = Vec::new();
    let mut start = 0;
    let mut push = |start: usize, end: usize| {
        let sentence = body[start..end].trim_start();
        let start = paragraph.start + end - sentence.len();
        if !sentence.trim_end().is_empty() {
            found.push(start..start + sentence.trim_end().len());
        }
    };
    for (at, c) in body.char_indices() {
        while enclosed.peek().is_some_and(|span| span.end <= at) {
            enclosed.next();
        }
        let span = enclosed.peek().filter(|span| span.contains(&at));
        // A sentence may end with what is enclosed, but not within it.
        let closes = |end: &usize| span.is_none_or(|span| *end > span.end && !goes_on_small(&body[*end..]));
        if at >= start
            && let Some(end) = end_at(body, start, at, c).filter(closes)
        {
            push(start, end);
            start = end;
        }
    }
    push(start, body.len());
    found
}

/// Whether a sentence goes on from one line to the next. One that starts with `name(`, `name:` or `name=` is another entry.
pub(super) fn is_wrapped(line: &str, next: &str) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let after_name = next.trim_start().trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    let is_entry = after_name.len() < next.trim_start().len() && after_name.starts_with(['(', ':', '=']);
    if is_entry || indent(next) < indent(line) {
        return false;
    }
    let line = line.trim();
    let ended = line.trim_end_matches(CLOSING).ends_with(['.', '!', '?', ':', ';', '…', '。', '！', '？', '：']);
    line.chars().count() >= WRAPPED && !ended && !next.trim_start().starts_with(char::is_uppercase)
}

/// Where the sentence that started at `start` ends, if the character at `at` ends it.
fn end_at(body: &str, start: usize, at: usize, c: char) -> Option<usize> {
    let rest = &body[at + c.len_utf8()..];
    match c {
        '\n' => {
            let line = body[..at].rsplit('\n').next().unwrap_or_default();
            (!is_wrapped(line, rest.lines().next().unwrap_or_default())).then_some(at)
        }
        '。' | '！' | '？' => Some(body.len() - rest.trim_start_matches(CLOSING).len()),
        // Of several, the last.
        '.' | '!' | '?' | '…' if !rest.starts_with(['.', '!', '?', '…']) => {
            let after = rest.trim_start_matches(CLOSING);
            let goes_on = c == '.' && goes_on(&body[start..at], after);
            ((after.is_empty() || after.starts_with(char::is_whitespace)) && !goes_on)
                .then_some(body.len() - after.len())
        }
        _ => None,
    }
}

/// Whether a full stop after `before` belongs to its last word.
fn goes_on(before: &str, after: &str) -> bool {
    let before = before.trim_start();
    let word = before.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | ',')).next().unwrap_or_default();
    let small = word.to_lowercase();
    let is_number_of_step = !word.is_empty() && word == before && word.bytes().all(|b| b.is_ascii_digit());
    let is_initial = word.len() == 1 && word.starts_with(|c: char| c.is_ascii_uppercase());
    let is_etc = small == "etc" && goes_on_small(after);
    SHORT_FORMS.contains(&small.as_str()) || is_number_of_step || is_initial || is_etc
}

fn goes_on_small(after: &str) -> bool {
    after.trim_start().starts_with(char::is_lowercase)
}

/// Code, quotations and brackets, outermost only. What is opened and never closed encloses nothing.
fn enclosed(body: &str) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut brackets = Vec::new();
    let mut quote: Option<(char, usize)> = None;
    for (at, c) in body.char_indices() {
        let span = match (c, quote) {
            ('`' | '"', None) => {
                quote = body[at + 1..].contains(c).then_some((c, at));
                None
            }
            (c, Some((open, start))) if c == open => {
                quote = None;
                Some(start..at)
            }
            ('(' | '[', None) => {
                brackets.push(at);
                None
            }
            (')' | ']', None) => brackets.pop().map(|start| start..at),
            _ => None,
        };
        if let Some(span) = span {
            spans.truncate(spans.partition_point(|inner| inner.start < span.start));
            spans.push(span);
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_a_reader_would_say() {
        for sentences in [
            &["Reads a file, e.g. a log.", "Version 3.5 works!", "Does it?", "Yes."][..],
            &["Use `a. b` or (one. two.) here.", "Say \"Stop. Now.\" twice.", "End"],
            &["Lists files, logs, etc. and more.", "Lists files, etc.", "Then stops…", "By J. Doe."],
            &["A smile :( is not a bracket.", "Nor is a lone ` mark.", "Nor 5\" wide."],
            &["1. Open it.", "2. Close it."],
            &["He said \"go.\"", "(All of it.)", "**Bold.**", "Done."],
        ] {
            let text = sentences.join(" ");
            let found: Vec<&str> =
                super::sentences(&text, 0..text.len()).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, sentences);
        }
    }

    #[test]
    fn a_line_is_a_sentence_unless_it_was_wrapped() {
        let text = "one line\nanother line\nThis line is long enough to have been wrapped\nby an editor\nEnd。次の文。";
        let found: Vec<&str> = sentences(text, 0..text.len()).into_iter().map(|range| &text[range]).collect();
        let wrapped = "This line is long enough to have been wrapped\nby an editor";
        assert_eq!(found, ["one line", "another line", wrapped, "End。", "次の文。"]);
        let long = "  first(of, many, things, that, are, listed, here)";
        assert!(is_wrapped(long, "  and goes on"));
        assert!(!is_wrapped(long, "  second(x)") && !is_wrapped(long, " less deep") && !is_wrapped(long, "  Upper"));
    }
}
