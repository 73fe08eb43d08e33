//! The word that clients must know, and the file that it is read from.

use std::{
    fs::OpenOptions,
    io::{self, Read},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use super::limits::{TOKEN_CHARS, TOKEN_FILE_BYTES};

/// The variable that holds the token, for the host and for its clients. A token never stands on a command line, where every user of the
/// machine could read it.
pub const TOKEN_ENV: &str = "HERMES_HOST_TOKEN";

/// What clients prove that they know. Only its hash is kept.
#[derive(Clone, Debug)]
pub struct Token(blake3::Hash);

/// Why a token can't be used. Never says what stands in it.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// Too short to be safe.
    #[error("the token has {0} characters and needs at least {TOKEN_CHARS}; make one with: openssl rand -hex 32")]
    Short(usize),
    /// It could not be sent as a header.
    #[error("the token may have letters, digits and punctuation alone; make one with: openssl rand -hex 32")]
    Characters,
    /// The file can't be read.
    #[error("failed to read the token from {}: {why}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: io::Error,
    },
    /// Others could have read or written it.
    #[error("refused to use the token in {}: {why}", path.display())]
    Unsafe {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        why: &'static str,
    },
}

impl Token {
    /// A token of this text.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Characters);
        }
        if text.len() < TOKEN_CHARS {
            return Err(TokenError::Short(text.len()));
        }
        Ok(Self(blake3::hash(text.as_bytes())))
    }

    /// The token in a file that only this user can read. White space around it does not count.
    pub fn from_file(path: &Path) -> Result<Self, TokenError> {
        let io = |why| TokenError::Io { path: path.to_owned(), why };
        let refused = |why| TokenError::Unsafe { path: path.to_owned(), why };
        // Without waiting: what stands there may be a pipe that nobody writes to.
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        if !metadata.is_file() {
            return Err(refused("it is not a regular file"));
        }
        if metadata.mode() & 0o077 != 0 {
            return Err(refused("others may read or write it; run chmod 600 on it"));
        }
        if metadata.len() > TOKEN_FILE_BYTES as u64 {
            return Err(refused("it is too large for a token; write nothing but the token into it"));
        }
        let mut text = String::new();
        // Bounded again: it may have grown since.
        file.take(TOKEN_FILE_BYTES as u64).read_to_string(&mut text).map_err(io)?;
        Self::new(text.trim())
    }

    /// Whether a client knows it. Takes as long for a wrong one as for the right one: hashes are compared, in constant time.
    pub fn matches(&self, given: &[u8]) -> bool {
        blake3::hash(given) == self.0
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, Permissions},
        os::unix::fs::PermissionsExt,
    };

    use super::*;

    const GOOD: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn only_the_very_token_matches() {
        let token = Token::new(GOOD).unwrap();
        assert!(token.matches(GOOD.as_bytes()));
        for wrong in ["", &GOOD[1..], &format!("{GOOD}0"), &GOOD.to_uppercase(), &format!(" {GOOD}")] {
            assert!(!token.matches(wrong.as_bytes()), "{wrong:?}");
        }
        assert!(!format!("{token:?}").contains(GOOD));
    }

    #[test]
    fn a_token_is_long_and_can_be_sent() {
        for (text, words) in
            [("", "0 characters"), ("short", "5 characters"), ("0123456789abcde\u{e4}f", "letters, digits")]
        {
            let why = Token::new(text).unwrap_err().to_string();
            assert!(why.contains(words), "{why}");
        }
        assert!(Token::new("with a space in the middle").is_err());
    }

    #[test]
    fn a_file_is_used_only_if_others_can_not_read_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        fs::write(&path, format!("{GOOD}\n")).unwrap();
        for (mode, works) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o622, false)] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let token = Token::from_file(&path);
            assert_eq!(token.is_ok(), works, "{mode:o}");
            match token {
                Ok(token) => assert!(token.matches(GOOD.as_bytes())),
                Err(why) => assert!(why.to_string().contains("chmod 600"), "{why}"),
            }
        }
    }

    #[test]
    fn what_is_no_file_with_a_token_is_refused_with_a_reason() {
        let dir = tempfile::tempdir().unwrap();
        let private = |name: &str, text: &[u8]| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
            Token::from_file(&path).unwrap_err().to_string()
        };
        assert!(private("empty", b"").contains("0 characters"));
        assert!(private("huge", &vec![b'a'; TOKEN_FILE_BYTES + 1]).contains("too large"));
        assert!(private("binary", &[0xff; 40]).contains("failed to read"));
        assert!(Token::from_file(dir.path()).unwrap_err().to_string().contains("not a regular file"));
        assert!(Token::from_file(&dir.path().join("none")).unwrap_err().to_string().contains("none"));
        let pipe = dir.path().join("pipe");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
        assert!(Token::from_file(&pipe).unwrap_err().to_string().contains("not a regular file"));
    }
}
