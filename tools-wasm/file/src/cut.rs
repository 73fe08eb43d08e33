//! Lines that are too long for a model.

/// What stands at the end of a line that was cut.
pub(crate) const MARK: &str = "... [truncated]";

/// Bytes that a line of so many characters may have, and one more character: who asks the host for these sees whether there is
/// more. A character has at most four.
pub(crate) const fn width(characters: usize) -> u32 {
    4 * (characters as u32 + 1)
}

/// Adds the line, or as many characters of it and the mark. Says whether it was cut.
pub(crate) fn push(text: &mut String, line: &str, characters: usize) -> bool {
    let end = if line.len() <= characters { None } else { line.char_indices().nth(characters) };
    match end {
        Some((at, _)) => {
            text.push_str(&line[..at]);
            text.push_str(MARK);
            true
        }
        None => {
            text.push_str(line);
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(line: &str, characters: usize) -> (String, bool) {
        let mut text = String::new();
        let cut = push(&mut text, line, characters);
        (text, cut)
    }

    #[test]
    fn characters_are_counted_and_not_bytes() {
        assert_eq!(cut("ééé", 3), ("ééé".into(), false));
        assert_eq!(cut("éééé", 3), ("ééé... [truncated]".into(), true));
        assert_eq!(cut("", 3), (String::new(), false));
    }

    #[test]
    fn the_width_shows_that_there_is_more() {
        let line = "😀".repeat(11);
        assert!(cut(&line[..width(10) as usize], 10).1);
        assert!("😀".repeat(10).len() + "\r\n".len() <= width(10) as usize);
    }
}
