//! How answers write times.

use jiff::civil::{DateTime, Weekday};
use jiff::tz::Offset;

/// `2026-03-29T14:30:00`, with a fraction of the second only where there is one.
pub(crate) fn date_time(time: DateTime) -> String {
    let (year, month, day) = (time.year(), time.month(), time.day());
    let (hour, minute, second) = (time.hour(), time.minute(), time.second());
    let fraction = match time.subsec_nanosecond() {
        0 => String::new(),
        nanosecond => format!(".{}", format!("{nanosecond:09}").trim_end_matches('0')),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}")
}

/// `+05:30`. Seconds are shown where there are any: before 1900, towns had their own time.
pub(crate) fn offset(offset: Offset) -> String {
    let sign = if offset.is_negative() { '-' } else { '+' };
    let seconds = offset.seconds().unsigned_abs();
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let rest = if seconds == 0 { String::new() } else { format!(":{seconds:02}") };
    format!("{sign}{hours:02}:{minutes:02}{rest}")
}

/// The English name.
pub(crate) fn weekday(weekday: Weekday) -> &'static str {
    match weekday {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn times_are_written_as_in_iso_8601() {
        assert_eq!(date_time(date(2026, 3, 9).at(4, 5, 6, 0)), "2026-03-09T04:05:06");
        assert_eq!(date_time(date(2026, 3, 9).at(4, 5, 6, 250_000_000)), "2026-03-09T04:05:06.25");
    }

    #[test]
    fn offsets_show_seconds_only_where_they_have_some() {
        let written = |seconds| offset(Offset::from_seconds(seconds).unwrap());
        assert_eq!(written(0), "+00:00");
        assert_eq!(written(19_800), "+05:30");
        assert_eq!(written(-28_800), "-08:00");
        assert_eq!(written(3_208), "+00:53:28");
    }
}
