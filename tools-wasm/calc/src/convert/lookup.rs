//! From what somebody wrote to a unit: `km`, `Kilometers`, `sq ft`, `m/s`, `cubic inches`.

use super::prefix::Prefix;
use super::units::{Kind, UNITS, Unit};
use crate::number::{Exact, parse};
use crate::suggest::did_you_mean;

/// A unit as it converts: a value in it is `(value + zero) * size` in the base unit of its kind.
#[derive(Debug, PartialEq)]
pub(crate) struct Measure {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) size: Exact,
    pub(crate) zero: Exact,
    pub(crate) exact: bool,
}

/// Finds a unit by any of its names.
pub(crate) fn find(text: &str) -> Result<Measure, String> {
    let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(measure) = listed(&name)? {
        return Ok(measure);
    }
    if let Some(measure) = derived(&name)? {
        return Ok(measure);
    }
    let hint = did_you_mean(&name, spellings().map(|(spelling, ..)| spelling));
    Err(format!("the unit `{name}` is not known.{hint} Units are written like km, kilometres, sq ft, m/s, °C, GiB"))
}

/// A unit of the table, with a prefix or without. Case decides where it makes a difference (mW, MW), and only there.
fn listed(name: &str) -> Result<Option<Measure>, String> {
    let singular = name.strip_suffix('s').filter(|rest| rest.chars().count() > 1);
    for name in [Some(name), singular].into_iter().flatten() {
        if let Some((_, unit, prefix)) = spellings().find(|(spelling, ..)| spelling == name) {
            return measure(unit, prefix).map(Some);
        }
    }
    for name in [Some(name), singular].into_iter().flatten().map(str::to_lowercase) {
        let alike: Vec<_> = spellings().filter(|(spelling, ..)| spelling.to_lowercase() == name).collect();
        let Some((_, unit, prefix)) = alike.first() else { continue };
        if alike.iter().all(|(_, other, with)| std::ptr::eq(*other, *unit) && with == prefix) {
            return measure(unit, prefix).map(Some);
        }
        let choices: Vec<String> =
            alike.iter().map(|(spelling, unit, prefix)| format!("{spelling} ({})", full_name(unit, prefix))).collect();
        return Err(format!("the unit `{name}` is ambiguous: write {}", choices.join(" or ")));
    }
    Ok(None)
}

/// A square or cube of a length, or a length per time.
fn derived(name: &str) -> Result<Option<Measure>, String> {
    for (starts, ends, power, word, kind) in [
        (["square ", "sq ", "sq. ", "sq"], ["^2", "²", "2"], 2, "square", Kind::Area),
        (["cubic ", "cu ", "cu. ", "cu"], ["^3", "³", "3"], 3, "cubic", Kind::Volume),
    ] {
        let inner = starts.iter().find_map(|start| name.strip_prefix(start));
        let Some(inner) = inner.or_else(|| ends.iter().find_map(|end| name.strip_suffix(end))) else { continue };
        if let Some(length) = listed(inner.trim())?.filter(|inner| inner.kind == Kind::Length) {
            let (name, size) = (format!("{word} {}", length.name), length.size.pow(power));
            return Ok(Some(Measure { name, kind, size, ..length }));
        }
    }
    let Some((over, under)) = name.split_once('/').or_else(|| name.split_once(" per ")) else { return Ok(None) };
    Ok(match (listed(over.trim())?, listed(under.trim())?) {
        (Some(length), Some(time)) if length.kind == Kind::Length && time.kind == Kind::Time => {
            let (name, size) = (format!("{} per {}", length.name, time.name), &length.size / &time.size);
            Some(Measure { name, kind: Kind::Speed, size, ..length })
        }
        _ => None,
    })
}

/// Every name that the table makes, with every prefix. There are about two thousand: quicker built than kept.
fn spellings() -> impl Iterator<Item = (String, &'static Unit, &'static Prefix)> {
    UNITS.iter().flat_map(|unit| {
        unit.prefixes.all().flat_map(move |prefix| {
            let words = unit.words.iter().map(move |word| format!("{}{word}", prefix.word));
            let symbols = unit
                .symbols
                .iter()
                .flat_map(move |symbol| prefix.symbols.iter().map(move |prefix| format!("{prefix}{symbol}")));
            words.chain(symbols).map(move |spelling| (spelling, unit, prefix))
        })
    })
}

fn measure(unit: &Unit, prefix: &Prefix) -> Result<Measure, String> {
    let (over, under) = unit.size.split_once('/').unwrap_or((unit.size, "1"));
    Ok(Measure {
        name: full_name(unit, prefix),
        kind: unit.kind,
        size: parse(over)? / parse(under)? * prefix.factor(),
        zero: parse(unit.zero)?,
        exact: unit.exact,
    })
}

fn full_name(unit: &Unit, prefix: &Prefix) -> String {
    format!("{}{}", prefix.word, unit.words.first().copied().unwrap_or_default())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn name(text: &str) -> String {
        find(text).unwrap().name
    }

    #[test]
    fn a_unit_has_many_names() {
        for text in ["km", "KM", "Km", "kilometre", "kilometres", "kilometer", "Kilometers", " km "] {
            assert_eq!(name(text), "kilometre", "{text}");
        }
        for text in ["m2", "m²", "m^2", "square metre", "square meters", "sq m", "sqm"] {
            assert_eq!(name(text), "square metre", "{text}");
        }
        for text in ["m/s", "metres per second", "meter/sec"] {
            assert_eq!(name(text), "metre per second", "{text}");
        }
        assert_eq!(name("lbs"), "pound");
        assert_eq!(name("feet"), "foot");
        assert_eq!(name("cu in"), "cubic inch");
        assert_eq!(name("hrs"), "hour");
        assert_eq!(name("fl  oz"), "US fluid ounce");
        assert_eq!(name("ms"), "millisecond");
        assert_eq!(name("Mbit"), "megabit");
        assert_eq!(name("mbar"), "millibar");
        assert_eq!(name("degrees celsius"), "degree Celsius");
        assert_eq!(name("miles per hour"), "mile per hour");
        assert_eq!(name("kwh"), "kilowatt-hour");
    }

    #[test]
    fn case_decides_only_where_it_makes_a_difference() {
        assert_eq!(name("MW"), "megawatt");
        assert_eq!(name("mW"), "milliwatt");
        assert_eq!(name("KB"), "kilobyte");
        assert_eq!(name("kb"), "kilobit");
        assert!(
            find("mw").unwrap_err().starts_with("the unit `mw` is ambiguous: write MW (megawatt) or mW (milliwatt)")
        );
    }

    #[test]
    fn an_unknown_unit_gets_suggestions() {
        let why = find("kilometrs").unwrap_err();
        assert!(why.starts_with("the unit `kilometrs` is not known. Did you mean kilometre?"), "{why}");
        assert!(find("square kilogram").is_err());
    }

    #[test]
    fn every_row_can_be_read_and_no_name_has_two_meanings() {
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        let mut clashes = Vec::new();
        for (spelling, unit, prefix) in spellings() {
            let measure = measure(unit, prefix).unwrap();
            let earlier = seen.insert(spelling.clone(), measure.name.clone());
            if earlier.as_ref().is_some_and(|earlier| *earlier != measure.name) {
                clashes.push((spelling, earlier, measure.name));
            }
        }
        assert_eq!(clashes, []);
    }
}
