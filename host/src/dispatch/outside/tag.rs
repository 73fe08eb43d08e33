//! What counts as a tag.
//!
//! A tag is known by how it opens: whether it ever closes does not matter, since the text that follows may close it. So `<system`
//! at the end of a text is one. Everything is judged as a reader sees it: hidden characters are not there, and fullwidth and
//! small forms are what they look like.

use std::iter;

/// Names that chat formats and agents give meaning to.
const NAMES: [&str; 26] = [
    "tool_call",
    "tool_calls",
    "function_call",
    "function_calls",
    "tool_use",
    "tool_result",
    "tool_response",
    "invoke",
    "parameter",
    "result",
    "response",
    "output",
    "input",
    "system",
    "assistant",
    "user",
    "human",
    "developer",
    "think",
    "thinking",
    "function_results",
    "untrusted_tool_result",
    "system-reminder",
    "sys",
    "start_of_turn",
    "end_of_turn",
];

/// Names that some chat templates write in square brackets.
const SQUARE: [&str; 5] = ["INST", "TOOL_CALLS", "TOOL_RESULTS", "SYSTEM_PROMPT", "AVAILABLE_TOOLS"];

/// Names that are also those of types: in `Vec<Output>` nobody speaks. Names of roles are not among them.
const TYPES: [&str; 5] = ["Parameter", "Result", "Response", "Output", "Input"];

/// How a tag closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closes {
    /// With as many brackets as it opened with, one or two.
    Brackets(u8),
    /// With `|>`.
    Bar,
}

/// Whether a tag opens with an angle bracket before `rest`, and how it closes. `after_type` says that a capitalised word touches
/// the bracket. Looks no further than the second bracket from here, so that a text full of brackets takes linear time.
pub(super) fn angle(rest: impl Iterator<Item = char> + Clone, after_type: bool) -> Option<Closes> {
    if after_type && is_type(rest.clone()) {
        return None;
    }
    let mut inner = visible(rest.clone());
    if inner.next() == Some('<') {
        return single(inner).map(|_| Closes::Brackets(2));
    }
    single(visible(rest))
}

fn single(rest: impl Iterator<Item = char>) -> Option<Closes> {
    let mut rest = rest.peekable();
    if rest.peek() == Some(&'|') {
        return Some(Closes::Bar);
    }
    let (mut spaced, mut closing) = (false, false);
    while let Some(c) = rest.next_if(|c| c.is_whitespace() || *c == '/') {
        spaced |= c != '/';
        closing |= c == '/';
    }
    let name: String = iter::from_fn(|| rest.next_if(|c| in_name(*c))).collect();
    if name.is_empty() {
        return None;
    }
    // Any part counts: what stands before a colon may be a namespace, or the name itself.
    let is_tag = if name.split(':').any(is_name) {
        // `a < input` compares, unless it goes on like a tag.
        closing || !spaced || goes_on(rest)
    } else {
        // One letter is a tag only if there is nothing else in it.
        name.eq_ignore_ascii_case("s") && ends(rest, '>')
    };
    is_tag.then_some(Closes::Brackets(1))
}

/// Whether `[INST]`, `[/INST]` or another of them opens with a square bracket before `rest`.
pub(super) fn square(rest: impl Iterator<Item = char>) -> bool {
    let mut rest = visible(rest).skip_while(|c| c.is_whitespace() || *c == '/').peekable();
    let longest = SQUARE.iter().map(|name| name.len()).max().unwrap_or(0);
    let name: String = iter::from_fn(|| rest.next_if(|c| in_name(*c))).take(longest + 1).collect();
    SQUARE.iter().any(|square| square.eq_ignore_ascii_case(&name)) && ends(rest, ']')
}

/// `Output>` or `Output,` and the like, written plainly.
fn is_type(rest: impl Iterator<Item = char>) -> bool {
    let mut rest = rest.peekable();
    let name: String = iter::from_fn(|| rest.next_if(char::is_ascii_alphabetic)).collect();
    TYPES.contains(&name.as_str()) && matches!(rest.next(), Some('>' | ','))
}

/// Nothing but words up to the closing bracket or to an attribute's value.
fn goes_on(mut rest: impl Iterator<Item = char>) -> bool {
    let stop = rest.find(|c| !(in_name(*c) || c.is_whitespace() || matches!(c, '/' | '"' | '\'')));
    matches!(stop, Some('>' | '='))
}

fn ends(mut rest: impl Iterator<Item = char>, bracket: char) -> bool {
    rest.find(|c| !c.is_whitespace()).is_none_or(|c| c == bracket)
}

fn in_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':')
}

fn is_name(text: &str) -> bool {
    NAMES.iter().any(|name| name.eq_ignore_ascii_case(text))
}

/// The characters that a reader sees, as what they look like. Spaces and line ends are seen.
fn visible(text: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    text.filter(|c| c.is_whitespace() || !is_hidden(*c)).map(plain)
}

/// Fullwidth and small forms as the ASCII characters they look like.
pub(super) fn plain(c: char) -> char {
    match c {
        '﹤' => '<',
        '﹥' => '>',
        // Fullwidth forms stand in the order of ASCII.
        '！'..='～' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

/// Whether a character shows nothing, or is obeyed rather than shown.
pub(super) fn is_hidden(c: char) -> bool {
    // Most text is ASCII, and this is asked for every character.
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    // Asks for a coloured picture. Text elsewhere may have it, a tag has no use for it.
    c == '\u{fe0f}' || crate::text::is_hidden(c)
}
