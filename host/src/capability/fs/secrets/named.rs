//! Values that settings keep beside a name that says they are secret: `DB_PASSWORD=…` in a file of variables, `"client_secret": "…"`
//! in JSON, YAML, TOML and code, `password: …` and `db.password = …` without quotes, `<password>…</password>` in XML.
//!
//! Code has the same names beside types, calls and other names. So each form asks for its own evidence: a variable in capitals needs
//! little, a quoted text must not read like a word or a rule, and what stands bare must be all of its line.

use std::ops::Range;

use super::{
    charset::{has_digit_and_letter, has_long_part, is_word, run},
    family, mark,
    placeholder::{self, HEAD},
};

/// What a name announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `password`, `secret`: a person may have made it up.
    Password,
    /// `api_key`, `access_token`: a machine made it, so it is long and mixed.
    Token,
}

/// The shortest password that is masked.
pub(super) const SHORTEST: usize = 4;

/// The shortest token that is masked. What programs call tokens and is shorter is mostly a name.
const TOKEN: usize = 16;

/// The shortest password without quotes beside a name in small letters, which may also stand in code.
const BARE: usize = 6;

/// Letters in a row that are no word any more.
const WORDLESS: usize = 24;

/// Bytes of a value at most. What is longer is masked up to here, so that the search goes on behind it.
const LONGEST: usize = 1 << 10;

/// Bytes of a name, or of the blanks before it, that are looked at.
const NAME: usize = 64;

/// The words before `token` that make it one that opens something; a token of a page or a parser does not.
const OPENING: [&str; 12] =
    ["access", "refresh", "auth", "oauth", "id", "api", "bot", "bearer", "session", "deploy", "secret", "user"];

/// What stands in a password's place in schemas, forms and rules.
const WORDS: [&str; 24] = [
    "string",
    "str",
    "text",
    "true",
    "false",
    "null",
    "none",
    "nil",
    "undefined",
    "yes",
    "no",
    "required",
    "optional",
    "nullable",
    "sometimes",
    "confirmed",
    "hidden",
    "secret",
    "token",
    "example",
    "prompt",
    "ask",
    "env",
    "vault",
];

/// The value beside a name whose last word ends at `from`, if it is a secret.
pub(super) fn secret(text: &[u8], from: usize, kind: Kind) -> Option<Range<usize>> {
    let place = place(text, from, kind)?;
    let whole = &text[place.start..];
    let value = &whole[..place.length(whole)];
    // The beginning decides first: a refusal must be cheap wherever the value ends.
    let head = &value[..value.len().min(HEAD)];
    if !place.is_likely(head, kind) || mark::begins(&whole[value.len()..]) || !place.ends(&whole[value.len()..]) {
        return None;
    }
    // A token that is known by its prefix keeps it.
    let word = run(whole, is_word);
    if family::find(text, place.start, place.start + word, true).is_some() {
        return None;
    }
    Some(place.start..place.start + value.len())
}

/// Whether the value beside a name whose last word ends at `from` is of stars alone, as short values become.
pub(super) fn is_starred(text: &[u8], from: usize, kind: Kind) -> bool {
    let Some(place) = place(text, from, kind) else { return false };
    let whole = &text[place.start..];
    let value = &whole[..place.length(whole)];
    value.len() >= SHORTEST && value.iter().all(|byte| *byte == b'*') && place.ends(&whole[value.len()..])
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// In this quote.
    Quoted(u8),
    /// Between two tags.
    Element,
    /// Directly after a variable in capitals and `=`.
    Variable,
    /// All that is left of its line.
    Bare,
}

/// Where a value stands.
struct Place {
    start: usize,
    form: Form,
}

