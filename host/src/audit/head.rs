//! `audit.head`: where the log ended last.

use std::{fmt, fs::File, io, os::unix::fs::FileExt};

use super::chain::Link;

/// The size never changes, so that writing it in place leaves nothing of what was there.
const BYTES: usize = 107;

/// The last line and the length of the log after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) link: Link,
    pub(super) len: u64,
}

impl Head {
    /// That of a log without lines.
    pub(super) fn start() -> Self {
        Self { link: Link::start(), len: 0 }
    }

    /// Reads it; none where it is empty or not one.
    pub(super) fn read(file: &File) -> io::Result<Option<Self>> {
        let mut bytes = [0; BYTES + 1];
        let count = file.read_at(&mut bytes, 0)?;
        Ok(str::from_utf8(&bytes[..count]).ok().and_then(Self::parse))
    }

    /// Writes it over the one before, with one write.
    pub(super) fn write(&self, file: &File) -> io::Result<()> {
        file.write_all_at(self.to_string().as_bytes(), 0)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim_end().split(' ');
        let (seq, hash, len) = (parts.next()?, parts.next()?, parts.next()?);
        let head = Self { link: Link { seq: seq.parse().ok()?, hash: hash.into() }, len: len.parse().ok()? };
        // It becomes part of the next line, so it must be what it says.
        let hex = hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        (hex && text.len() == BYTES && head.to_string() == text).then_some(head)
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:020} {} {:020}", self.link.seq, self.link.hash, self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_form_is_read() {
        let head = Head { link: Link { seq: 7, hash: "ab".repeat(32) }, len: u64::MAX };
        let text = head.to_string();
        assert_eq!(text.len(), BYTES);
        assert_eq!(Head::parse(&text), Some(head));
        for bad in [
            &text[1..],
            &text[..106],
            &text.replacen('0', "+", 1),
            &text.replace('7', "x"),
            &text.replace('a', "\""),
            "",
        ] {
            assert_eq!(Head::parse(bad), None, "{bad}");
        }
    }
}
