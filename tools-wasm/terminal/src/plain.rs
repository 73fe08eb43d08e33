//! What a command printed, as a model reads it.

use anstream::adapter::strip_str;

/// The text without what a terminal obeys: colours, cursor moves, titles and control characters. Line ends and tabs stay.
pub(crate) fn plain(text: &str) -> String {
    strip_str(text).to_string()
}

/// The last characters of a text without escapes.
pub(crate) fn tail(text: &str, characters: usize) -> String {
    let text = plain(text);
    // The character that has all but one of the last ones behind it is the first of them.
    let from = text.char_indices().rev().nth(characters.saturating_sub(1)).map_or(0, |(at, _)| at);
    text.get(from..).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_are_gone_and_text_stays() {
        for (printed, read) in [
            ("\x1b[1;31mred\x1b[0m\tand \x1b]0;title\x07plain\r\n", "red\tand plain\r\n"),
            ("\x1b[2J\x1b[Hgrün \x1b[38;5;9m✓\x1b[m", "grün ✓"),
            ("\x1b]8;;http://a.example\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("50%\x08\x08\x08", "50%"),
            ("unfinished \x1b[3", "unfinished "),
        ] {
            assert_eq!(plain(printed), read, "{printed:?}");
        }
    }

    #[test]
    fn the_tail_is_counted_in_characters_that_are_seen() {
        assert_eq!(tail("eins zwei drü\x1b[0m", 3), "drü");
        assert_eq!(tail("ab", 3), "ab");
        assert_eq!(tail("", 3), "");
    }

    proptest! {
        #[test]
        fn no_escape_is_left_of_any_text(text in "(\\PC|\x1b|[\\[\\];0-9m\n]){0,40}") {
            prop_assert!(!plain(&text).contains('\x1b'));
        }

        #[test]
        fn what_holds_no_control_character_is_not_touched(text in "[\\PC\n\t]{0,40}", last in 1usize..50) {
            prop_assert_eq!(&plain(&text), &text);
            let tail = tail(&text, last);
            prop_assert!(text.ends_with(&tail));
            prop_assert_eq!(tail.chars().count(), text.chars().count().min(last));
        }
    }
}
