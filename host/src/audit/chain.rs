//! How a line is made from the one before, and how it is read back. The format is in the header of the module above.

use serde::Deserialize;

use super::Line;

/// Stands for the hash of a line that is not there.
pub(super) const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What is wrong with a line that ends too early.
pub(super) const CUT_SHORT: &str = "is cut short";

const CHANGED: &str = "was changed: its hash is not that of its text";

const GARBAGE: &str = "is not an audit line";

const BEGIN: &[u8] = b"{\"seq\":";

/// A line, as the next one refers to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) seq: u64,
    pub(super) hash: String,
}

impl Link {
    /// What the first line follows.
    pub(super) fn start() -> Self {
        Self { seq: 0, hash: ZEROS.into() }
    }

    /// Appends to `text` the line that follows, made of a record in JSON.
    pub(super) fn extend(&self, text: &mut Vec<u8>, record: &str) -> Self {
        // Saturates only after a line that nobody could have appended; verifying reports both.
        let seq = self.seq.saturating_add(1);
        // An object in JSON has its two braces.
        let members = &record[1..record.len() - 1];
        let start = text.len();
        text.extend_from_slice(format!("{{\"seq\":{seq},{members},\"prev\":\"{}\",", self.hash).as_bytes());
        let hash = digest(&self.hash, &text[start..]);
        text.extend_from_slice(end(&hash).as_bytes());
        text.push(b'\n');
        Self { seq, hash }
    }
}

impl Line {
    pub(super) fn link(&self) -> Link {
        Link { seq: self.seq, hash: self.hash.clone() }
    }

    pub(super) fn follows(&self, link: &Link) -> bool {
        self.seq == link.seq.saturating_add(1) && self.prev == link.hash
    }

    /// Reads a line, without its `\n`, whose hash is that of its text. Else says what is wrong with it.
    pub(super) fn parse(text: &[u8]) -> Result<Self, &'static str> {
        // Two readings of one text: flattening a record into a line would lose its numbers, which keep all their digits here.
        let parts = serde_json::from_slice::<Frame>(text).and_then(|frame| Ok((frame, serde_json::from_slice(text)?)));
        let Ok((Frame { seq, prev, hash }, record)) = parts else {
            return Err(match (text.starts_with(BEGIN) || BEGIN.starts_with(text), text.ends_with(b"\"}")) {
                _ if text.is_empty() => GARBAGE,
                (true, true) => CHANGED,
                (true, false) => CUT_SHORT,
                (false, _) => GARBAGE,
            });
        };
        let covered = text.strip_suffix(end(&hash).as_bytes()).ok_or(CHANGED)?;
        if digest(&prev, covered) != hash {
            return Err(CHANGED);
        }
        Ok(Self { seq, record, prev, hash })
    }
}

/// The members that make a record a line.
#[derive(Deserialize)]
struct Frame {
    seq: u64,
    prev: String,
    hash: String,
}

fn end(hash: &str) -> String {
    format!("\"hash\":\"{hash}\"}}")
}

fn digest(prev: &str, covered: &[u8]) -> String {
    blake3::Hasher::new().update(prev.as_bytes()).update(covered).finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::{super::record::tests::record, *};

    fn line(link: &Link) -> (String, Link) {
        let mut text = Vec::new();
        let link = link.extend(&mut text, &serde_json::to_string(&record("}{")).unwrap());
        (String::from_utf8(text).unwrap(), link)
    }

    #[test]
    fn a_line_is_read_back_and_follows_the_one_before() {
        let (first, link) = line(&Link::start());
        let (second, last) = line(&link);
        let first = Line::parse(first.trim_end().as_bytes()).unwrap();
        let second = Line::parse(second.trim_end().as_bytes()).unwrap();
        assert!(first.follows(&Link::start()) && second.follows(&first.link()) && !first.follows(&second.link()));
        assert_eq!((second.link(), second.record), (last, record("}{")));
        assert_eq!(first.prev, ZEROS);
    }

    /// The header's recipe, written without this file's functions.
    #[test]
    fn the_hash_is_the_documented_one() {
        let (_, link) = line(&Link::start());
        let (text, last) = line(&link);
        let covered = &text[..text.rfind("\"hash\"").unwrap()];
        assert!(covered.ends_with(&format!(",\"prev\":\"{}\",", link.hash)));
        assert_eq!(blake3::hash(format!("{}{covered}", link.hash).as_bytes()).to_hex().to_string(), last.hash);
    }

    #[test]
    fn what_is_wrong_with_a_line_is_named() {
        let (text, _) = line(&Link::start());
        let text = text.trim_end();
        let why = |text: &str| Line::parse(text.as_bytes()).unwrap_err();
        assert_eq!(why(&text.replace("read_file", "kill_file")), CHANGED);
        assert_eq!(why(&text.replace("\"fuel\"", "\"fuel ")), CHANGED);
        assert_eq!(why(&text.replace("\"hash\":", "\"hash\": ")), CHANGED);
        assert_eq!(why(&text.replace("{\"seq\":1", "{\"seq\":1,\"seq\":1")), CHANGED);
        assert_eq!(why(&text[..text.len() / 2]), CUT_SHORT);
        assert_eq!(why("{\"s"), CUT_SHORT);
        assert_eq!(why("hello"), GARBAGE);
        assert_eq!(why(""), GARBAGE);
    }
}
