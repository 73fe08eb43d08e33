//! Values that only show where a secret goes. They are left alone: a reader must see them to fill them in.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Bytes of a value that are looked at. A placeholder shows itself early, and hostile values may be long.
pub(super) const HEAD: usize = 64;

/// What placeholders have in them, in any case. Each is long enough that chance puts it into no real key.
const WORDS: [&str; 16] = [
    "xxxx",
    "****",
    "....",
    "your-",
    "your_",
    "yourapi",
    "yourkey",
    "yourtoken",
    "yoursecret",
    "yourpass",
    "-here",
    "_here",
    "placeholder",
    "changeme",
    "change-me",
    "redacted",
];

#[allow(clippy::expect_used, reason = "a handful of constant words is far below every limit of an automaton")]
static SEARCHER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder().ascii_case_insensitive(true).build(WORDS).expect("the words are constant and few")
});

/// Whether a token is one.
pub(super) fn is_token(value: &[u8]) -> bool {
    let head = &value[..value.len().min(HEAD)];
    SEARCHER.is_match(head) || head.iter().all(|byte| matches!(byte, b'x' | b'X' | b'0' | b'.' | b'-' | b'_'))
}

/// Passwords that stand for a password.
const PASSWORDS: [&str; 6] = ["password", "passwd", "passphrase", "pass", "pwd", "changeit"];

/// Whether a password is one: also what templates, shells and formats put in its place.
pub(super) fn is_password(value: &[u8]) -> bool {
    is_token(value)
        || PASSWORDS.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
        || value.iter().all(|byte| matches!(byte, b'*' | b'.' | b'x' | b'X'))
        || is_constant(value)
        || is_template(value)
}

/// `DB_PASSWORD`
fn is_constant(value: &[u8]) -> bool {
    value.contains(&b'_') && value.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
}

/// `$NAME`, `${NAME}`, `{{ name }}`, `#{name}`, `{name}`, `%s`, `%(name)s`, `[name]`, `(name)`. A password may begin with a byte
/// in percent-encoding.
fn is_template(value: &[u8]) -> bool {
    let nested = value.windows(2).any(|pair| matches!(pair, b"${" | b"{{" | b"#{" | b"$("));
    let formatted = match value {
        [b'%', first, second, ..] => !(first.is_ascii_hexdigit() && second.is_ascii_hexdigit()),
        [b'%', _] => true,
        [b'$', name @ ..] => name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_'),
        [b'{', .., b'}'] | [b'[', .., b']'] | [b'(', .., b')'] => true,
        _ => false,
    };
    nested || formatted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_known() {
        for value in
            ["xxxxxxxxxxxxxxxxxxxx", "YOUR_API_KEY_GOES_HERE", "0000000000", "your-token-123", "abc....", "CHANGEME"]
        {
            assert!(is_token(value.as_bytes()), "{value}");
        }
        for value in ["password", "PASSWORD", "${PW}", "$PW", "{pw}", "{{ pw }}", "%s", "%(pw)s", "***", "DB_PASSWORD"]
        {
            assert!(is_password(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn real_values_are_not_placeholders() {
        for value in ["a1b2c3d4e5f6", "hunter2", "%40dmin", "pa$$word", "p*ssword", "s3cret", "postgres", "ABCDEF"] {
            assert!(!is_password(value.as_bytes()), "{value}");
        }
    }
}
