//! Typographic characters and the plain ones that are typed for them.

/// What stands for an em dash in plain text. People and models write both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dash {
    /// `--`
    Double,
    /// `-`
    Single,
}

/// A character in plain form: its bytes in UTF-8.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folded {
    bytes: [u8; 4],
    len: u8,
}

impl Folded {
    fn plain(text: &str) -> Self {
        let mut bytes = [0; 4];
        let len = text.len().min(bytes.len());
        // No plain form is longer than four bytes.
        bytes[..len].copy_from_slice(&text.as_bytes()[..len]);
        Self { bytes, len: len as u8 }
    }

    /// The bytes of the plain form.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// The plain form of a character; itself, where it has none. White space that is not ASCII becomes a space.
pub(super) fn fold(c: char, dash: Dash) -> Folded {
    let mut itself = [0; 4];
    Folded::plain(match c {
        '\u{2018}'..='\u{201b}' => "'",
        '\u{201c}'..='\u{201f}' => "\"",
        '\u{2010}'..='\u{2013}' | '\u{2212}' => "-",
        '\u{2014}' | '\u{2015}' if dash == Dash::Double => "--",
        '\u{2014}' | '\u{2015}' => "-",
        '\u{2026}' => "...",
        c if !c.is_ascii() && c.is_whitespace() => " ",
        c => c.encode_utf8(&mut itself),
    })
}

/// Whether two texts are the same in plain form.
pub(super) fn same(one: &str, other: &str, dash: Dash) -> bool {
    one == other || folded(one, dash).eq(folded(other, dash))
}

/// The bytes of a text in plain form.
pub(super) fn folded(text: &str, dash: Dash) -> impl Iterator<Item = u8> {
    text.chars().flat_map(move |c| {
        let folded = fold(c, dash);
        folded.bytes.into_iter().take(usize::from(folded.len))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typographic_and_plain_characters_are_the_same() {
        assert!(same("“it’s” – 5\u{a0}…", "\"it's\" - 5 ...", Dash::Double));
        assert!(same("a—b", "a--b", Dash::Double) && !same("a—b", "a-b", Dash::Double));
        assert!(same("a—b", "a-b", Dash::Single) && !same("a—b", "a--b", Dash::Single));
    }

    #[test]
    fn other_characters_stay_what_they_are() {
        assert!(!same("é", "e", Dash::Double));
        assert!(!same("a", "A", Dash::Double));
        assert!(!same("\t", " ", Dash::Double));
        assert_eq!(fold('𝄞', Dash::Double).as_bytes(), "𝄞".as_bytes());
    }
}
