//! A point in time as people write it.

use jiff::{SignedDuration, Timestamp, civil::Date, tz::TimeZone};

/// Reads `30m`, `2h` or `7d` before now, a day (from its start in UTC), or a time as RFC 3339 has it.
pub fn parse_since(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    let text = text.trim();
    before(text, now).or_else(|| day(text)).or_else(|| text.parse().ok()).ok_or_else(|| {
        let shown: String = text.chars().take(40).collect();
        format!("{shown:?} is not a time; write 30m, 2h, 7d, 2026-11-16 or 2026-11-16T08:00:00Z")
    })
}

fn before(text: &str, now: Timestamp) -> Option<Timestamp> {
    let unit = match text.chars().next_back()? {
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return None,
    };
    let number = &text[..text.len() - 1];
    let plain = number.bytes().all(|b| b.is_ascii_digit());
    let seconds = plain.then(|| number.parse::<i64>().ok()?.checked_mul(unit)).flatten()?;
    now.checked_sub(SignedDuration::from_secs(seconds)).ok()
}

/// Only a day: a time without an offset would also be read as one, and lose its hours.
fn day(text: &str) -> Option<Timestamp> {
    let day: Date = (text.len() == "2026-11-16".len()).then(|| text.parse().ok())??;
    Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(text: &str) -> Result<String, String> {
        parse_since(text, "2026-11-16T08:00:00Z".parse().unwrap()).map(|time| time.to_string())
    }

    #[test]
    fn spans_days_and_times_are_read() {
        for (text, expected) in [
            ("30m", "2026-11-16T07:30:00Z"),
            ("2h", "2026-11-16T06:00:00Z"),
            (" 7d ", "2026-11-09T08:00:00Z"),
            ("0m", "2026-11-16T08:00:00Z"),
            ("2026-11-16", "2026-11-16T00:00:00Z"),
            ("2026-11-16T08:00:00Z", "2026-11-16T08:00:00Z"),
            ("2026-11-16T08:00:00.5+02:00", "2026-11-16T06:00:00.5Z"),
        ] {
            assert_eq!(since(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused_with_examples() {
        let long = "9".repeat(10_000) + "d";
        for text in
            ["", "m", "-5m", "+5m", "5", "5w", "5 m", "99999999999d", "2026-13-01", "2026-11-16T08:00:00", "ä", &long]
        {
            let error = since(text).unwrap_err();
            assert!(error.contains("write 30m") && error.len() < 200, "{error}");
        }
    }
}
