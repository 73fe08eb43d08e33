//! From an expression's characters to numbers, names and symbols.

use super::fault::Fault;
use crate::number::{self, Exact};

/// A piece of an expression and where it starts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) at: usize,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Number(Exact),
    Name(String),
    /// One of `+ - * / % ^ ! ( ) ,`, whichever way it was written.
    Symbol(char),
    End,
}

/// Splits an expression. The last token is always [`Kind::End`].
pub(crate) fn tokens(expression: &str) -> Result<Vec<Token>, Fault> {
    let characters: Vec<char> = expression.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&first) = characters.get(at) {
        let rest = &characters[at..];
        let (length, kind) = match first {
            c if c.is_whitespace() => {
                at += 1;
                continue;
            }
            '0'..='9' | '.' => literal(rest).map_err(|message| Fault::new(at, message))?,
            c if c.is_alphabetic() || c == '_' => name(rest),
            '*' if rest.get(1) == Some(&'*') => (2, Kind::Symbol('^')),
            '+' | '-' | '*' | '/' | '%' | '^' | '!' | '(' | ')' | ',' => (1, Kind::Symbol(first)),
            '×' | '·' => (1, Kind::Symbol('*')),
            '÷' => (1, Kind::Symbol('/')),
            '−' => (1, Kind::Symbol('-')),
            other => return Err(Fault::new(at, format!("`{other}` has no meaning here"))),
        };
        found.push(Token { kind, at });
        at += length;
    }
    found.push(Token { kind: Kind::End, at });
    Ok(found)
}

fn name(rest: &[char]) -> (usize, Kind) {
    let name: String = rest.iter().take_while(|c| c.is_alphanumeric() || **c == '_').collect();
    (name.chars().count(), Kind::Name(name.to_lowercase()))
}

fn literal(rest: &[char]) -> Result<(usize, Kind), String> {
    let hexadecimal = matches!(rest, ['0', 'x' | 'X', ..]);
    let mut length = 0;
    while let Some(&c) = rest.get(length) {
        let exponent_sign = !hexadecimal
            && matches!(c, '+' | '-')
            && matches!(rest[length - 1], 'e' | 'E')
            && rest.get(length + 1).is_some_and(char::is_ascii_digit);
        if !(c.is_alphanumeric() || c == '_' || c == '.' || exponent_sign) {
            break;
        }
        length += 1;
    }
    let text: String = rest[..length].iter().collect();
    // `2pi` ends up here too: a name that touches a number is taken for a part of it, and the message says how to write
    // it.
    let value = number::parse(&text).map_err(|why| {
        if why.ends_with("is not a number") { format!("{why}; to multiply write `*`, as in 2*pi") } else { why }
    })?;
    Ok((length, Kind::Number(value)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn written(expression: &str) -> String {
        let tokens = tokens(expression).unwrap();
        let words = tokens.into_iter().map(|token| match token.kind {
            Kind::Number(value) => value.to_string(),
            Kind::Name(name) => name,
            Kind::Symbol(symbol) => symbol.to_string(),
            Kind::End => ";".into(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn signs_belong_to_an_exponent_only_where_digits_follow() {
        assert_eq!(written("1e-3-2"), "1/1000 - 2 ;");
        assert_eq!(written("0xe-1"), "14 - 1 ;");
        assert_eq!(tokens("2e+x").unwrap_err().message, "`2e` is not a number; to multiply write `*`, as in 2*pi");
    }

    #[test]
    fn other_spellings_of_operators_mean_the_same() {
        assert_eq!(written("2**3 × 4 ÷ 5 − 1"), "2 ^ 3 * 4 / 5 - 1 ;");
        assert_eq!(written("SQRT(PI)"), "sqrt ( pi ) ;");
    }

    #[test]
    fn faults_point_at_the_character() {
        let fault = tokens("1 + $").unwrap_err();
        assert_eq!((fault.at, fault.message.as_str()), (4, "`$` has no meaning here"));
        assert_eq!(tokens("3 * 1.2.3").unwrap_err().at, 4);
    }
}
