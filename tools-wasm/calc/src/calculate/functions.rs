//! The functions and constants that an expression may name.

use num_bigint::BigInt;
use num_traits::{Signed, Zero};

use super::arithmetic::{Arithmetic, Value};
use super::inexact;
use crate::number::Exact;
use crate::suggest::did_you_mean;

/// The functions that keep fractions exact, with the way they are called, which is also what an error says.
const EXACT: [(&str, &str); 9] = [
    ("abs", "abs(x)"),
    ("min", "min(a, b, …)"),
    ("max", "max(a, b, …)"),
    ("floor", "floor(x)"),
    ("ceil", "ceil(x)"),
    ("round", "round(x) or round(x, places)"),
    ("gcd", "gcd(a, b, …)"),
    ("lcm", "lcm(a, b, …)"),
    ("sqrt", "sqrt(x)"),
];

/// The value of a name without parentheses.
pub(crate) fn constant(name: &str) -> Result<Value, String> {
    match inexact::constant(name) {
        Some(value) => Ok(Value::Approximate(value)),
        None if names().any(|known| known == name) => Err(format!("`{name}` is a function: write {}", usage(name))),
        None => Err(unknown(name)),
    }
}

/// The value of a function.
pub(crate) fn call(arithmetic: &mut Arithmetic, name: &str, arguments: &[Value]) -> Result<Value, String> {
    match (name, arguments) {
        ("abs", [x]) => Ok(x.clone().map(|x| x.abs(), f64::abs)),
        ("floor", [x]) => Ok(x.clone().map(|x| x.floor(), f64::floor)),
        ("ceil", [x]) => Ok(x.clone().map(|x| x.ceil(), f64::ceil)),
        ("round", [x]) => Ok(x.clone().map(|x| x.round(), f64::round)),
        ("round", [x, places]) => round_to(arithmetic, x, places),
        ("min", [first, rest @ ..]) => extreme(arithmetic, first, rest, true),
        ("max", [first, rest @ ..]) => extreme(arithmetic, first, rest, false),
        ("gcd", [_, ..]) => gcd(arithmetic, &whole(name, arguments)?),
        ("lcm", [_, ..]) => lcm(arithmetic, &whole(name, arguments)?),
        ("sqrt", [x]) => arithmetic.square_root(x),
        (_, [x]) if inexact::function(name).is_some() => inexact::apply(name, x.to_f64()?),
        _ if names().any(|known| known == name) => {
            Err(format!("`{name}` cannot take {} argument(s): write {}", arguments.len(), usage(name)))
        }
        _ => Err(unknown(name)),
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    EXACT.iter().map(|(name, _)| *name).chain(inexact::FUNCTIONS.iter().map(|(name, _)| *name))
}

fn usage(name: &str) -> String {
    let exact = EXACT.iter().find(|(known, _)| *known == name);
    exact.map_or_else(|| format!("{name}(x)"), |(_, usage)| (*usage).to_owned())
}

fn unknown(name: &str) -> String {
    let known: Vec<&str> = names().chain(inexact::CONSTANTS.iter().map(|(name, _)| *name)).collect();
    let hint = did_you_mean(name, known.iter().map(|name| (*name).to_owned()));
    format!("`{name}` is not known.{hint} There are: {}", known.join(", "))
}

fn round_to(arithmetic: &mut Arithmetic, x: &Value, places: &Value) -> Result<Value, String> {
    if places.as_whole().is_none() {
        return Err("the places in round(x, places) must be a whole number".into());
    }
    let scale = arithmetic.power(Value::whole(10), places.clone())?;
    let scaled = arithmetic.multiply(x.clone(), scale.clone())?.map(|x| x.round(), f64::round);
    arithmetic.divide(scaled, scale)
}

/// Compares by subtracting: comparing two fractions directly recurses once per term of their continued fractions, which
/// is more than the stack has for long ones.
fn extreme(arithmetic: &mut Arithmetic, first: &Value, rest: &[Value], smallest: bool) -> Result<Value, String> {
    let mut best = first;
    for value in rest {
        let (small, large) = if smallest { (value, best) } else { (best, value) };
        if arithmetic.subtract(small.clone(), large.clone())?.is_negative() {
            best = value;
        }
    }
    Ok(best.clone())
}

fn whole<'a>(name: &str, arguments: &'a [Value]) -> Result<Vec<&'a BigInt>, String> {
    let numbers = arguments.iter().map(Value::as_whole).collect::<Option<_>>();
    numbers.ok_or_else(|| format!("`{name}` takes whole numbers only"))
}

fn gcd(arithmetic: &mut Arithmetic, numbers: &[&BigInt]) -> Result<Value, String> {
    let divisor = numbers.iter().try_fold(BigInt::zero(), |divisor, number| arithmetic.gcd(&divisor, number))?;
    Ok(Value::Exact(Exact::from_integer(divisor)))
}

fn lcm(arithmetic: &mut Arithmetic, numbers: &[&BigInt]) -> Result<Value, String> {
    if numbers.iter().any(|number| number.is_zero()) {
        return Ok(Value::whole(0));
    }
    let exact = |number: BigInt| Value::Exact(Exact::from_integer(number));
    numbers.iter().try_fold(Value::whole(1), |multiple, number| {
        let common = match multiple.as_whole() {
            Some(multiple) => arithmetic.gcd(multiple, number)?,
            None => BigInt::from(1),
        };
        arithmetic.multiply(multiple, exact(number.abs() / common))
    })
}
