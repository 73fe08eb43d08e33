//! The operators, on fractions as long as possible and on f64 from there on, with a bound on the work of a whole
//! expression.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::number::{Exact, MAX_BITS, size};

/// What the operations of one expression may cost together. The cost of one is the square of its larger operand in
/// bits: that is how the time for reducing a fraction grows. A unit was measured to be at most 0.75 instructions, so
/// this is 600 million of the 2,000 million that a call has. Numbers of a hundred digits never get there; of the
/// largest, there can be eight operations on whole numbers and two on fractions.
const MAX_WORK: u64 = 800_000_000;

/// The largest whole number with a factorial: `1000!` has 2,568 digits and is the last round one below `MAX_BITS`.
const MAX_FACTORIAL: u32 = 1_000;

/// A number in an expression: a fraction until the first function that only f64 has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Exact(Exact),
    Approximate(f64),
}

impl Value {
    pub(crate) fn whole(number: u32) -> Self {
        Self::Exact(Exact::from_integer(number.into()))
    }

    /// An f64 that is a number; `complaint` is the error for one that is not.
    pub(crate) fn approximate(value: f64, complaint: impl FnOnce() -> String) -> Result<Self, String> {
        if value.is_finite() { Ok(Self::Approximate(value)) } else { Err(complaint()) }
    }

    pub(crate) fn to_f64(&self) -> Result<f64, String> {
        match self {
            Self::Approximate(value) => Ok(*value),
            Self::Exact(value) => value
                .to_f64()
                .filter(|value| value.is_finite())
                .ok_or_else(|| "the number is too large for an inexact function, which works up to 1.8e308".to_owned()),
        }
    }

    pub(crate) fn is_negative(&self) -> bool {
        match self {
            Self::Exact(value) => value.is_negative(),
            Self::Approximate(value) => *value < 0.0,
        }
    }

    /// The whole number that this is exactly.
    pub(crate) fn as_whole(&self) -> Option<&BigInt> {
        match self {
            Self::Exact(value) if value.is_integer() => Some(value.numer()),
            _ => None,
        }
    }

    /// Applies the one of two functions that fits, where neither can fail nor grow.
    pub(crate) fn map(self, exact: impl FnOnce(Exact) -> Exact, approximate: impl FnOnce(f64) -> f64) -> Self {
        match self {
            Self::Exact(value) => Self::Exact(exact(value)),
            Self::Approximate(value) => Self::Approximate(approximate(value)),
        }
    }
}

/// Computes, and counts what it costs.
pub(crate) struct Arithmetic {
    work_left: u64,
}

impl Arithmetic {
    pub(crate) fn new() -> Self {
        Self { work_left: MAX_WORK }
    }

    pub(crate) fn add(&mut self, a: Value, b: Value) -> Result<Value, String> {
        self.combine(a, b, |a, b| a + b, |a, b| a + b)
    }

    pub(crate) fn subtract(&mut self, a: Value, b: Value) -> Result<Value, String> {
        self.combine(a, b, |a, b| a - b, |a, b| a - b)
    }

    pub(crate) fn multiply(&mut self, a: Value, b: Value) -> Result<Value, String> {
        self.combine(a, b, |a, b| a * b, |a, b| a * b)
    }

    pub(crate) fn divide(&mut self, a: Value, b: Value) -> Result<Value, String> {
        let zero = match &b {
            Value::Exact(value) => value.is_zero(),
            Value::Approximate(value) => *value == 0.0,
        };
        if zero {
            return Err("division by zero".into());
        }
        self.combine(a, b, |a, b| a / b, |a, b| a / b)
    }

    /// The remainder with the divisor's sign, as in Python.
    pub(crate) fn remainder(&mut self, a: Value, b: Value) -> Result<Value, String> {
        let times = self.divide(a.clone(), b.clone())?.map(|q| q.floor(), f64::floor);
        let taken = self.multiply(b, times)?;
        self.subtract(a, taken)
    }

    pub(crate) fn power(&mut self, base: Value, exponent: Value) -> Result<Value, String> {
        if let (Value::Exact(base), Some(exponent)) = (&base, exponent.as_whole()) {
            return exact_power(base, exponent).map(Value::Exact);
        }
        let (base, exponent) = (base.to_f64()?, exponent.to_f64()?);
        Value::approximate(base.powf(exponent), || format!("{base}^{exponent} has no real value below 1.8e308"))
    }

    pub(crate) fn factorial(&mut self, value: &Value) -> Result<Value, String> {
        let count = value.as_whole().and_then(ToPrimitive::to_u32).filter(|count| *count <= MAX_FACTORIAL);
        let count = count.ok_or_else(|| format!("a factorial needs a whole number from 0 to {MAX_FACTORIAL}"))?;
        Ok(Value::Exact(Exact::from_integer((2..=count).fold(BigInt::one(), |product, factor| product * factor))))
    }

    /// Exact where the root is a fraction, as of 9/4.
    pub(crate) fn square_root(&mut self, value: &Value) -> Result<Value, String> {
        if value.is_negative() {
            return Err("a negative number has no real square root".into());
        }
        if let Value::Exact(value) = value {
            self.charge(size(value))?;
            let root = Exact::new_raw(value.numer().sqrt(), value.denom().sqrt());
            if root.numer().pow(2) == *value.numer() && root.denom().pow(2) == *value.denom() {
                return Ok(Value::Exact(root));
            }
        }
        Ok(Value::Approximate(value.to_f64()?.sqrt()))
    }

