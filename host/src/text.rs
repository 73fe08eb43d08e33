//! Text that comes from a guest, made fit for a terminal, a log line or a model.

/// What stands where text was cut.
const CUT: &str = "… [cut]";

/// At most `max` bytes of `text`, cut at a character, with a mark where it was cut.
pub(crate) fn cut(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(max.saturating_sub(CUT.len()));
    format!("{}{CUT}", &text[..end])
}

/// Whether a name can be a component's, a tool's or a toolset's: 1 to 64 of `[A-Za-z0-9_-]`.
pub fn valid_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Control characters gone (terminal escapes, bidirectional overrides, NULs), line ends and tabs kept.
pub(crate) fn printable(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !is_hidden(*c)).collect()
}

/// One printable line of at most `max` bytes.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    // Most names and ids are plain words, and this is asked for every call.
    if text.len() <= max && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return text.to_owned();
    }
    // Cut first: the text may be as large as the guest's memory.
    let text = cut(text, max);
    printable(&text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a character is obeyed rather than shown by a terminal, changes how text around it is shown, or shows nothing: such
/// characters hide text from a reader but not from a model.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0e}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_never_splits_a_character_and_never_exceeds_the_bound() {
        let text = "ä".repeat(100);
        for max in 0..150 {
            assert!(cut(&text, max).len() <= max.max(CUT.len()));
        }
        assert_eq!(cut("short", 5), "short");
    }

    #[test]
    fn terminal_escapes_and_hidden_characters_are_gone() {
        assert_eq!(one_line("\u{1b}[31mred\u{1b}[0m\n\u{202e}evil\u{200b}", 100), "[31mred[0m evil");
    }
}
