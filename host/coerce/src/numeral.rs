//! Numbers as models write them in strings, read without a detour through floating point: no digit is lost.

use serde_json::Number;

/// How far an exponent may move the point: `1e999999999` would be a gigabyte of zeros.
const EXPONENT: i64 = 400;

/// A decimal number in parts: its sign, its digits, and how many of them stand after the point.
struct Decimal {
    negative: bool,
    digits: String,
    fraction: i64,
}

/// The text as a whole number, if it is one: `12`, `12.0`, `1_000`, `1e3`.
pub(super) fn integer(text: &str) -> Option<Number> {
    let Decimal { negative, mut digits, fraction } = read(text)?;
    if fraction > 0 {
        let whole = digits.len().saturating_sub(usize::try_from(fraction).ok()?);
        if digits.bytes().skip(whole).any(|digit| digit != b'0') {
            return None;
        }
        digits.truncate(whole);
    } else {
        digits.extend(std::iter::repeat_n('0', usize::try_from(-fraction).ok()?));
    }
    let digits = match digits.trim_start_matches('0') {
        "" => return "0".parse().ok(),
        digits => digits,
    };
    format!("{}{digits}", if negative { "-" } else { "" }).parse().ok()
}

/// The text as a number, as it was written where JSON knows that form. What no tool could hold stays text.
pub(super) fn number(text: &str) -> Option<Number> {
    if text.parse().is_ok_and(f64::is_infinite) {
        return None;
    }
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let Decimal { negative, digits, fraction } = read(text)?;
    let digits = match digits.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let sign = if negative { "-" } else { "" };
    if fraction == 0 {
        format!("{sign}{digits}").parse().ok()
    } else {
        format!("{sign}{digits}e{}", -fraction).parse().ok()
    }
}

fn read(text: &str) -> Option<Decimal> {
    let text = text.trim();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = plain(whole)? + &plain(part)?;
    let in_reach = (-EXPONENT..=EXPONENT).contains(&exponent);
    if digits.is_empty() || !in_reach {
        return None;
    }
    let fraction = i64::try_from(plain(part)?.len()).ok()? - exponent;
    Some(Decimal { negative, digits, fraction })
}

/// Digits without the underscores between them.
fn plain(text: &str) -> Option<String> {
    let separated = !text.starts_with('_') && !text.ends_with('_') && !text.contains("__");
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    (separated && digits.bytes().all(|b| b.is_ascii_digit())).then_some(digits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(text: &str) -> Option<String> {
        integer(text).map(|number| number.to_string())
    }

    fn real(text: &str) -> Option<String> {
        number(text).map(|number| number.to_string())
    }

    #[test]
    fn whole_numbers_in_every_spelling() {
        for (text, expected) in [
            ("12", "12"),
            ("+12", "12"),
            ("-12.0", "-12"),
            ("1_000", "1000"),
            ("1e3", "1000"),
            ("1.5E1", "15"),
            ("150e-1", "15"),
            ("007", "7"),
            ("-0", "0"),
            ("0.0", "0"),
            ("5.", "5"),
        ] {
            assert_eq!(whole(text).as_deref(), Some(expected), "{text}");
        }
        for text in
            ["", ".", "1.5", "1e-1", "abc", "0x10", "inf", "nan", "1e401", "1e999999999999", "1__0", "_1", "1 2", "--1"]
        {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_keep_their_digits() {
        for (text, expected) in [
            ("3.0", "3.0"),
            ("0.10", "0.10"),
            ("1_000.5", "10005e-1"),
            (".5", "5e-1"),
            ("5.", "5"),
            ("+1", "1"),
            ("1e300", "1e300"),
        ] {
            let found = real(text).unwrap();
            assert_eq!(found.replace("e+", "e"), expected, "{text}");
        }
        for text in ["nan", "-inf", "Infinity", "1,5", "e5", "1e400", "-1e400"] {
            assert_eq!(real(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_whole_number_survives_any_spelling(n in any::<i128>(), zeros in 0..5_usize, shift in 0..5_usize) {
            let n = n.to_string();
            prop_assert_eq!(whole(&n), Some(n.clone()));
            prop_assert_eq!(whole(&format!("{n}.{}", "0".repeat(zeros))), Some(n.clone()));
            prop_assert_eq!(whole(&format!("{n}{}e-{shift}", "0".repeat(shift))), Some(n));
        }

        #[test]
        fn any_text_gets_an_answer(text in "\\PC{0,12}|[-+0-9._eE]{0,12}") {
            if let Some(number) = number(&text) {
                prop_assert!(serde_json::from_str::<Number>(&number.to_string()).is_ok());
            }
            let _ = integer(&text);
        }
    }
}
