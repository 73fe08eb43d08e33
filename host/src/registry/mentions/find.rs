//! What counts as naming a tool. Some tools are called like plain English words (process, memory, patch), so a word alone is a
//! mention only if it can't be English.

use std::ops::Range;

use super::ANOTHER;

/// What marks a word as a name when it stands on both sides.
const MARKS: [char; 11] = ['`', '"', '\'', '‘', '’', '‚', '“', '”', '„', '«', '»'];

/// Where the names are of which `absent` says that they must not be there.
pub(super) fn mentions(text: &str, absent: &dyn Fn(&str) -> bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for word in words(text) {
        if is_named(text, &word) && absent(&text[word.clone()]) {
            found.push(word);
            continue;
        }
        // `read_file-style` names read_file; `terminal-style` is English.
        let mut start = word.start;
        for part in text[word].split('-') {
            if part.contains('_') && absent(part) {
                found.push(start..start + part.len());
            }
            start += part.len() + 1;
        }
    }
    found
}

/// The whole phrase that names the tool: "the `terminal` tool" and not only "terminal".
pub(super) fn phrase(text: &str, name: Range<usize>) -> Range<usize> {
    let Range { mut start, mut end } = name;
    if let Some(arguments) = text[end..].strip_prefix('(') {
        end = arguments.find(')').map_or(end + 1, |at| end + 1 + at + 1);
    }
    let is_mark = |c: char| MARKS.contains(&c) || c == '*';
    while let Some((before, after)) = text[..start].chars().next_back().zip(text[end..].chars().next())
        && is_mark(before)
        && is_mark(after)
    {
        (start, end) = (start - before.len_utf8(), end + after.len_utf8());
    }
    if let Some(tool) = word_after(text, end).filter(|word| is_tool(&text[word.clone()])) {
        end = tool.end;
    }
    if let Some(tool) = word_before(text, start).filter(|word| is_tool(&text[word.clone()])) {
        start = if text[..tool.end].ends_with(ANOTHER) { tool.end - ANOTHER.len() } else { tool.start };
    }
    let article = |word: &Range<usize>| ["the", "a", "an"].contains(&text[word.clone()].to_ascii_lowercase().as_str());
    word_before(text, start).filter(article).map_or(start, |word| word.start)..end
}

/// Names are ASCII. A letter with a case beside one makes it part of another word; scripts without spaces have no such letters.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find(is_name)?;
            let end = text[start..].find(|c| !is_name(c)).map_or(text.len(), |length| start + length);
            at = end;
            let inner = text[start..end].trim_start_matches('-');
            let start = end - inner.len();
            let end = start + inner.trim_end_matches('-').len();
            let cased = |c: Option<char>| c.is_some_and(|c| c.is_lowercase() || c.is_uppercase());
            if start < end && !cased(text[..start].chars().next_back()) && !cased(text[end..].chars().next()) {
                return Some(start..end);
            }
        }
    })
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn is_named(text: &str, word: &Range<usize>) -> bool {
    let (before, name, after) = (&text[..word.start], &text[word.clone()], &text[word.end..]);
    let marked = before.ends_with(MARKS) && after.starts_with(MARKS);
    // "process(es)" is a plural.
    let called = after.starts_with('(') && !after.starts_with("(s)") && !after.starts_with("(es)");
    let beside = || {
        let next = word_after(text, word.end).is_some_and(|word| is_tool(&text[word]));
        let last = word_before(text, word.start).is_some_and(|word| text[word].eq_ignore_ascii_case("tool"));
        // The words of the phrase itself, whatever tools are called.
        (next || last) && !is_tool(name) && !name.eq_ignore_ascii_case("another")
    };
    name.contains('_') || marked || called || beside()
}

fn is_tool(word: &str) -> bool {
    word.eq_ignore_ascii_case("tool") || word.eq_ignore_ascii_case("tools")
}

/// The next word, if only space or emphasis is between, and at most one line end: a wrapped line, but not a paragraph.
fn word_after(text: &str, end: usize) -> Option<Range<usize>> {
    let rest = &text[end..];
    let gap = rest.find(|c: char| !c.is_whitespace() && c != '*')?;
    let word = words(&rest[gap..]).next().filter(|word| word.start == 0)?;
    is_gap(&rest[..gap]).then_some(end + gap..end + gap + word.end)
}

fn word_before(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = text[..start].trim_end_matches(|c: char| c.is_whitespace() || c == '*');
    let word = rest.trim_end_matches(is_name).len()..rest.len();
    (!word.is_empty() && is_gap(&text[rest.len()..start])).then_some(word)
}

fn is_gap(between: &str) -> bool {
    between.contains(char::is_whitespace) && between.matches('\n').count() < 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let absent = |name: &str| ["terminal", "process", "memory", "patch", "web_search", "web-fetch"].contains(&name);
        mentions(text, &absent).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn names_are_told_from_words() {
        for (text, expected) in [
            ("Run it in `terminal`, \"process\" or “memory”.", &["terminal", "process", "memory"][..]),
            ("Call terminal(\"ls\") or patch().", &["terminal", "patch"]),
            (
                "Use the terminal tool, the process\n tools, the **memory** tool or Tool patch.",
                &["terminal", "process", "memory", "patch"],
            ),
            ("Use web_search, web_search-style, 用web_search吧.", &["web_search"; 3]),
            ("Use 'web-fetch' or the web-fetch tool.", &["web-fetch"; 2]),
            ("A process in a terminal may patch its memory.", &[]),
            ("Lists process(es) and patch (or not). A tool\n\nprocess", &[]),
            ("terminal-based, web_searches, my_web_search, überweb_search, web-fetch", &[]),
            ("Those tools process data. The terminal's toolbox.", &[]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn the_phrase_is_what_names_the_tool() {
        for (text, expected) in [
            ("Use the `terminal` tool now", "the `terminal` tool"),
            ("Use terminal(\"ls\") now", "terminal(\"ls\")"),
            ("Use `terminal(` now", "`terminal(` "),
            ("Use a tool **'terminal'** now", "a tool **'terminal'**"),
        ] {
            let name = text.find("terminal").unwrap();
            assert_eq!(&text[phrase(text, name..name + "terminal".len())], expected.trim_end(), "{text}");
        }
    }
}
