//! Bytes as they come, cut into lines.

use super::super::limits::LINE_BYTES;

/// The line that has begun and not ended yet.
#[derive(Debug, Default)]
pub(crate) struct Lines(Vec<u8>);

impl Lines {
    /// Hands over every line that ends in these bytes. A line that is too long loses its rest.
    pub(crate) fn push(&mut self, bytes: &[u8], mut line: impl FnMut(&[u8])) {
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            let room = LINE_BYTES.saturating_sub(self.0.len());
            self.0.extend_from_slice(piece.get(..room).unwrap_or(piece));
            if pieces.peek().is_some() {
                line(self.0.strip_suffix(b"\r").unwrap_or(&self.0));
                self.0.clear();
            }
        }
    }

    /// Hands over a last line that has no end.
    pub(crate) fn finish(&mut self, line: impl FnOnce(&[u8])) {
        if !self.0.is_empty() {
            line(&self.0);
            self.0.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_however_they_are_printed() {
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        for bytes in ["rea", "dy\r\nse", "t", "\n\n", "go"] {
            lines.push(bytes.as_bytes(), |line| seen.push(String::from_utf8_lossy(line).into_owned()));
        }
        lines.finish(|line| seen.push(String::from_utf8_lossy(line).into_owned()));
        assert_eq!(seen, ["ready", "set", "", "go"]);
    }

    #[test]
    fn a_line_without_an_end_takes_bounded_room() {
        let mut lines = Lines::default();
        for _ in 0..100 {
            lines.push(&[b'a'; 1000], |_| panic!("no line ended"));
        }
        assert_eq!(lines.0.len(), LINE_BYTES);
    }
}
