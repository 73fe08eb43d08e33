//! The tool `convert_units`.

mod lookup;
mod prefix;
mod quantity;
mod units;

use hermes_tool::{Error, Json, Result, args, output, tool};
use num_traits::Signed;

use self::lookup::{Measure, find};
use self::quantity::Quantity;
use self::units::Kind;
use crate::number::{Exact, Shown, show};

#[args]
pub(crate) struct ConvertUnits {
    /// How many, as a number or a text with one: 26.2, "1e3".
    value: Quantity,
    /// The unit of the value: mi, kilometres, °F, sq ft, m/s, GiB.
    #[schema(max_length = 60)]
    from: String,
    /// The unit of the result.
    #[schema(max_length = 60)]
    to: String,
}

#[output]
pub(crate) struct Converted {
    /// The value in the unit asked for, in decimal.
    result: String,
    /// Whether `result` is the value itself. If not, it was rounded.
    exact: bool,
    /// The exact value as a fraction, where `result` had to be rounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    fraction: Option<String>,
    /// The unit that `from` was taken for.
    from: String,
    /// The unit of the result.
    to: String,
}

/// Converts between units of length, mass, temperature, area, volume, speed, time, data, pressure, energy, power and
/// angle, exactly wherever the units are defined exactly.
///
/// Names and symbols both work: km, kilometres, sq ft, m², km/h, °C, kWh. Data: MB is 10^6 bytes, MiB 2^20, Mb is bits.
/// gallon, quart, pint, fluid ounce and ton are the US ones; write `imperial gallon` and so on for the others.
/// Example: value 26.2, from "mi", to "km" gives 42.1648128.
#[tool(emoji = "📏", read_only, idempotent, parallel_safe)]
pub(crate) fn convert_units(args: ConvertUnits) -> Result<Json<Converted>> {
    let from = find(&args.from).map_err(Error::invalid)?;
    let to = find(&args.to).map_err(Error::invalid)?;
    let value = convert(args.value.0, &from, &to).map_err(Error::invalid)?;
    let Shown { result, exact, fraction } = show(&value, None);
    // A factor such as pi over 180 is rounded, unless it stands on both sides.
    let known = (from.exact && to.exact) || from == to;
    let fraction = fraction.filter(|_| known);
    Ok(Json(Converted { result, exact: exact && known, fraction, from: from.name, to: to.name }))
}

fn convert(value: Exact, from: &Measure, to: &Measure) -> Result<Exact, String> {
    if from.kind != to.kind {
        return Err(format!(
            "{} measures {} and {} measures {}: only units of the same kind convert into each other",
            from.name, from.kind, to.name, to.kind
        ));
    }
    let base = (value + &from.zero) * &from.size;
    if from.kind == Kind::Temperature && base.is_negative() {
        return Err("there is no temperature below absolute zero, which is -273.15 °C, -459.67 °F or 0 K".into());
    }
    Ok(base / &to.size - &to.zero)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use hermes_tool::testing::FakeHost;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn call(value: Value, from: &str, to: &str) -> Result<Value, String> {
        let arguments = json!({ "value": value, "from": from, "to": to }).to_string();
        let reply = FakeHost::new().call(convert_units::TOOL, &arguments);
        reply.map(|reply| reply.json()).map_err(|error| error.to_string())
    }

    #[test]
    fn definitions_are_exact() {
        for (value, from, to, expected) in [
            ("26.2", "mi", "km", "42.1648128"),
            ("1", "lb", "g", "453.59237"),
            ("100", "°C", "°F", "212"),
            ("-40", "F", "C", "-40"),
            ("0", "K", "celsius", "-273.15"),
            ("1", "acre", "m2", "4046.8564224"),
            ("1", "cubic foot", "L", "28.316846592"),
            ("90", "km/h", "m/s", "25"),
            ("1", "GiB", "MB", "1073.741824"),
            ("8", "Mb", "MB", "1"),
            ("1", "year", "days", "365.25"),
            ("1", "atm", "hPa", "1013.25"),
            ("1", "kWh", "MJ", "3.6"),
            ("1", "hp", "W", "745.69987158227022"),
            ("90", "degrees", "turns", "0.25"),
            ("1", "US gallon", "cubic inches", "231"),
            ("1", "lightyear", "km", "9460730472580.8"),
        ] {
            let answer = call(json!(value), from, to).unwrap();
            assert_eq!(
                (&answer["result"], &answer["exact"]),
                (&json!(expected), &json!(true)),
                "{value} {from} in {to}"
            );
        }
    }

    #[test]
    fn the_answer_names_the_units_it_used() {
        let answer = call(json!(1), "gal", "pints").unwrap();
        assert_eq!(answer, json!({ "result": "8", "exact": true, "from": "US gallon", "to": "US pint" }));
    }

    #[test]
    fn rounding_is_admitted() {
        let answer = call(json!(1), "foot", "mile").unwrap();
        assert_eq!((&answer["exact"], &answer["fraction"]), (&json!(false), &json!("1/5280")));
        let answer = call(json!(180), "deg", "rad").unwrap();
        assert_eq!(answer["exact"], false);
        assert_eq!(answer["fraction"], Value::Null);
        assert!(answer["result"].as_str().unwrap().starts_with("3.14159265358979323846"));
        assert_eq!(call(json!(2), "rad", "radians").unwrap()["exact"], true);
    }

    #[test]
    fn kinds_do_not_mix() {
        let expected =
            "mile measures length and kilogram measures mass: only units of the same kind convert into each other";
        assert_eq!(call(json!(1), "mile", "kg").unwrap_err(), expected);
    }

    #[test]
    fn nothing_is_colder_than_absolute_zero() {
        assert!(call(json!(-300), "°C", "K").unwrap_err().contains("absolute zero"));
    }

    #[test]
    fn the_schema_takes_numbers_and_texts() {
        let schema = FakeHost::new().parameters(convert_units::TOOL);
        assert_eq!(schema["properties"]["value"]["type"], json!(["number", "string"]));
        assert_eq!(schema["required"], json!(["value", "from", "to"]));
    }

    proptest! {
        #[test]
        fn there_and_back_is_where_we_started(numerator: i32, denominator in 1_i32..) {
            let value = Exact::new(numerator.into(), denominator.into());
            let (from, to) = (find("ft").unwrap(), find("nmi").unwrap());
            let there = convert(value.clone(), &from, &to).unwrap();
            prop_assert_eq!(convert(there, &to, &from).unwrap(), value);
        }

        #[test]
        fn no_name_makes_it_panic(name in "\\PC{0,30}") {
            let _ = find(&name);
        }
    }
}