impl Place {
    /// How long the value is.
    fn length(&self, whole: &[u8]) -> usize {
        let whole = &whole[..whole.len().min(LONGEST)];
        let length = run(whole, |byte| match self.form {
            Form::Quoted(quote) => byte.is_ascii_graphic() && byte != quote,
            Form::Element => byte.is_ascii_graphic() && byte != b'<',
            Form::Variable | Form::Bare => byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`'),
        });
        // The backslashes of a string within a string belong to its quote.
        let escapes = whole[..length].iter().rev().take_while(|byte| **byte == b'\\').count();
        if matches!(self.form, Form::Quoted(_)) { length - escapes } else { length }
    }

    /// Whether the form is complete after the value.
    fn ends(&self, after: &[u8]) -> bool {
        match self.form {
            Form::Quoted(quote) => {
                let escapes = run(&after[..after.len().min(4)], |byte| byte == b'\\');
                after.get(escapes).is_none_or(|byte| *byte == quote || byte.is_ascii_graphic())
            }
            Form::Element => after.starts_with(b"</"),
            Form::Variable => after.first().is_none_or(|byte| byte.is_ascii_whitespace() || byte.is_ascii_graphic()),
            Form::Bare => {
                let blanks = run(&after[..after.len().min(NAME)], |byte| byte == b' ' || byte == b'\t');
                matches!(after.get(blanks), None | Some(b'\n' | b'\r'))
                    || blanks > 0 && after.get(blanks) == Some(&b'#')
            }
        }
    }

    /// Whether what a value begins with is no placeholder, word or expression.
    fn is_likely(&self, head: &[u8], kind: Kind) -> bool {
        let is_word = WORDS.iter().any(|word| {
            let rest = head
                .get(word.len()..)
                .filter(|_| head[..word.len().min(head.len())].eq_ignore_ascii_case(word.as_bytes()));
            rest.is_some_and(|rest| rest.first().is_none_or(|byte| matches!(byte, b'|' | b':' | b',' | b'?' | b';')))
        });
        let is_none = is_word || placeholder::is_password(head) || is_expression(head) || is_path(head);
        if head.len() < SHORTEST || is_none {
            return false;
        }
        if kind == Kind::Token {
            return head.len() >= TOKEN && has_digit_and_letter(head);
        }
        match self.form {
            Form::Element => true,
            Form::Variable => !is_dotted(head) || head.iter().any(u8::is_ascii_digit),
            Form::Quoted(_) => is_made_up(head),
            // A line of code ends with one of these.
            Form::Bare if head.ends_with(b",") || head.ends_with(b";") || head.ends_with(b"{") => false,
            Form::Bare => head.len() >= BARE && is_made_up(head) && !is_dotted(head) && !says_itself(head),
        }
    }
}

/// Whether it is no word: it has a digit or a sign that no name has, or is longer than words are.
fn is_made_up(head: &[u8]) -> bool {
    let is_sign = |byte: &u8| byte.is_ascii_punctuation() && !b"-_./:,".contains(byte);
    head.iter().any(u8::is_ascii_digit) || head.iter().any(is_sign) || has_long_part(head) && head.len() >= WORDLESS
}

/// `args.password2`
fn is_dotted(head: &[u8]) -> bool {
    let is_part =
        |part: &[u8]| part.first().is_some_and(u8::is_ascii_alphabetic) && part.iter().all(|byte| is_word(*byte));
    head.contains(&b'.') && head.split(|byte| *byte == b'.').all(is_part)
}

/// `password1`: the name of another variable.
fn says_itself(head: &[u8]) -> bool {
    let is_start = |word: &str| head.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
    ["pass", "pwd", "secret", "token", "key", "user", "new", "old"].into_iter().any(is_start)
}

/// `get_password()`, `env["X"]`, `a + b`, `<input>`: code and templates in a value's place.
fn is_expression(head: &[u8]) -> bool {
    let has =
        |pair: [u8; 2]| head.iter().position(|byte| *byte == pair[0]).is_some_and(|at| head[at..].contains(&pair[1]));
    let called = head.iter().position(|byte| *byte == b'(').filter(|at| *at > 0);
    let is_call = called.is_some_and(|at| head[..at].iter().all(|byte| is_word(*byte) || *byte == b'.'));
    is_call
        || has(*b"()")
        || has(*b"<>")
        || has(*b"[]")
        || has(*b"{}")
        || matches!(head.first(), Some(b'<' | b'&' | b'(' | b'[' | b'{' | b'|' | b'>' | b'='))
        || head.windows(2).any(|pair| matches!(pair, b"::" | b"->" | b"=>" | b"$("))
}

/// A file or an address where the secret lies.
fn is_path(head: &[u8]) -> bool {
    head.starts_with(b"/")
        || head.starts_with(b"./")
        || head.starts_with(b"~/")
        || head.windows(3).any(|it| it == b"://")
}

/// Steps from the end of a name to its value.
fn place(text: &[u8], from: usize, kind: Kind) -> Option<Place> {
    let name = name_before(text, from);
    let before = name.start.checked_sub(1).map(|at| text[at]);
    // What was masked before a name was a part of it: it is another name now.
    if follows_mask(&text[..name.start]) {
        return None;
    }
    let is_open = kind == Kind::Password || opens(&text[name.clone()]);
    // The name must end here: `password_hash`, `secretName` and `token.type` are others.
    if !is_open || text.get(from).is_some_and(|byte| is_word(*byte) || *byte == b'.') {
        return None;
    }
    let rest = &text[from..];
    if before == Some(b'<') && rest.first() == Some(&b'>') {
        return Some(Place { start: from + 1, form: Form::Element });
    }
    let escapes = run(&rest[..rest.len().min(4)], |byte| byte == b'\\');
    let name_quote = rest.get(escapes).copied().filter(|byte| matches!(byte, b'"' | b'\''));
    let name_quote = name_quote.filter(|quote| before == Some(*quote) || before == Some(b'\\'));
    let mut at = from + if name_quote.is_some() { escapes + 1 } else { 0 };
    at += blanks(text, at);
    let separator = *text.get(at).filter(|byte| matches!(byte, b':' | b'='))?;
    at += 1;
    let spaced = text.get(at - 2).is_some_and(|byte| *byte == b' ' || *byte == b'\t');
    // `==` compares, `:=` sets, `=>` maps.
    match (separator, text.get(at)) {
        (b'=', Some(b'=')) | (b':', Some(b':')) => return None,
        (b'=', Some(b'>')) | (b':', Some(b'=')) => at += 1,
        _ => {}
    }
    let gap = blanks(text, at);
    at += gap;
    let value = text.get(at..)?;
    let escapes = run(&value[..value.len().min(4)], |byte| byte == b'\\');
    if let Some(quote) = value.get(escapes).copied().filter(|byte| matches!(byte, b'"' | b'\'')) {
        return Some(Place { start: at + escapes + 1, form: Form::Quoted(quote) });
    }
    // After a quoted name a bare value is a variable.
    if name_quote.is_some() {
        return None;
    }
    let capitals = text[name.clone()].iter().all(|byte| !byte.is_ascii_lowercase());
    if capitals && separator == b'=' && !spaced && gap == 0 {
        return Some(Place { start: at, form: Form::Variable });
    }
    begins_line(text, name.start).then_some(Place { start: at, form: Form::Bare })
}

/// Whether a mask ends here. Fewer stars than the shortest mask has are Markdown's, unless a label stands before them.
fn follows_mask(before: &[u8]) -> bool {
    let stars = before.iter().rev().take(SHORTEST).take_while(|byte| **byte == b'*').count();
    let label = before.len().checked_sub(stars + 1).map(|at| before[at]);
    stars == SHORTEST || label.is_some_and(|byte| !byte.is_ascii())
}

/// The name that ends at `from`, with the words and dots before its last.
fn name_before(text: &[u8], from: usize) -> Range<usize> {
    let part = &text[from.saturating_sub(NAME)..from];
    let length = part.iter().rev().take_while(|byte| is_word(**byte) || **byte == b'.').count();
    from - length..from
}

/// Whether a name of a token is of one that opens something.
fn opens(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    let Some(first) =
        lower.strip_suffix(b"token").map(|rest| rest.strip_suffix(b"_").or(rest.strip_suffix(b"-")).unwrap_or(rest))
    else {
        return true;
    };
    let capitals = name.iter().all(|byte| !byte.is_ascii_lowercase()) && !first.is_empty();
    capitals || OPENING.iter().any(|word| first.ends_with(word.as_bytes()))
}

/// Whether only blanks, a list's dash or `export` stand before a name in its line.
fn begins_line(text: &[u8], name: usize) -> bool {
    let part = &text[name.saturating_sub(NAME)..name];
    let line = part.iter().rposition(|byte| *byte == b'\n').map(|at| &part[at + 1..]);
    let line = line.or((part.len() == name && name < NAME).then_some(part));
    line.is_some_and(|line| matches!(line.trim_ascii(), b"" | b"-" | b"export" | b"set"))
}

fn blanks(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    run(&rest[..rest.len().min(NAME)], |byte| byte == b' ' || byte == b'\t')
}

#[cfg(test)]
mod tests {
    use super::super::tests::samples::{mark, masked};

    /// Texts in which `V` stands for the value.
    fn found(frame: &str, value: &str) -> bool {
        let (text, expected) = (frame.replace('V', value), frame.replace('V', &mark(value.len())));
        let (masked, count) = masked(&text);
        assert!(count == 0 || masked == expected, "{text} became {masked}");
        count == 1
    }

    #[test]
    fn settings_of_every_kind_are_masked() {
        for frame in [
            "DB_PASSWORD=V",
            "export DB_PASSWORD=V\n",
            "  - POSTGRES_PASSWORD=V",
            "CLIENT_SECRET='V'",
            "\"client_secret\": \"V\"",
            "{\\\"clientSecret\\\":\\\"V\\\"}",
            "client_secret = \"V\"",
            "password: 'V'",
            "spring.datasource.password=V\n",
            "db.password = V\nx",
            "  password: V  # for the database",
            "gpg_passphrase = V",
            "'password' => 'V',",
            "let password = \"V\";",
            "<password>V</password>",
            "<db-password>V</db-password>",
            "<clientSecret>V</clientSecret>",
            "secret_key = V",
            "SECRET_KEY=V",
        ] {
            for value in ["hunter2!x", "S3cret-Value_1", "p@ss/w0rd=9"] {
                assert!(found(frame, value), "{frame} {value}");
            }
        }
        for frame in ["DB_PASSWORD=V", "<password>V</password>"] {
            assert!(found(frame, "hunter"), "{frame}");
        }
        let token = "rt-Zk3Qv9Xb7Lm2Rt5W";
        for frame in
            ["\"refresh_token\": \"V\"", "\"accessToken\": \"V\"", "DEPLOY_TOKEN=V", "api_key: V", "API_KEY='V'"]
        {
            assert!(found(frame, token), "{frame}");
        }
    }

    #[test]
    fn code_templates_and_prose_are_left_alone() {
        for text in [
            "password: String,",
            "password: Option<String>",
            "password: string;",
            "    password: str",
            "secret: Uint8Array;",
            "password = get_password()",
            "password = getpass.getpass()",
            "PASSWORD=get_password(1)",
            "password = hashlib.sha256(x1).digest()",
            "    password = user.password2",
            "password = password1",
            "password=password1,",
            "this.password = password;",
            "password == \"hunter2\"",
            "password != \"hunter2\"",
            "password_hash = \"a1b2c3\"",
            "secretName: my-secret-2",
            "DB_PASSWORD=${DB_PASSWORD}",
            "DB_PASSWORD=$DB_PASSWORD",
            "DB_PASSWORD=$(cat file1)",
            "DB_PASSWORD=",
            "DB_PASSWORD=\"\"",
            "DB_PASSWORD=changeme",
            "DB_PASSWORD=<your-password-1>",
            "DB_PASSWORD=your_password_1",
            "DB_PASSWORD=xxxxxxxx",
            "DB_PASSWORD=********",
            "DB_PASSWORD=password",
            "POSTGRES_PASSWORD=/run/secrets/db1",
            "PASSWORD_FILE=/run/x1",
            "\"password\": \"string\"",
            "\"password\": \"Passwort\"",
            "\"password\": \"Enter your password 2\"",
            "\"password\": \"${env.PW1}\"",
            "\"password\": \"{{ vault_pw1 }}\"",
            "'password' => 'required|min:8'",
            "\"password\": null",
            "\"password\": password1",
            "<input type=\"password\" name=\"password\" id=\"pw1\">",
            "<password></password>",
            "<password>${env.PW1}</password>",
            "<password>Enter password 1</password>",
            "<label for=\"password\">Password1</label>",
            "<password>\n  text1\n</password>",
            "next_token = \"Zk3Qv9Xb7Lm2Rt5Wp8Yc\"",
            "let token = parse_token(a1);",
            "api_key: string",
            "api_key = os.environ[\"API_KEY_1\"]",
            "the secret: 42 is the answer",
            "the password is hunter2",
            "type Secret = Arc<Inner2>;",
        ] {
            assert_eq!(masked(text), (text.to_owned(), 0), "{text}");
        }
    }

    #[test]
    fn a_known_prefix_stays_beside_a_name_too() {
        let token = ["ghp", "_", &"aB3d".repeat(9)].concat();
        assert_eq!(masked(&format!("GITHUB_TOKEN={token}")), (format!("GITHUB_TOKEN=ghp_{}", mark(36)), 1));
    }
}
