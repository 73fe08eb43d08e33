//! Passwords in URLs: `scheme://user:password@host`.

use std::ops::Range;

use memchr::{memchr, memrchr};

use super::{charset::run, mark, placeholder};

/// Bytes of a URL's authority that are looked at. Names and passwords are shorter, also in percent-encoding.
const AUTHORITY: usize = 1024;

/// The shortest password that is masked. Shorter ones are in the tests of every URL parser and in nobody's configuration.
pub(super) const SHORTEST: usize = 3;

/// The password after a `://` that ends at `from`, if it is no placeholder.
pub(super) fn secret(text: &[u8], from: usize) -> Option<Range<usize>> {
    password(text, from).filter(|range| {
        let value = &text[range.clone()];
        value.len() >= SHORTEST && !placeholder::is_password(value)
    })
}

/// Where the password stands.
pub(super) fn password(text: &[u8], from: usize) -> Option<Range<usize>> {
    let scheme = from.checked_sub(b"://x".len()).and_then(|at| text.get(at))?;
    if !scheme.is_ascii_alphanumeric() {
        return None;
    }
    let rest = &text[from..text.len().min(from + AUTHORITY)];
    let (authority, after) = rest.split_at(run(rest, is_authority));
    if mark::begins(after) {
        return None;
    }
    // Passwords with an unescaped @ are wrong, and common.
    let info = &authority[..memrchr(b'@', authority)?];
    let colon = memchr(b':', info)?;
    // A pattern that matches URLs is not one.
    let is_user = info[..colon].iter().all(|byte| !b"[]()^*|".contains(byte));
    is_user.then_some(from + colon + 1..from + info.len())
}

fn is_authority(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        let from = text.find("://").unwrap() + 3;
        secret(text.as_bytes(), from).map(|range| &text[range])
    }

    #[test]
    fn a_password_is_found_in_any_scheme() {
        for scheme in
            ["postgres", "postgresql+asyncpg", "mysql", "mongodb+srv", "redis", "amqps", "https", "jdbc:mysql"]
        {
            assert_eq!(found(&format!("{scheme}://app:hunter2@db:5432/prod")), Some("hunter2"), "{scheme}");
        }
        assert_eq!(found("redis://:hunter2@cache"), Some("hunter2"));
        assert_eq!(found("x://u:p@ss:w0rd@host/a@b"), Some("p@ss:w0rd"));
        assert_eq!(found("x://u:p%40ss@host?a=b"), Some("p%40ss"));
    }

    #[test]
    fn what_is_no_password_is_left_alone() {
        for text in [
            "https://host:8080/a@b",
            "https://user@host",
            "ssh://git@host:22/x",
            "https://[::1]:80@x",
            "://a:bcd@e",
            " ://a:bcd@e",
            "x://u:pw@h",
            "https://u:${PW}@host",
            "https://u:%s@host",
            "https://u:<pw>@host",
            "https://user:password@host",
            "x://[^:]+:[^@]+@",
            "https://a b:cde@f",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
