//! From a number to decimal text, honest about what was rounded away.

use num_integer::Integer;
use num_traits::{Signed, Zero};

use super::{Exact, parse, power_of_ten};

/// Decimal places where none are asked for: more than f64 has, few enough to read.
const DEFAULT_PLACES: u32 = 20;

/// Significant digits of an f64 that are right whatever was computed before: it has 15.95, and functions err in the
/// last.
const APPROXIMATE_DIGITS: usize = 15;

/// A number as an answer shows it.
#[derive(Debug, PartialEq)]
pub(crate) struct Shown {
    /// Decimal text.
    pub(crate) result: String,
    /// Whether the text is the value itself.
    pub(crate) exact: bool,
    /// The value itself, where it is known and the text had to be rounded.
    pub(crate) fraction: Option<String>,
}

/// Rounds half away from zero to the given decimal places.
pub(crate) fn show(value: &Exact, places: Option<u32>) -> Shown {
    let places = places.unwrap_or_else(|| DEFAULT_PLACES + leading_zeros(value));
    let scaled = value.numer().abs() * power_of_ten(places);
    let (mut quotient, remainder) = scaled.div_rem(value.denom());
    if &remainder * 2 >= *value.denom() {
        quotient += 1;
    }
    let negative = value.is_negative() && !quotient.is_zero();
    let exact = remainder.is_zero();
    Shown {
        result: point(&quotient.to_string(), places as usize, negative),
        exact,
        fraction: (!exact).then(|| value.to_string()),
    }
}

/// What f64 arithmetic gave: as many digits as can be trusted, in scientific notation where plain text would be
/// padding.
pub(crate) fn show_approximate(value: f64, places: Option<u32>) -> Shown {
    let scientific = format!("{value:.*e}", APPROXIMATE_DIGITS - 1);
    let plain = value == 0.0 || (1e-5..1e15).contains(&value.abs());
    let result = match parse(&scientific) {
        Ok(rounded) if plain || places.is_some() => show(&rounded, places).result,
        _ => without_padding(&scientific),
    };
    Shown { result, exact: false, fraction: None }
}

/// The zeros between the point and the first other digit, give or take one. Without them, 1/10^30 would be shown as 0.
fn leading_zeros(value: &Exact) -> u32 {
    let bits = value.denom().bits().saturating_sub(value.numer().bits());
    // log10(2) is just above 0.3, and MAX_BITS fits.
    u32::try_from(bits * 3 / 10).unwrap_or(u32::MAX)
}

fn point(digits: &str, places: usize, negative: bool) -> String {
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    let fraction = fraction.trim_end_matches('0');
    let sign = if negative { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

/// `1.50000e300` as `1.5e300`.
fn without_padding(scientific: &str) -> String {
    match scientific.split_once('e') {
        Some((mantissa, exponent)) => {
            let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
            format!("{mantissa}e{exponent}")
        }
        None => scientific.to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn shown(numerator: i64, denominator: i64, places: Option<u32>) -> (String, bool) {
        let shown = show(&Exact::new(numerator.into(), denominator.into()), places);
        assert_eq!(shown.fraction.is_none(), shown.exact);
        (shown.result, shown.exact)
    }

    #[test]
    fn finite_decimals_are_shown_whole() {
        assert_eq!(shown(1, 8, None), ("0.125".into(), true));
        assert_eq!(shown(-1200, 1, None), ("-1200".into(), true));
        assert_eq!(shown(0, 1, Some(0)), ("0".into(), true));
    }

    #[test]
    fn rounding_goes_half_away_from_zero_and_is_admitted() {
        assert_eq!(shown(1, 3, None), ("0.33333333333333333333".into(), false));
        assert_eq!(shown(5, 2, Some(0)), ("3".into(), false));
        assert_eq!(shown(-5, 2, Some(0)), ("-3".into(), false));
        assert_eq!(shown(-1, 1000, Some(2)), ("0".into(), false));
    }

    #[test]
    fn small_values_keep_their_digits_unless_places_are_asked_for() {
        let tiny = parse("1.25e-30").unwrap();
        assert_eq!(show(&tiny, None).result, format!("0.{}125", "0".repeat(29)));
        assert_eq!(show(&tiny, Some(3)).result, "0");
    }

    #[test]
    fn approximations_show_only_digits_that_can_be_trusted() {
        assert_eq!(show_approximate(0.1 + 0.2, None).result, "0.3");
        assert_eq!(show_approximate(1e300, None).result, "1e300");
        assert_eq!(show_approximate(-1.5e-20, None).result, "-1.5e-20");
        assert_eq!(show_approximate(std::f64::consts::PI, Some(2)).result, "3.14");
        assert!(!show_approximate(0.0, None).exact);
    }
}