    pub(crate) fn gcd(&mut self, a: &BigInt, b: &BigInt) -> Result<BigInt, String> {
        self.charge(a.bits().max(b.bits()))?;
        Ok(a.gcd(b))
    }

    fn combine(
        &mut self,
        a: Value,
        b: Value,
        exact: fn(Exact, Exact) -> Exact,
        approximate: fn(f64, f64) -> f64,
    ) -> Result<Value, String> {
        match (a, b) {
            (Value::Exact(a), Value::Exact(b)) => {
                self.charge(size(&a).max(size(&b)))?;
                within_size(exact(a, b)).map(Value::Exact)
            }
            (a, b) => Value::approximate(approximate(a.to_f64()?, b.to_f64()?), || {
                "the inexact result is too large: f64 ends at 1.8e308".into()
            }),
        }
    }

    fn charge(&mut self, bits: u64) -> Result<(), String> {
        self.work_left = self
            .work_left
            .checked_sub(bits * bits)
            .ok_or("too many operations on very long numbers; use smaller numbers, or split the expression")?;
        Ok(())
    }
}

/// Both operands of an operation are within the size, so what it makes before this check is at most twice as long.
fn within_size(value: Exact) -> Result<Exact, String> {
    if value.numer().bits().max(value.denom().bits()) > MAX_BITS { Err(too_long()) } else { Ok(value) }
}

fn exact_power(base: &Exact, exponent: &BigInt) -> Result<Exact, String> {
    if base.is_zero() && exponent.is_negative() {
        return Err("zero has no negative power: that is a division by zero".into());
    }
    // A number of n bits is at least 2^(n-1), so this is a lower bound of the result's size. It is checked before
    // anything is computed: the result of 9^9^9 would not fit into memory.
    let bits = base.numer().bits().max(base.denom().bits()).saturating_sub(1);
    let times =
        exponent.magnitude().to_u32().filter(|times| bits * u64::from(*times) <= MAX_BITS).ok_or_else(too_long)?;
    let (numerator, denominator) = (base.numer().pow(times), base.denom().pow(times));
    // Powers of a reduced fraction are reduced.
    let power = Exact::new_raw(numerator, denominator);
    within_size(if exponent.is_negative() { power.recip() } else { power })
}

fn too_long() -> String {
    format!("the result is too long: numbers may have up to {} digits", MAX_BITS * 3 / 10)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ratio(numerator: i64, denominator: i64) -> Value {
        Value::Exact(Exact::new(numerator.into(), denominator.into()))
    }

    #[test]
    fn powers_are_refused_before_they_are_computed() {
        let mut arithmetic = Arithmetic::new();
        assert!(arithmetic.power(ratio(9, 1), ratio(387_420_489, 1)).unwrap_err().contains("too long"));
        assert!(arithmetic.power(ratio(2, 1), ratio(10_000, 1)).is_ok());
        assert!(arithmetic.power(ratio(2, 1), ratio(10_300, 1)).unwrap_err().contains("up to 3072 digits"));
        assert_eq!(arithmetic.power(ratio(-1, 1), ratio(4_000_000_001, 1)).unwrap(), ratio(-1, 1));
    }

    #[test]
    fn negative_powers_turn_the_fraction_over() {
        let mut arithmetic = Arithmetic::new();
        assert_eq!(arithmetic.power(ratio(-2, 3), ratio(-3, 1)).unwrap(), ratio(-27, 8));
        assert!(arithmetic.power(ratio(0, 1), ratio(-1, 1)).unwrap_err().contains("division by zero"));
    }

    #[test]
    fn the_work_of_an_expression_is_bounded() {
        let mut arithmetic = Arithmetic::new();
        let large = arithmetic.power(ratio(3, 7), ratio(3_500, 1)).unwrap();
        let refused = (0..100).find_map(|_| arithmetic.add(large.clone(), large.clone()).err());
        assert!(refused.unwrap().contains("too many operations on very long numbers"));
    }

    proptest! {
        #[test]
        fn adding_and_subtracting_again_changes_nothing(a: i64, b in 1_i64.., c: i64, d in 1_i64..) {
            let mut arithmetic = Arithmetic::new();
            let sum = arithmetic.add(ratio(a, b), ratio(c, d)).unwrap();
            prop_assert_eq!(arithmetic.subtract(sum, ratio(c, d)).unwrap(), ratio(a, b));
        }

        #[test]
        fn multiplying_and_dividing_again_changes_nothing(a: i64, b in 1_i64.., c in 1_i64.., d in 1_i64..) {
            let mut arithmetic = Arithmetic::new();
            let product = arithmetic.multiply(ratio(a, b), ratio(c, d)).unwrap();
            prop_assert_eq!(arithmetic.divide(product, ratio(c, d)).unwrap(), ratio(a, b));
        }

        #[test]
        fn the_remainder_has_the_divisors_sign_and_is_smaller(a: i64, b in 1_i64.., c: i64, d in 1_i64..) {
            prop_assume!(c != 0);
            let mut arithmetic = Arithmetic::new();
            let Value::Exact(rest) = arithmetic.remainder(ratio(a, b), ratio(c, d)).unwrap() else { unreachable!() };
            let divisor = Exact::new(c.into(), d.into());
            prop_assert!(rest.abs() < divisor.abs());
            prop_assert!(rest.is_zero() || rest.is_negative() == divisor.is_negative());
        }
    }
}
