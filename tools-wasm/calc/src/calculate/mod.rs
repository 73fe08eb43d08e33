//! The tool `calculate`: expressions in exact arithmetic.

mod arithmetic;
mod evaluate;
mod fault;
mod functions;
mod inexact;
#[cfg(test)]
mod tests;
mod token;

use hermes_tool::{Error, Json, Result, args, output, tool};

use self::arithmetic::Value;
use self::evaluate::evaluate;
use crate::number::{Shown, show, show_approximate};

/// The longest expression in characters: a page of arithmetic. It bounds how many operations there can be, and with
/// them everything that is not counted one by one.
const MAX_EXPRESSION: usize = 1_000;

/// The most decimal places that may be asked for. The schema of [`Calculate::digits`] repeats it, since it takes
/// literals.
const MAX_PLACES: u32 = 1_000;

#[args]
pub(crate) struct Calculate {
    /// The expression, such as `(1 + 2/3)^2 * 1_000` or `15% of 80`. At most 1000 characters.
    expression: String,
    /// Decimal places to round the result to. Without it, up to 20 are shown.
    #[schema(maximum = 1000)]
    digits: Option<u32>,
}

#[output]
pub(crate) struct Answer {
    /// The value in decimal.
    result: String,
    /// Whether `result` is the value itself. If not, it was rounded, or computed with a function that is not exact.
    exact: bool,
    /// The exact value as a fraction, where `result` had to be rounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    fraction: Option<String>,
}

/// Calculates an expression exactly, without rounding and with up to 3,000 digits: 0.1+0.2 is 0.3, 2^200 has all its
/// digits, and 1/3 comes with its fraction. Use it instead of calculating in your head.
///
/// Operators: + - * / % (remainder) ^ ! and parentheses; `15% of 80`. Numbers: 1_000, 1.5e3, 0xff, 0b101.
/// Exact functions: abs, min, max, floor, ceil, round(x, places), gcd, lcm, sqrt of squares.
/// To 15 digits: other sqrt, exp, ln, log10, log2, sin, cos, tan, asin, acos, atan (radians), pi, e, tau.
/// Examples: `1234.56 * 1.19`, `52! / (5! * 47!)`, `sin(30 * pi/180)`.
#[tool(emoji = "🧮", read_only, idempotent, parallel_safe)]
pub(crate) fn calculate(args: Calculate) -> Result<Json<Answer>> {
    let Calculate { expression, digits } = args;
    let length = expression.chars().count();
    if length > MAX_EXPRESSION {
        return Err(Error::invalid(format!(
            "the expression has {length} characters, at most {MAX_EXPRESSION} are possible; split it into parts"
        )));
    }
    let places = digits.map(|digits| digits.min(MAX_PLACES));
    let value = evaluate(&expression).map_err(|fault| Error::invalid(fault.explain(&expression)))?;
    let Shown { result, exact, fraction } = match value {
        Value::Exact(value) => show(&value, places),
        Value::Approximate(value) => show_approximate(value, places),
    };
    Ok(Json(Answer { result, exact, fraction }))
}
