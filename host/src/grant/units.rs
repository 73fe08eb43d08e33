//! Sizes and times as operators write them.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de::Error};

use crate::sandbox::limits::{KIB, MEMORY_CEILING, MIB, WALL_CEILING, bytes};

/// Units of sizes, the largest first.
const SIZES: [(&str, usize); 3] = [("GiB", 1024 * MIB), ("MiB", MIB), ("KiB", KIB)];

/// A component's memory as it is written: `256MiB`.
pub fn parse_memory(text: &str) -> Result<usize, String> {
    let size = |(unit, factor): &(&str, usize)| text.strip_suffix(unit).map(|number| (number.trim(), *factor));
    let Some((number, factor)) = SIZES.iter().find_map(size) else {
        return Err(format!("{text:?} is no size; write it like \"128MiB\""));
    };
    let number = number.parse::<usize>().map_err(|_| format!("{text:?} is no size; write it like \"128MiB\""))?;
    match number.checked_mul(factor) {
        Some(0) => Err("memory is at least 1KiB".into()),
        Some(size) if size <= MEMORY_CEILING => Ok(size),
        _ => Err(format!("{} is the most memory that a component can have, and {text} is more", bytes(MEMORY_CEILING))),
    }
}

/// A call's time as it is written: `60s`.
pub fn parse_timeout(text: &str) -> Result<Duration, String> {
    let seconds = text.strip_suffix('s').and_then(|number| number.trim().parse::<u64>().ok());
    match seconds.map(Duration::from_secs) {
        Some(wall) if !wall.is_zero() && wall <= WALL_CEILING => Ok(wall),
        Some(_) => Err(format!("a timeout is 1s to {}s, and {text} is not", WALL_CEILING.as_secs())),
        None => Err(format!("{text:?} is no time; write it like \"60s\"")),
    }
}

pub(super) fn memory<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    parse_memory(&String::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
}

pub(super) fn timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    parse_timeout(&String::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
}

/// A size as it is written.
pub(super) fn write_memory(size: usize) -> String {
    let fits = SIZES.iter().find(|(_, factor)| size.is_multiple_of(*factor));
    let (unit, factor) = fits.copied().unwrap_or(("KiB", KIB));
    format!("{}{unit}", size / factor)
}

/// A time as it is written.
pub(super) fn write_timeout(wall: Duration) -> String {
    format!("{}s", wall.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_they_are_written() {
        for (text, size) in [("256MiB", 256 * MIB), ("1GiB", 1024 * MIB), ("64KiB", 64 * KIB)] {
            assert_eq!(parse_memory(text), Ok(size));
            assert_eq!(write_memory(size), text);
        }
        assert_eq!(parse_memory("1024MiB"), Ok(MEMORY_CEILING));
    }

    #[test]
    fn a_limit_that_is_too_high_names_the_highest() {
        for text in ["2GiB", "1025MiB", "99999999999999999GiB"] {
            let why = parse_memory(text).unwrap_err();
            assert!(why.starts_with("1 GiB is the most") && why.contains(text), "{why}");
        }
        assert!(parse_timeout("601s").unwrap_err().contains("1s to 600s"));
    }

    #[test]
    fn what_is_no_size_or_time_is_shown_how_to_write_one() {
        for text in ["", "256", "256MB", "-1MiB", "1.5GiB"] {
            assert!(parse_memory(text).unwrap_err().contains("128MiB"), "{text}");
        }
        for text in ["", "60", "1m", "-1s"] {
            assert!(parse_timeout(text).unwrap_err().contains("60s"), "{text}");
        }
    }
}
