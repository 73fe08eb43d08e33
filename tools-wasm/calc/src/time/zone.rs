//! From a zone's name to its rules.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};

use super::clock;
use crate::suggest::did_you_mean;

/// Finds a zone: an IANA name in any case, `UTC`, `Z`, or an offset such as `+05:30`, `-8` or `UTC+2`.
pub(crate) fn find(text: &str) -> Result<TimeZone, String> {
    let name = text.trim().replace(' ', "_");
    if name.eq_ignore_ascii_case("z") {
        return Ok(TimeZone::UTC);
    }
    let database = TimeZoneDatabase::bundled();
    // The database has a zone for "unknown", which would quietly be UTC.
    if let Some(zone) = database.get(&name).ok().filter(|zone| !zone.is_unknown()) {
        return Ok(zone);
    }
    if let Some(offset) = offset(&name) {
        return Ok(TimeZone::fixed(offset));
    }
    let hint = did_you_mean(&name, database.available().map(|known| known.to_string()));
    Err(format!(
        "the time zone `{text}` is not known.{hint} Use an IANA name such as Europe/Berlin or America/New_York, or an \
         offset such as +05:30; abbreviations such as PST are ambiguous"
    ))
}

/// `UTC+2` is two hours east, as people mean it. POSIX has it the other way round, so its parser is not asked.
pub(crate) fn offset(name: &str) -> Option<Offset> {
    let upper = name.to_ascii_uppercase();
    let bare = upper.strip_prefix("UTC").or_else(|| upper.strip_prefix("GMT")).unwrap_or(&upper);
    let (sign, digits) = match bare.chars().next()? {
        '+' => (1, &bare[1..]),
        '-' => (-1, &bare[1..]),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(pair) => pair,
        None if digits.len() == 4 => digits.split_at_checked(2)?,
        None => (digits, "00"),
    };
    let plain = |part: &str| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    if !plain(hours) || !plain(minutes) {
        return None;
    }
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    // No zone has ever been further from UTC than 16 hours; more is a slip, such as +530.
    if hours > 16 || minutes > 59 {
        return None;
    }
    Offset::from_seconds(sign * (hours * 3_600 + minutes * 60)).ok()
}

/// How an answer names a zone: in a way that [`find`] understands. One without a name is an offset, the same at any
/// moment.
pub(crate) fn name(zone: &TimeZone) -> String {
    let offset = || format!("UTC{}", clock::offset(zone.to_offset(Timestamp::UNIX_EPOCH)));
    zone.iana_name().map_or_else(offset, str::to_owned)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn iana_names_are_found_in_any_case() {
        for name in ["Europe/Berlin", "europe/berlin", " Europe/Berlin "] {
            assert_eq!(find(name).unwrap().iana_name(), Some("Europe/Berlin"), "{name}");
        }
        assert_eq!(find("America/New York").unwrap().iana_name(), Some("America/New_York"));
    }

    #[test]
    fn offsets_count_eastwards() {
        for (text, seconds) in
            [("+05:30", 19_800), ("-8", -28_800), ("UTC+2", 7_200), ("GMT-03:00", -10_800), ("+0530", 19_800)]
        {
            assert_eq!(find(text).unwrap().to_fixed_offset().unwrap().seconds(), seconds, "{text}");
        }
        assert_eq!(find("UTC").unwrap(), TimeZone::UTC);
        assert_eq!(find("z").unwrap(), TimeZone::UTC);
    }

    #[test]
    fn a_zone_is_found_by_the_name_it_is_given() {
        for text in ["Asia/Tokyo", "UTC", "UTC+05:30", "UTC-08:00"] {
            assert_eq!(name(&find(text).unwrap()), text);
        }
    }

    #[test]
    fn other_text_is_refused_with_suggestions() {
        assert!(find("Europe/Berln").unwrap_err().contains("Did you mean Europe/Berlin"));
        assert!(find("Berlin").unwrap_err().contains("Did you mean Europe/Berlin"));
        for text in ["PST", "+530", "+25:00", "+1:60", "+é0", "UTC+", "Etc/Unknown", ""] {
            assert!(find(text).unwrap_err().contains("is not known"), "{text}");
        }
    }
}
