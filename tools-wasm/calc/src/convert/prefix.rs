//! What stands before a unit: kilo, milli, mebi.

use num_bigint::BigInt;
use num_traits::One;

use crate::number::{Exact, power_of_ten};

/// A prefix with its word, its symbols and its factor, base to the power.
#[derive(Debug, PartialEq)]
pub(crate) struct Prefix {
    pub(crate) word: &'static str,
    pub(crate) symbols: &'static [&'static str],
    base: u32,
    power: i32,
}

/// Which prefixes a unit takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Prefixes {
    None,
    /// Those of the SI.
    Metric,
    /// Only those that multiply, of the SI and binary ones: nobody means a millibyte.
    Data,
}

impl Prefix {
    pub(crate) const NONE: Self = Self { word: "", symbols: &[""], base: 10, power: 0 };

    pub(crate) fn factor(&self) -> Exact {
        let size = if self.base == 10 {
            power_of_ten(self.power.unsigned_abs())
        } else {
            BigInt::from(self.base).pow(self.power.unsigned_abs())
        };
        if self.power < 0 { Exact::new(BigInt::one(), size) } else { Exact::from_integer(size) }
    }
}

impl Prefixes {
    /// The empty prefix first, then the others.
    pub(crate) fn all(self) -> impl Iterator<Item = &'static Prefix> {
        let rest = PREFIXES.iter().filter(move |prefix| match self {
            Self::None => false,
            Self::Metric => prefix.base == 10,
            Self::Data => prefix.power > 2 || prefix.base == 1024,
        });
        std::iter::once(&Prefix::NONE).chain(rest)
    }
}

const fn metric(word: &'static str, symbols: &'static [&'static str], power: i32) -> Prefix {
    Prefix { word, symbols, base: 10, power }
}

const fn binary(word: &'static str, symbols: &'static [&'static str], power: i32) -> Prefix {
    Prefix { word, symbols, base: 1024, power }
}

static PREFIXES: [Prefix; 28] = [
    metric("yotta", &["Y"], 24),
    metric("zetta", &["Z"], 21),
    metric("exa", &["E"], 18),
    metric("peta", &["P"], 15),
    metric("tera", &["T"], 12),
    metric("giga", &["G"], 9),
    metric("mega", &["M"], 6),
    metric("kilo", &["k", "K"], 3),
    metric("hecto", &["h"], 2),
    metric("deca", &["da"], 1),
    metric("deci", &["d"], -1),
    metric("centi", &["c"], -2),
    metric("milli", &["m"], -3),
    // The micro sign, the Greek letter, and what keyboards have.
    metric("micro", &["µ", "μ", "u"], -6),
    metric("nano", &["n"], -9),
    metric("pico", &["p"], -12),
    metric("femto", &["f"], -15),
    metric("atto", &["a"], -18),
    metric("zepto", &["z"], -21),
    metric("yocto", &["y"], -24),
    binary("kibi", &["Ki"], 1),
    binary("mebi", &["Mi"], 2),
    binary("gibi", &["Gi"], 3),
    binary("tebi", &["Ti"], 4),
    binary("pebi", &["Pi"], 5),
    binary("exbi", &["Ei"], 6),
    binary("zebi", &["Zi"], 7),
    binary("yobi", &["Yi"], 8),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_what_the_words_say() {
        let factor =
            |word: &str| PREFIXES.iter().find(|prefix| prefix.word == word).map(|prefix| prefix.factor().to_string());
        assert_eq!(factor("kilo").as_deref(), Some("1000"));
        assert_eq!(factor("milli").as_deref(), Some("1/1000"));
        assert_eq!(factor("mebi").as_deref(), Some("1048576"));
    }

    #[test]
    fn data_takes_no_fractions() {
        assert!(Prefixes::Data.all().all(|prefix| prefix.power >= 0 && prefix.word != "deca"));
        assert_eq!(Prefixes::None.all().count(), 1);
    }
}
