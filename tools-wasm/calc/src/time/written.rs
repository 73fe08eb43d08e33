//! From a written time to the moment, or the two moments, that it names.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use super::{clock, zone};

/// A time as it was written.
#[derive(Debug)]
pub(crate) struct Written {
    local: DateTime,
    pub(crate) offset: Option<Offset>,
}

/// What a written time turned out to be.
#[derive(Debug, PartialEq)]
pub(crate) enum Moments {
    One(Timestamp),
    /// When clocks go back, a local time comes twice.
    Two(Timestamp, Timestamp),
}

impl Written {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        read(text.trim()).ok_or_else(|| {
            format!("`{text}` is not a time: write it like 2026-03-29T14:30:00, then Z or +01:00 if it has an offset")
        })
    }

    /// When that is. A time with an offset names its moment by itself; any other is what clocks in the zone show, and
    /// where they never do, the error offers the times around the gap.
    pub(crate) fn moments(&self, zone: &TimeZone) -> Result<Moments, String> {
        if let Some(offset) = self.offset {
            return self.at(offset).map(Moments::One);
        }
        match zone.to_ambiguous_timestamp(self.local).offset() {
            AmbiguousOffset::Unambiguous { offset } => self.at(offset).map(Moments::One),
            AmbiguousOffset::Fold { before, after } => Ok(Moments::Two(self.at(before)?, self.at(after)?)),
            AmbiguousOffset::Gap { before, after } => {
                let (earlier, later) = (zone.to_datetime(self.at(after)?), zone.to_datetime(self.at(before)?));
                Err(format!(
                    "{} does not exist in {}: clocks there jump forward over it, from {} to {}. Use {} (before the \
                     jump) or {} (after it)",
                    clock::date_time(self.local),
                    zone::name(zone),
                    clock::offset(before),
                    clock::offset(after),
                    clock::date_time(earlier),
                    clock::date_time(later),
                ))
            }
        }
    }

    fn at(&self, offset: Offset) -> Result<Timestamp, String> {
        offset
            .to_timestamp(self.local)
            .map_err(|_| format!("{} is too far from our time to be converted", clock::date_time(self.local)))
    }
}

/// `2026-03-29`, then perhaps `T14:30`, `:00`, `.5`, and `Z` or an offset.
///
/// By hand, though jiff has a parser: that one brings along the texts of all of jiff's errors, 150 kB of component.
fn read(text: &str) -> Option<Written> {
    let (date, rest) = text.split_at_checked(10)?;
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (digits(parts.next()?, 4)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let date = Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    let Some(rest) = rest.strip_prefix(['T', 't', ' ']) else {
        return rest.is_empty().then(|| Written { local: date.at(0, 0, 0, 0), offset: None });
    };
    let end = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '.'))).unwrap_or(rest.len());
    let (time, offset) = rest.split_at(end);
    let offset = match offset.trim() {
        "" => None,
        "Z" | "z" => Some(Offset::UTC),
        other => Some(zone::offset(other)?),
    };
    Some(Written { local: date.to_datetime(read_time(time)?), offset })
}

fn read_time(text: &str) -> Option<Time> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut parts = clock.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next().unwrap_or("00"));
    if parts.next().is_some() || fraction.len() > 9 {
        return None;
    }
    let part = |text| digits(text, 2).and_then(|number| number.try_into().ok());
    Time::new(part(hour)?, part(minute)?, part(second)?, digits(&format!("{fraction:0<9}"), 9)?).ok()
}

/// Exactly so many digits; `parse` alone would accept a sign.
fn digits(text: &str, count: usize) -> Option<i32> {
    let plain = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn moments(time: &str, zone_name: &str) -> Result<Moments, String> {
        Written::parse(time).and_then(|written| written.moments(&zone::find(zone_name).unwrap()))
    }

    fn one(utc: &str) -> Moments {
        Moments::One(utc.parse().unwrap())
    }

    #[test]
    fn local_times_follow_the_zone_and_offsets_do_not() {
        assert_eq!(moments("2026-07-01T12:00:00", "Europe/Berlin").unwrap(), one("2026-07-01T10:00:00Z"));
        assert_eq!(moments("2026-07-01 12:00", "Europe/Berlin").unwrap(), one("2026-07-01T10:00:00Z"));
        assert_eq!(moments("2026-07-01", "Europe/Berlin").unwrap(), one("2026-06-30T22:00:00Z"));
        assert_eq!(moments("2026-07-01T12:00:00Z", "Europe/Berlin").unwrap(), one("2026-07-01T12:00:00Z"));
        assert_eq!(moments("2026-07-01T12:00:00.25Z", "UTC").unwrap(), one("2026-07-01T12:00:00.25Z"));
        assert_eq!(moments("2026-07-01T12:00:00-05:00", "Europe/Berlin").unwrap(), one("2026-07-01T17:00:00Z"));
    }

    #[test]
    fn a_skipped_time_is_an_error_that_offers_others() {
        let expected = "2026-03-29T02:30:00 does not exist in Europe/Berlin: clocks there jump forward over it, from \
                        +01:00 to +02:00. Use 2026-03-29T01:30:00 (before the jump) or 2026-03-29T03:30:00 (after it)";
        assert_eq!(moments("2026-03-29T02:30:00", "Europe/Berlin").unwrap_err(), expected);
    }

    #[test]
    fn a_repeated_time_is_two_moments_in_their_order() {
        let two = Moments::Two("2026-10-25T00:30:00Z".parse().unwrap(), "2026-10-25T01:30:00Z".parse().unwrap());
        assert_eq!(moments("2026-10-25T02:30:00", "Europe/Berlin").unwrap(), two);
    }

    #[test]
    fn other_text_is_refused_with_the_right_form() {
        for text in [
            "",
            "tomorrow",
            "29.03.2026",
            "2026-3-29T00:00",
            "2026-02-30T00:00",
            "2026-03-29T25:00",
            "2026-03-29T12",
            "2026-03-29T12:00:00:00",
            "2026-03-29T12:00+99:00",
            "2026-03-29T12:00[Europe/Berlin]",
            "2026-03-29é",
        ] {
            assert!(moments(text, "UTC").unwrap_err().contains("write it like 2026-03-29T14:30:00"), "{text}");
        }
        assert!(moments("9999-12-31T23:59:59", "-10").unwrap_err().contains("too far"));
    }
}
