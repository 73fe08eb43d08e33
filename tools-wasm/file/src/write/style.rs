//! How a file's lines end and whether it starts with a byte order mark: what a new content takes over from the old.

const MARK: &str = "\u{feff}";

/// Of an old file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    windows: bool,
    marked: bool,
}

impl Style {
    /// From the start of the old file.
    pub(super) fn of(head: &[u8]) -> Self {
        let breaks = memchr::memchr_iter(b'\n', head);
        let (windows, others): (Vec<usize>, Vec<usize>) = breaks.partition(|at| *at > 0 && head[at - 1] == b'\r');
        Self { windows: windows.len() > others.len(), marked: head.starts_with(MARK.as_bytes()) }
    }

    /// The content in this style.
    pub(super) fn apply(self, content: String) -> Vec<u8> {
        let marked = self.marked && !content.starts_with(MARK);
        if !self.windows && !marked {
            return content.into_bytes();
        }
        let mut bytes = Vec::with_capacity(content.len() + content.len() / 16 + MARK.len());
        if marked {
            bytes.extend_from_slice(MARK.as_bytes());
        }
        for line in content.split_inclusive('\n') {
            match line.strip_suffix('\n') {
                Some(text) if self.windows && !text.ends_with('\r') => {
                    bytes.extend_from_slice(text.as_bytes());
                    bytes.extend_from_slice(b"\r\n");
                }
                _ => bytes.extend_from_slice(line.as_bytes()),
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rewritten(old: &str, new: &str) -> String {
        String::from_utf8(Style::of(old.as_bytes()).apply(new.to_owned())).unwrap()
    }

    #[test]
    fn the_majority_of_the_line_endings_decides() {
        assert_eq!(rewritten("a\r\nb\r\nc\n", "x\ny"), "x\r\ny");
        assert_eq!(rewritten("a\r\nb\n", "x\ny"), "x\ny");
        assert_eq!(rewritten("one line", "x\ny"), "x\ny");
    }

    #[test]
    fn what_is_written_in_the_style_stays() {
        assert_eq!(rewritten("\u{feff}a\r\n", "\u{feff}x\r\ny\n"), "\u{feff}x\r\ny\r\n");
        assert_eq!(rewritten("a\n", "x\r\n"), "x\r\n");
    }

    proptest! {
        #[test]
        fn the_style_survives_and_the_text_too(text in "[^\r\u{feff}]{0,80}", windows: bool, marked: bool) {
            let style = Style { windows, marked };
            let bytes = style.apply(text.clone());
            let written = String::from_utf8(bytes.clone()).unwrap();
            prop_assert_eq!(written.starts_with('\u{feff}'), marked);
            prop_assert_eq!(written.trim_start_matches('\u{feff}').replace("\r\n", "\n"), text.clone());
            if text.contains('\n') {
                prop_assert_eq!(Style::of(&bytes), style);
            }
            prop_assert_eq!(style.apply(written), bytes);
        }
    }
}
