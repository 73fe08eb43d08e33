//! Lines that are too long for a model.

/// What stands at the end of a line that was cut.
pub(crate) const MARK: &str = "... [truncated]";

/// Bytes that a line of so many characters may have, and one more character: who asks the host for these sees whether there is
/// more. A character has at most four.
pub(crate) const fn width(characters: usize) -> u32 {
    4 * (characters as u32 + 1)
}

/// The line, or as many characters of it; and what stands behind it, nothing or the mark.
pub(crate) fn cut(line: &str, characters: usize) -> (&str, &'static str) {
    let end = if line.len() <= characters { None } else { line.char_indices().nth(characters) };
    end.map_or((line, ""), |(at, _)| (&line[..at], MARK))
}

/// Adds the line as far as it is shown.
pub(crate) fn push(text: &mut String, line: &str, characters: usize) {
    let (shown, mark) = cut(line, characters);
    text.push_str(shown);
    text.push_str(mark);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_and_not_bytes() {
        assert_eq!(cut("ééé", 3), ("ééé", ""));
        assert_eq!(cut("éééé", 3), ("ééé", MARK));
        assert_eq!(cut("", 3), ("", ""));
    }

    #[test]
    fn the_width_shows_that_there_is_more() {
        let line = "😀".repeat(11);
        assert_eq!(cut(&line[..width(10) as usize], 10).1, MARK);
        assert!("😀".repeat(10).len() + "\r\n".len() <= width(10) as usize);
    }
}
