//! The functions and constants that have no exact value, in f64.

use std::f64::consts;

use super::arithmetic::Value;

/// A function of one real number.
pub(crate) type Function = fn(f64) -> f64;

pub(crate) const CONSTANTS: [(&str, f64); 3] = [("pi", consts::PI), ("e", consts::E), ("tau", consts::TAU)];

pub(crate) const FUNCTIONS: [(&str, Function); 10] = [
    ("exp", f64::exp),
    ("ln", f64::ln),
    ("log10", f64::log10),
    ("log2", f64::log2),
    ("sin", sine),
    ("cos", cosine),
    ("tan", |x| sine(x) / cosine(x)),
    ("asin", f64::asin),
    ("acos", f64::acos),
    ("atan", f64::atan),
];

pub(crate) fn constant(name: &str) -> Option<f64> {
    CONSTANTS.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

pub(crate) fn function(name: &str) -> Option<Function> {
    FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
}

/// Calls a function by name; outside its domain is an error, not a NaN.
pub(crate) fn apply(name: &str, x: f64) -> Result<Value, String> {
    let value = function(name).map_or(f64::NAN, |function| function(x));
    Value::approximate(value, || format!("{name}({x}) has no real value below 1.8e308"))
}

fn sine(x: f64) -> f64 {
    snap(x.sin(), x)
}

fn cosine(x: f64) -> f64 {
    snap(x.cos(), x)
}

/// A sine or cosine below the rounding error of its own argument is zero for all we know. This is what makes `sin(pi)`
/// 0 and `tan(pi/2)` an error.
fn snap(value: f64, argument: f64) -> f64 {
    if value.abs() < argument.abs() * f64::EPSILON { 0.0 } else { value }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn zeros_of_sine_and_cosine_are_zero() {
        assert_eq!(sine(consts::PI), 0.0);
        assert_eq!(cosine(consts::FRAC_PI_2), 0.0);
        assert_eq!(sine(1e-20), 1e-20);
        assert!(apply("tan", consts::FRAC_PI_2).unwrap_err().contains("has no real value"));
    }

    #[test]
    fn outside_the_domain_is_an_error() {
        for (name, x) in [("ln", 0.0), ("ln", -1.0), ("asin", 2.0), ("exp", 1000.0)] {
            assert!(apply(name, x).is_err(), "{name}({x})");
        }
    }
}
