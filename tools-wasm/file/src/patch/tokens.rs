//! Lines cut into words, spaces and signs.

/// The pieces of a line: words, runs of white space, `...` and `--` as they stand for one typographic sign, and single
/// characters. Together they are the line.
pub(super) fn tokens(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let run = |belongs: fn(char) -> bool| rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        let len = if is_word(first) {
            run(is_word)
        } else if first.is_whitespace() {
            run(char::is_whitespace)
        } else {
            let sign = ["...", "--"].into_iter().find(|sign| rest.starts_with(sign));
            sign.map_or(first.len_utf8(), str::len)
        };
        let (token, after) = rest.split_at(len);
        rest = after;
        Some(token)
    })
}

/// Whether a character is part of a word: a name or a number.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_into_words_spaces_and_signs() {
        let cut: Vec<&str> = tokens("if a_1 ==\u{a0} b{...}--é").collect();
        assert_eq!(cut, ["if", " ", "a_1", " ", "=", "=", "\u{a0} ", "b", "{", "...", "}", "--", "é"]);
        assert_eq!(tokens("").next(), None);
    }
}
