//! The table of units. Every factor is exact by definition (SI Brochure, NIST SP 811, the international yard and pound
//! agreement) unless the row says `rounded`.

use std::fmt::{self, Display};

use Kind::{Angle, Area, Energy, Length, Mass, Power, Pressure, Speed, Time, Volume};

use super::prefix::Prefixes;

/// What a unit measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Length,
    Mass,
    Temperature,
    Area,
    Volume,
    Speed,
    Time,
    Data,
    Pressure,
    Energy,
    Power,
    Angle,
}

impl Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "length",
            Self::Mass => "mass",
            Self::Temperature => "temperature",
            Self::Area => "area",
            Self::Volume => "volume",
            Self::Speed => "speed",
            Self::Time => "time",
            Self::Data => "data",
            Self::Pressure => "pressure",
            Self::Energy => "energy",
            Self::Power => "power",
            Self::Angle => "angle",
        })
    }
}

/// A row of the table.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) kind: Kind,
    /// Its size in the kind's base unit: a decimal, or two with a slash.
    pub(crate) size: &'static str,
    /// Added before multiplying: where a temperature scale has its zero.
    pub(crate) zero: &'static str,
    /// Spelled out, in the singular. The first stands in answers.
    pub(crate) words: &'static [&'static str],
    pub(crate) symbols: &'static [&'static str],
    pub(crate) prefixes: Prefixes,
    /// False where the size is irrational, and the table has its first digits.
    pub(crate) exact: bool,
}

type Names = &'static [&'static str];

const fn unit(kind: Kind, size: &'static str, words: Names, symbols: Names) -> Unit {
    Unit { kind, size, zero: "0", words, symbols, prefixes: Prefixes::None, exact: true }
}

const fn metric(kind: Kind, size: &'static str, words: Names, symbols: Names) -> Unit {
    Unit { prefixes: Prefixes::Metric, ..unit(kind, size, words, symbols) }
}

const fn data(size: &'static str, words: Names, symbols: Names) -> Unit {
    Unit { prefixes: Prefixes::Data, ..unit(Kind::Data, size, words, symbols) }
}

const fn temperature(size: &'static str, zero: &'static str, words: Names, symbols: Names) -> Unit {
    Unit { zero, ..unit(Kind::Temperature, size, words, symbols) }
}

const fn rounded(unit: Unit) -> Unit {
    Unit { exact: false, ..unit }
}

