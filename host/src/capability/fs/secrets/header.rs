//! Values beside a name that says they are secret: HTTP headers as they are sent and as programs write them, and the secret keys
//! of clouds.

use std::ops::Range;

use super::{
    charset::{Charset, has_digit_and_letter, has_random_part, is_mixed, run},
    mark,
    placeholder::{self, HEAD},
};

/// What stands beside a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// `Authorization`: a scheme and a token.
    Credentials,
    /// `X-Api-Key` and the like: a token.
    Token,
    /// Keys of AWS and Azure in Base64.
    SecretKey,
}

/// The shortest token that is masked: shorter ones are words.
pub(super) const SHORTEST: usize = 8;

/// A token without a digit that is shorter than this is a name such as `accessToken`.
const NAME: usize = 32;

/// Lengths of secret keys: AWS has 40 bytes, Azure 44 and 88.
const KEY: std::ops::RangeInclusive<usize> = 40..=88;

/// Spaces that are skipped. Tables align with more, but not headers.
const SPACES: usize = 16;

/// The value beside a name that ends at `from`, if it is a secret.
pub(super) fn secret(text: &[u8], from: usize, value: Value) -> Option<Range<usize>> {
    let place = place(text, from, value)?;
    let rest = &text[place.start..];
    // The beginning decides first: a refusal must be cheap wherever the value ends.
    let head = trimmed(&rest[..rest.len().min(HEAD)]);
    if head.len() < SHORTEST || placeholder::is_token(head) || !place.is_likely(head, value) {
        return None;
    }
    let (length, after) = match value {
        Value::SecretKey => {
            let length = Charset::Base64.run(&rest[..rest.len().min(KEY.end() + 1)]);
            if !KEY.contains(&length) {
                return None;
            }
            (length, length)
        }
        Value::Credentials | Value::Token => (trimmed(rest).len(), run(rest, is_token)),
    };
    (!mark::begins(&rest[after..])).then_some(place.start..place.start + length)
}

/// Whether the value beside a name that ends at `from` is of stars alone, as short values become.
pub(super) fn is_starred(text: &[u8], from: usize, value: Value) -> bool {
    place(text, from, value).is_some_and(|place| run(&text[place.start..], |byte| byte == b'*') >= SHORTEST)
}

/// A token, without the dot or colon of the sentence that it ends.
fn trimmed(text: &[u8]) -> &[u8] {
    let token = &text[..run(text, is_token)];
    &token[..token.iter().rposition(|byte| !matches!(byte, b'.' | b':')).map_or(0, |last| last + 1)]
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=:|".contains(&byte)
}

/// Where a value stands.
struct Place {
    start: usize,
    quoted: bool,
    scheme: Option<&'static str>,
}

impl Place {
    fn is_likely(&self, head: &[u8], value: Value) -> bool {
        match (value, self.scheme) {
            (Value::SecretKey, _) => is_mixed(head),
            (Value::Credentials, Some("basic")) => is_basic(head),
            // Without a scheme it may be any expression.
            (Value::Credentials, None) => !head.contains(&b'.') && has_digit_and_letter(head) && has_random_part(head),
            (Value::Credentials | Value::Token, _) => has_digit_and_letter(head) || head.len() >= NAME,
        }
    }
}

/// Whether it is Base64, and not the next word of a sentence.
fn is_basic(head: &[u8]) -> bool {
    let whole = head.len() == HEAD || head.len().is_multiple_of(4);
    let inner_capital = head.iter().skip(1).any(u8::is_ascii_uppercase) && head.iter().any(u8::is_ascii_lowercase);
    whole && (inner_capital || has_digit_and_letter(head) || head.ends_with(b"="))
}

/// The schemes of `Authorization` that are followed by a token.
const SCHEMES: [&str; 8] = ["bearer", "basic", "token", "apikey", "api-key", "key", "bot", "ssws"];

