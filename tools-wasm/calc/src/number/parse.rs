//! From text to a number: `-1_000.5e-3`, `0xff`, `0b101`, `0o17`.

use num_bigint::{BigInt, BigUint};
use num_traits::Num;

use super::{Exact, power_of_ten};

/// The longest number that may be written out. Reading digits costs the square of their count.
const MAX_LENGTH: usize = 1_000;

/// The largest power of ten behind an `e`. Covers all of f64 (5e-324 to 1.8e308); with more, a handful of characters
/// would make numbers that are costly to reduce.
const MAX_EXPONENT: u32 = 400;

/// Reads a whole text as one number. The error says what is wrong with it.
pub(crate) fn parse(text: &str) -> Result<Exact, String> {
    if text.len() > MAX_LENGTH {
        return Err(format!("a number may have at most {MAX_LENGTH} characters, this one has {}", text.len()));
    }
    let trimmed = text.trim();
    let (negative, unsigned) = match trimmed.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let digits = unsigned.replace('_', "");
    let value = match digits.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => whole(&digits[2..], 16).map(Exact::from_integer),
        Some("0b") => whole(&digits[2..], 2).map(Exact::from_integer),
        Some("0o") => whole(&digits[2..], 8).map(Exact::from_integer),
        _ => decimal(&digits)?,
    };
    let value = value.ok_or_else(|| format!("`{trimmed}` is not a number"))?;
    Ok(if negative { -value } else { value })
}

/// `None` where the text is no decimal number at all, an error where it is one that is too large.
fn decimal(text: &str) -> Result<Option<Exact>, String> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (Some(digits), Some(exponent)) = (whole(&format!("{before}{after}"), 10), signed(exponent)) else {
        return Ok(None);
    };
    let Some(exponent) = exponent.filter(|exponent| exponent.unsigned_abs() <= MAX_EXPONENT) else {
        return Err(format!(
            "the power of ten in `{text}` is too large: at most e{MAX_EXPONENT} and at least e-{MAX_EXPONENT}"
        ));
    };
    // Both are below MAX_LENGTH + MAX_EXPONENT.
    let shift = exponent - after.len() as i32;
    let scale = power_of_ten(shift.unsigned_abs());
    Ok(Some(if shift < 0 { Exact::new(digits, scale) } else { Exact::from_integer(digits * scale) }))
}

/// Digits and nothing else; the library alone would also accept a sign.
fn whole(digits: &str, radix: u32) -> Option<BigInt> {
    let plain = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    plain.then(|| BigUint::from_str_radix(digits, radix).ok()).flatten().map(BigInt::from)
}

/// The exponent: `None` where it is not one, `Some(None)` where it is too large for an i32.
fn signed(text: &str) -> Option<Option<i32>> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let plain = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    plain.then(|| text.parse().ok())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn fraction(text: &str) -> String {
        parse(text).unwrap().to_string()
    }

    #[test]
    fn every_way_of_writing_is_exact() {
        assert_eq!(fraction("0.1"), "1/10");
        assert_eq!(fraction("-1_000.5"), "-2001/2");
        assert_eq!(fraction("1.5e3"), "1500");
        assert_eq!(fraction("1E-2"), "1/100");
        assert_eq!(fraction(".5"), "1/2");
        assert_eq!(fraction("5."), "5");
        assert_eq!(fraction("0xFF"), "255");
        assert_eq!(fraction("0b101"), "5");
        assert_eq!(fraction("0o17"), "15");
        assert_eq!(fraction(" +7 "), "7");
    }

    #[test]
    fn other_text_is_refused_by_name() {
        for text in ["", ".", "-", "--1", "1.2.3", "abc", "0x", "0xg", "0x+1", "1e", "1e1.5", "1,000", "½"] {
            let why = parse(text).unwrap_err();
            assert!(why.ends_with("is not a number"), "{text}: {why}");
        }
    }

    #[test]
    fn size_is_bounded_with_a_reason() {
        assert!(parse("1e400").is_ok());
        assert!(parse("1e401").unwrap_err().contains("at most e400"));
        assert!(parse("1e-99999999999999999999").unwrap_err().contains("at least e-400"));
        assert!(parse(&"9".repeat(1_001)).unwrap_err().contains("at most 1000 characters"));
    }
}
