//! Numbers of any size without rounding, as text in and as text out.

mod parse;
mod show;

pub(crate) use parse::parse;
pub(crate) use show::{Shown, show, show_approximate};

/// A fraction of whole numbers, always in lowest terms.
pub(crate) type Exact = num_rational::BigRational;

/// How large a numerator or denominator may get, in bits: about 3,000 decimal digits. `1000!` (8,530 bits) and
/// `2^10000` fit. Larger answers would fill a model's context without being read, and reducing a fraction costs the
/// square of this.
pub(crate) const MAX_BITS: u64 = 10_240;

/// How large a value is, in bits; what an operation on it costs grows with the square.
pub(crate) fn size(value: &Exact) -> u64 {
    value.numer().bits() + value.denom().bits()
}

/// Ten to the given power.
pub(crate) fn power_of_ten(exponent: u32) -> num_bigint::BigInt {
    num_bigint::BigInt::from(10).pow(exponent)
}