/// Squares and cubes of lengths, and lengths per time, are not listed: `lookup` derives them.
pub(crate) static UNITS: [Unit; 90] = [
    // in metres
    metric(Length, "1", &["metre", "meter"], &["m"]),
    unit(Length, "0.0254", &["inch", "inches"], &["in", "\"", "″"]),
    unit(Length, "0.3048", &["foot", "feet"], &["ft", "'", "′"]),
    unit(Length, "0.9144", &["yard"], &["yd"]),
    unit(Length, "1609.344", &["mile", "statute mile"], &["mi"]),
    unit(Length, "1852", &["nautical mile"], &["nmi", "NM"]),
    unit(Length, "1.8288", &["fathom"], &["ftm"]),
    unit(Length, "201.168", &["furlong"], &[]),
    unit(Length, "0.0000254", &["thou", "mil"], &[]),
    unit(Length, "1e-6", &["micron"], &[]),
    unit(Length, "1e-10", &["angstrom", "ångström"], &["Å"]),
    unit(Length, "149597870700", &["astronomical unit"], &["au", "AU"]),
    unit(Length, "9460730472580800", &["light-year", "light year", "lightyear"], &["ly"]),
    rounded(unit(Length, "30856775814913672.789139", &["parsec"], &["pc"])),
    // in kilograms
    metric(Mass, "0.001", &["gram", "gramme"], &["g"]),
    unit(Mass, "1000", &["tonne", "metric ton"], &["t"]),
    unit(Mass, "1000000", &["kilotonne"], &[]),
    unit(Mass, "1000000000", &["megatonne"], &[]),
    unit(Mass, "0.45359237", &["pound"], &["lb", "lbm"]),
    unit(Mass, "0.028349523125", &["ounce"], &["oz"]),
    unit(Mass, "6.35029318", &["stone"], &["st"]),
    unit(Mass, "907.18474", &["US ton", "short ton", "ton"], &[]),
    unit(Mass, "1016.0469088", &["imperial ton", "long ton"], &[]),
    unit(Mass, "0.00006479891", &["grain"], &["gr"]),
    unit(Mass, "0.0311034768", &["troy ounce"], &["ozt"]),
    unit(Mass, "0.0002", &["carat"], &["ct"]),
    // in kelvins
    temperature("1", "0", &["kelvin"], &["K"]),
    temperature(
        "1",
        "273.15",
        &["degree Celsius", "degrees Celsius", "celsius", "centigrade"],
        &["C", "°C", "degC", "deg C"],
    ),
    temperature(
        "5/9",
        "459.67",
        &["degree Fahrenheit", "degrees Fahrenheit", "fahrenheit"],
        &["F", "°F", "degF", "deg F"],
    ),
    temperature("5/9", "0", &["degree Rankine", "rankine"], &["R", "°R", "degR", "deg R"]),
    // in square metres
    unit(Area, "10000", &["hectare"], &["ha"]),
    unit(Area, "100", &["are"], &[]),
    unit(Area, "4046.8564224", &["acre"], &["ac"]),
    // in cubic metres
    metric(Volume, "0.001", &["litre", "liter"], &["l", "L", "ℓ"]),
    unit(Volume, "0.003785411784", &["US gallon", "gallon"], &["gal"]),
    unit(Volume, "0.000946352946", &["US quart", "quart"], &["qt"]),
    unit(Volume, "0.000473176473", &["US pint", "pint"], &["pt"]),
    unit(Volume, "0.0002365882365", &["US cup", "cup"], &[]),
    unit(Volume, "0.0000295735295625", &["US fluid ounce", "fluid ounce"], &["fl oz", "floz"]),
    unit(Volume, "0.00001478676478125", &["US tablespoon", "tablespoon"], &["tbsp"]),
    unit(Volume, "0.00000492892159375", &["US teaspoon", "teaspoon"], &["tsp"]),
    unit(Volume, "0.00454609", &["imperial gallon", "UK gallon"], &[]),
    unit(Volume, "0.0011365225", &["imperial quart", "UK quart"], &[]),
    unit(Volume, "0.00056826125", &["imperial pint", "UK pint"], &[]),
    unit(Volume, "0.0000284130625", &["imperial fluid ounce", "UK fluid ounce"], &[]),
    unit(Volume, "0.158987294928", &["oil barrel", "barrel"], &["bbl"]),
    unit(Volume, "0.000001", &["cubic centimetre"], &["cc", "ccm"]),
    // in metres per second
    unit(Speed, "0.44704", &["mile per hour"], &["mph"]),
    unit(Speed, "1/3.6", &["kilometre per hour"], &["kph", "kmh", "kmph"]),
    unit(Speed, "0.3048", &["foot per second"], &["fps"]),
    unit(Speed, "1852/3600", &["knot"], &["kn", "kt", "kts"]),
    unit(Speed, "299792458", &["speed of light"], &[]),
    // in seconds
    metric(Time, "1", &["second"], &["s", "sec"]),
    unit(Time, "60", &["minute"], &["min"]),
    unit(Time, "3600", &["hour"], &["h", "hr"]),
    unit(Time, "86400", &["day"], &["d"]),
    unit(Time, "604800", &["week"], &["wk"]),
    unit(Time, "1209600", &["fortnight"], &[]),
    unit(Time, "2629800", &["month of 1/12 year", "month"], &["mo"]),
    unit(Time, "31557600", &["year of 365.25 days", "year", "julian year"], &["yr", "y", "a"]),
    unit(Time, "315576000", &["decade"], &[]),
    unit(Time, "3155760000", &["century", "centuries"], &[]),
    // in bits
    data("1", &["bit"], &["b", "bit"]),
    data("8", &["byte", "octet"], &["B"]),
    unit(Kind::Data, "4", &["nibble"], &[]),
    // in pascals
    metric(Pressure, "1", &["pascal"], &["Pa"]),
    metric(Pressure, "100000", &["bar"], &["bar"]),
    unit(Pressure, "101325", &["atmosphere", "standard atmosphere"], &["atm"]),
    unit(Pressure, "101325/760", &["torr"], &["Torr"]),
    unit(Pressure, "133.322387415", &["millimetre of mercury", "millimeter of mercury"], &["mmHg"]),
    unit(Pressure, "3386.388640341", &["inch of mercury"], &["inHg"]),
    unit(Pressure, "4.4482216152605/0.00064516", &["pound per square inch", "pounds per square inch"], &["psi"]),
    // in joules
    metric(Energy, "1", &["joule"], &["J"]),
    metric(Energy, "4.184", &["calorie"], &["cal"]),
    unit(Energy, "4184", &["food calorie"], &["Cal"]),
    metric(Energy, "3600", &["watt-hour", "watt hour"], &["Wh"]),
    metric(Energy, "1.602176634e-19", &["electronvolt"], &["eV"]),
    metric(Energy, "1e-7", &["erg"], &[]),
    unit(Energy, "1055.05585262", &["British thermal unit"], &["BTU", "Btu"]),
    unit(Energy, "1.3558179483314004", &["foot-pound", "foot pound"], &["ft-lb", "ft lb", "ft lbf"]),
    // in watts
    metric(Power, "1", &["watt"], &["W"]),
    unit(Power, "745.69987158227022", &["mechanical horsepower", "horsepower"], &["hp"]),
    unit(Power, "735.49875", &["metric horsepower"], &["PS"]),
    unit(Power, "1055.05585262/3600", &["BTU per hour"], &["BTU/h"]),
    // in turns
    unit(Angle, "1", &["turn", "revolution"], &["rev"]),
    unit(Angle, "1/360", &["degree"], &["deg", "°"]),
    unit(Angle, "1/400", &["gradian", "gon"], &["grad"]),
    rounded(metric(Angle, "0.1591549430918953357688837633725", &["radian"], &["rad"])),
    unit(Angle, "1/21600", &["arcminute", "minute of arc"], &["arcmin"]),
    unit(Angle, "1/1296000", &["arcsecond", "second of arc"], &["arcsec"]),
];
