//! What the tool promises, seen from the host.

#![allow(clippy::unwrap_used)]

use hermes_tool::testing::FakeHost;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::calculate;

fn answer(expression: &str) -> Result<Value, String> {
    let arguments = json!({ "expression": expression }).to_string();
    let reply = FakeHost::new().call(calculate::TOOL, &arguments);
    reply.map(|reply| reply.json()).map_err(|error| error.to_string())
}

fn result(expression: &str) -> String {
    answer(expression).unwrap()["result"].as_str().unwrap().to_owned()
}

fn error(expression: &str) -> String {
    answer(expression).unwrap_err()
}

#[test]
fn decimal_arithmetic_is_exact() {
    assert_eq!(answer("0.1+0.2").unwrap(), json!({ "result": "0.3", "exact": true }));
    assert_eq!(answer("1/3*3").unwrap(), json!({ "result": "1", "exact": true }));
    assert_eq!(result("2^200"), "1606938044258990275541962092341162602522202993782792835301376");
    assert_eq!(result("52! / (5! * 47!)"), "2598960");
}

#[test]
fn a_rounded_result_comes_with_its_fraction() {
    let expected = json!({ "result": "0.33333333333333333333", "exact": false, "fraction": "1/3" });
    assert_eq!(answer("1/3").unwrap(), expected);
    let reply = FakeHost::new().call(calculate::TOOL, r#"{"expression": "2/3", "digits": 2}"#).unwrap();
    assert_eq!(reply.json()["result"], "0.67");
}

#[test]
fn operators_bind_as_in_mathematics() {
    assert_eq!(result("2+3*4"), "14");
    assert_eq!(result("-2^2"), "-4");
    assert_eq!(result("2^3^2"), "512");
    assert_eq!(result("2^-2"), "0.25");
    assert_eq!(result("8/4/2"), "1");
    assert_eq!(result("2*3!"), "12");
    assert_eq!(result("--5"), "5");
    assert_eq!(result("(1+2)*(3+4)"), "21");
}

#[test]
fn the_remainder_follows_the_divisor() {
    assert_eq!(result("7 % 3"), "1");
    assert_eq!(result("-7 % 3"), "2");
    assert_eq!(result("7 % -3"), "-2");
    assert_eq!(result("5.5 % 2"), "1.5");
}

#[test]
fn percentages_are_taken_of_something() {
    assert_eq!(result("15% of 80"), "12");
    assert_eq!(result("100 + 10 % of (20+30)"), "105");
    assert!(error("100 + 10%").contains("write percentages as `15% of 80`"));
}

#[test]
fn exact_functions_stay_exact() {
    for (expression, expected) in [
        ("sqrt(9/4)", "1.5"),
        ("abs(-3)", "3"),
        ("min(3, 1/3, 2) * 3", "1"),
        ("max(1, 2, -5)", "2"),
        ("floor(-1.5)", "-2"),
        ("ceil(-1.5)", "-1"),
        ("round(2.5)", "3"),
        ("round(1234.567, 2)", "1234.57"),
        ("round(1234.567, -2)", "1200"),
        ("gcd(12, 18, 27)", "3"),
        ("lcm(4, 6, -10)", "60"),
        ("lcm(0, 3)", "0"),
    ] {
        assert_eq!(answer(expression).unwrap(), json!({ "result": expected, "exact": true }), "{expression}");
    }
}

#[test]
fn inexact_functions_say_so() {
    assert_eq!(answer("sqrt(2)").unwrap(), json!({ "result": "1.4142135623731", "exact": false }));
    assert_eq!(result("sin(30 * pi/180)"), "0.5");
    assert_eq!(result("sin(pi)"), "0");
    assert_eq!(result("ln(e)"), "1");
    assert_eq!(result("2^0.5 * 2^0.5"), "2");
    assert_eq!(result("exp(700)"), "1.014232054735e304");
}

#[test]
fn errors_say_what_where_and_what_instead() {
    for (expression, expected) in [
        ("1/0", "division by zero (at character 2, where it says `/0`)"),
        ("1+", "expected a number, a name or `(` (at the end of the expression)"),
        ("", "expected a number, a name or `(` (at the end of the expression)"),
        ("2*(3+4", "expected `)` for the parenthesis opened at character 3 (at the end of the expression)"),
        ("1)", "a closing parenthesis without an opening one (at character 2, where it says `)`)"),
        ("2(3)", "an operator is missing; to multiply write `*` (at character 2, where it says `(3)`)"),
        ("2pi", "`2pi` is not a number; to multiply write `*`, as in 2*pi (at character 1, where it says `2pi`)"),
        ("sqrt 4", "`sqrt` is a function: write sqrt(x) (at character 1, where it says `sqrt 4`)"),
        ("sin(1, 2)", "`sin` cannot take 2 argument(s): write sin(x) (at character 1, where it says `sin(1, 2)`)"),
        ("sqrt(-1)", "a negative number has no real square root (at character 1, where it says `sqrt(-1)`)"),
        ("0.5!", "a factorial needs a whole number from 0 to 1000 (at character 4, where it says `!`)"),
    ] {
        assert_eq!(error(expression), expected, "{expression}");
    }
    assert!(error("1,000 + 1").starts_with("a comma outside a function; write thousands as 1_000"));
    assert!(error("sqr(2)").starts_with("`sqr` is not known. Did you mean sqrt?"));
    assert!(error("gcd(1.5, 2)").starts_with("`gcd` takes whole numbers only"));
}

#[test]
fn what_would_never_end_is_refused_at_once() {
    assert!(error("9^9^9").starts_with("the result is too long"));
    assert!(error("1001!").starts_with("a factorial needs"));
    assert!(error("3!!!!").starts_with("a factorial needs"));
    assert!(error("2^9000 * 2^9000").starts_with("the result is too long"));
    assert!(error(&"(".repeat(500)).starts_with("nested more than 64 levels deep"));
    assert!(error(&"-".repeat(500)).starts_with("nested more than 64 levels deep"));
    assert!(error(&"2^".repeat(400)).starts_with("nested more than 64 levels deep"));
    assert!(error(&"1+".repeat(501)).contains("at most 1000 are possible"));
}

#[test]
fn the_schema_names_the_bound_of_the_places() {
    let schema = FakeHost::new().parameters(calculate::TOOL);
    assert_eq!(schema["properties"]["digits"]["maximum"], super::MAX_PLACES);
    assert_eq!(schema["required"], json!(["expression"]));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,60}") {
        let _ = answer(&text);
    }

    #[test]
    fn nothing_that_looks_like_arithmetic_makes_it_panic(
        text in "([0-9]{1,3}|[-+*/%^!(),.e ]|min|sqrt|round|gcd|lcm|ln){0,40}",
    ) {
        let _ = answer(&text);
    }

    #[test]
    fn whole_numbers_add_as_the_machine_adds_them(a: i64, b: i64) {
        prop_assert_eq!(result(&format!("{a} + {b}")), (i128::from(a) + i128::from(b)).to_string());
    }
}
