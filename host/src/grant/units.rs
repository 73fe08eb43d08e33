//! Sizes and times as operators write them.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de::Error};

use crate::sandbox::limits::{KIB, MEMORY_CEILING, MIB, WALL_CEILING};

pub(super) fn memory<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let parsed = text
        .strip_suffix("MiB")
        .map(|number| (number, MIB))
        .or_else(|| text.strip_suffix("KiB").map(|number| (number, KIB)))
        .and_then(|(number, unit)| number.trim().parse::<usize>().ok()?.checked_mul(unit));
    match parsed {
        Some(bytes) if (1..=MEMORY_CEILING).contains(&bytes) => Ok(Some(bytes)),
        Some(_) => Err(D::Error::custom(format!("memory is at most {}MiB", MEMORY_CEILING / MIB))),
        None => Err(D::Error::custom(format!("{text:?} is no size; write it like \"128MiB\""))),
    }
}

pub(super) fn timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let parsed = text.strip_suffix('s').and_then(|number| number.trim().parse::<u64>().ok()).map(Duration::from_secs);
    match parsed {
        Some(wall) if !wall.is_zero() && wall <= WALL_CEILING => Ok(Some(wall)),
        Some(_) => Err(D::Error::custom(format!("timeout is 1s to {}s", WALL_CEILING.as_secs()))),
        None => Err(D::Error::custom(format!("{text:?} is no time; write it like \"60s\""))),
    }
}