/// Steps over what stands between a name and its value: `: `, `=`, `": "`, `'] = f"`, `", "` in a call, with escaped quotes too.
fn place(text: &[u8], from: usize, value: Value) -> Option<Place> {
    let mut cursor = Cursor { text, at: from };
    let name_quoted = cursor.quote();
    cursor.spaces();
    let indexed = name_quoted && cursor.byte(b"]");
    cursor.spaces();
    // `=>`, `:=` and `==` have two of them; in a call a comma does, in XML the tag's end.
    let separated = cursor.byte(b":=>") || name_quoted && !indexed && cursor.byte(b",");
    cursor.byte(b">=");
    cursor.spaces();
    if matches!(text.get(cursor.at..), Some([b'f' | b'b' | b'r' | b'u', b'"' | b'\'', ..])) {
        cursor.at += 1;
    }
    let quoted = cursor.quote();
    // After a quoted name an unquoted value is a variable.
    if !separated || name_quoted && !quoted {
        return None;
    }
    let scheme = if value == Value::Credentials { cursor.scheme() } else { None };
    Some(Place { start: cursor.at, quoted, scheme })
        .filter(|place| value != Value::Credentials || scheme.is_some() || place.quoted)
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn byte(&mut self, any: &[u8]) -> bool {
        let found = self.rest().first().is_some_and(|byte| any.contains(byte));
        self.at += usize::from(found);
        found
    }

    fn spaces(&mut self) -> usize {
        let rest = self.rest();
        let spaces = run(&rest[..rest.len().min(SPACES)], |byte| byte == b' ' || byte == b'\t');
        self.at += spaces;
        spaces
    }

    /// A quote, with the backslashes of a string within a string.
    fn quote(&mut self) -> bool {
        let rest = self.rest();
        let escapes = run(&rest[..rest.len().min(4)], |byte| byte == b'\\');
        let found = matches!(rest.get(escapes), Some(b'"' | b'\'' | b'`'));
        self.at += if found { escapes + 1 } else { 0 };
        found
    }

    /// A scheme and the spaces after it, and `token=` where a scheme names its parameter.
    fn scheme(&mut self) -> Option<&'static str> {
        let rest = self.rest();
        let word = &rest[..Charset::Word.run(&rest[..rest.len().min(16)])];
        let scheme = SCHEMES.into_iter().find(|scheme| word.eq_ignore_ascii_case(scheme.as_bytes()))?;
        let before = self.at;
        self.at += scheme.len();
        if self.spaces() == 0 {
            self.at = before;
            return None;
        }
        if self.rest().starts_with(b"token=") {
            self.at += b"token=".len();
            self.quote();
        }
        Some(scheme)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, name: &str, value: Value) -> Option<String> {
        let from = text.find(name).unwrap() + name.len();
        secret(text.as_bytes(), from, value).map(|range| text[range].to_string())
    }

    #[test]
    fn credentials_are_found_in_every_spelling() {
        let key = "a1b2c3d4e5";
        for text in [
            "Authorization: Bearer KEY",
            "Authorization:Bearer KEY\r\n",
            "curl -H 'Authorization: token KEY' x",
            r#"{"Authorization": "Bearer KEY"}"#,
            r#""{\"Authorization\": \"Bearer KEY\"}""#,
            "headers['Authorization'] = f'Bearer KEY'",
            r#".header("Authorization", "Bearer KEY")"#,
            r#""Authorization" => "Bearer KEY""#,
            "Authorization: Token token=\"KEY\"",
            "Authorization: Bearer KEY.",
        ] {
            let text = text.replace("KEY", key);
            assert_eq!(found(&text, "Authorization", Value::Credentials).as_deref(), Some(key), "{text}");
        }
        for basic in ["dXNlcjpwYXNz", "YTpiYzEyMw==", "YWRtaW46aHVudGVyMg=="] {
            let text = format!("Authorization: Basic {basic}");
            assert_eq!(found(&text, "Authorization", Value::Credentials).as_deref(), Some(basic));
        }
        let raw = "0123456789abcdef0123456789abcdef";
        let text = format!("\"Authorization\": \"{raw}\"");
        assert_eq!(found(&text, "Authorization", Value::Credentials).as_deref(), Some(raw));
    }

    #[test]
    fn names_and_templates_are_no_credentials() {
        for text in [
            "Authorization: Bearer ${TOKEN}",
            "Authorization: Bearer $TOKEN",
            "Authorization: Bearer <your-token-1>",
            "Authorization: Bearer YOUR_API_KEY_1",
            "Authorization: Bearer {token}",
            "Authorization: Bearer {{token}}",
            "Authorization: Bearer access_token",
            "Authorization: Bearer xxxxxxxxxxxx",
            "Authorization: Bearer ...",
            "Authorization: Basic authentication",
            "Authorization: Basic auth",
            "'Authorization': 'Bearer ' + token1234",
            "'Authorization': token1234abcd",
            "Authorization bearer a1b2c3d4e5",
            "Authorization = authorizationHeader2",
            "Authorization: required1 for all",
            "[\"Authorization\"], \"0123456789abcdef0123456789abcdef\"",
            "[\"Authorization\", \"Win32_Security_ConfigurationSnapin\"]",
        ] {
            assert_eq!(found(text, "Authorization", Value::Credentials), None, "{text}");
        }
    }

    #[test]
    fn tokens_and_keys_are_found_beside_their_names() {
        for text in ["X-Api-Key: a1b2c3d4e5", "'X-Api-Key': 'a1b2c3d4e5',", "X-Api-Key=a1b2c3d4e5&x"] {
            assert_eq!(found(text, "X-Api-Key", Value::Token).as_deref(), Some("a1b2c3d4e5"), "{text}");
        }
        for text in ["'X-Api-Key': apiKey123", "X-Api-Key: string", "X-Api-Key", "X-Api-Key: {{ key_12345 }}"] {
            assert_eq!(found(text, "X-Api-Key", Value::Token), None, "{text}");
        }
        let key = "aB3/".repeat(10);
        for text in [format!("key = {key}"), format!("key=\"{key}\""), format!("\"key\": \"{key}\"")] {
            assert_eq!(found(&text, "key", Value::SecretKey).as_deref(), Some(&*key), "{text}");
        }
        for text in [format!("key = {key}{key}{key}"), "key = os.environ['KEY']".into(), "key = short1".into()] {
            assert_eq!(found(&text, "key", Value::SecretKey), None, "{text}");
        }
    }
}
