//! The token that clients send with every request.

use super::{limits::TOKEN_CHARS, token_file::TokenError};

/// The variable that holds the token, for the host and for its clients. A token never stands on a command line, where every user of the
/// machine could read it.
pub const TOKEN_ENV: &str = "HERMES_HOST_TOKEN";

/// What clients prove that they know. Only its hash is kept.
#[derive(Clone, Debug)]
pub struct Token(blake3::Hash);

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

    /// Whether a client knows it. Takes as long for a wrong one as for the right one: hashes are compared, in constant time.
    pub fn matches(&self, given: &[u8]) -> bool {
        blake3::hash(given) == self.0
    }
}

#[cfg(test)]
mod tests {
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
}
