//! The tool `convert_time`.

mod clock;
mod written;
mod zone;

use hermes_tool::{Error, Json, Result, args, output, tool};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use self::written::{Moments, Written};

#[args]
pub(crate) struct ConvertTime {
    /// The time, such as 2026-03-29T14:30:00, 2026-03-29 14:30, or with an offset: 2026-03-29T14:30:00Z, …+01:00.
    #[schema(max_length = 60)]
    time: String,
    /// The zone that the time is in: an IANA name such as Europe/Berlin, or an offset such as +05:30. Without it UTC. A
    /// time with its own offset needs none.
    #[schema(max_length = 60)]
    from: Option<String>,
    /// The zone to convert to, written the same way.
    #[schema(max_length = 60)]
    to: String,
}

#[output]
pub(crate) struct ConvertedTime {
    /// The time in the zone asked for.
    to: Local,
    /// The time in the zone it came from.
    from: Local,
    /// Where the given time happens twice since clocks go back: what the second one is in the zone asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    second: Option<Local>,
    /// What to know about the answer, where there is something.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[output]
pub(crate) struct Local {
    /// Date, time and offset from UTC.
    time: String,
    weekday: String,
    zone: String,
    /// Whether daylight saving time is in force.
    dst: bool,
}

/// Converts a time from one time zone to another, with the rules of the IANA database for any date, daylight saving
/// time included. Says so when a local time does not exist or exists twice because clocks change.
///
/// Example: time "2026-07-01T09:00", from "America/New_York", to "Asia/Tokyo" gives 2026-07-01T22:00:00+09:00, a
/// Wednesday.
#[tool(emoji = "🕐", read_only, idempotent, parallel_safe)]
pub(crate) fn convert_time(args: ConvertTime) -> Result<Json<ConvertedTime>> {
    let written = Written::parse(&args.time).map_err(Error::invalid)?;
    let to = zone::find(&args.to).map_err(Error::invalid)?;
    let from = match (args.from, written.offset) {
        (Some(name), _) => zone::find(&name).map_err(Error::invalid)?,
        (None, Some(offset)) => TimeZone::fixed(offset),
        (None, None) => TimeZone::UTC,
    };
    let converted = match written.moments(&from).map_err(Error::invalid)? {
        Moments::One(moment) => {
            ConvertedTime { to: local(moment, &to), from: local(moment, &from), second: None, note: None }
        }
        Moments::Two(first, second) => ConvertedTime {
            to: local(first, &to),
            from: local(first, &from),
            second: Some(local(second, &to)),
            note: Some(format!(
                "the time happens twice in {}, since clocks go back: `to` is for {}, `second` for {}",
                zone::name(&from),
                local(first, &from).time,
                local(second, &from).time,
            )),
        },
    };
    Ok(Json(converted))
}

/// What clocks in the zone show at the moment.
fn local(moment: Timestamp, zone: &TimeZone) -> Local {
    let info = zone.to_offset_info(moment);
    let time = info.offset().to_datetime(moment);
    Local {
        time: clock::date_time(time) + &clock::offset(info.offset()),
        weekday: clock::weekday(time.weekday()).to_owned(),
        zone: zone::name(zone),
        dst: info.dst().is_dst(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use hermes_tool::testing::FakeHost;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn call(arguments: Value) -> Result<Value, String> {
        let reply = FakeHost::new().call(convert_time::TOOL, &arguments.to_string());
        reply.map(|reply| reply.json()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_time_moves_between_zones() {
        let answer =
            call(json!({ "time": "2026-07-01T09:00", "from": "America/New_York", "to": "Asia/Tokyo" })).unwrap();
        let expected = json!({
            "to": { "time": "2026-07-01T22:00:00+09:00", "weekday": "Wednesday", "zone": "Asia/Tokyo", "dst": false },
            "from": {
                "time": "2026-07-01T09:00:00-04:00", "weekday": "Wednesday", "zone": "America/New_York", "dst": true,
            },
        });
        assert_eq!(answer, expected);
    }

    #[test]
    fn utc_is_assumed_where_nothing_is_said() {
        let answer = call(json!({ "time": "2026-01-31T23:30:00", "to": "+05:30" })).unwrap();
        assert_eq!(answer["to"]["time"], "2026-02-01T05:00:00+05:30");
        assert_eq!(answer["to"]["weekday"], "Sunday");
        assert_eq!(answer["from"]["zone"], "UTC");
    }

    #[test]
    fn a_time_with_an_offset_is_a_moment_whatever_from_says() {
        let answer =
            call(json!({ "time": "2026-03-29T02:30:00+01:00", "from": "Europe/Berlin", "to": "UTC" })).unwrap();
        assert_eq!(answer["to"]["time"], "2026-03-29T01:30:00+00:00");
        assert_eq!(answer["from"]["time"], "2026-03-29T03:30:00+02:00");
    }

    #[test]
    fn a_time_that_exists_twice_gives_both_answers() {
        let answer = call(json!({ "time": "2026-10-25T02:30:00", "from": "Europe/Berlin", "to": "UTC" })).unwrap();
        assert_eq!(answer["to"]["time"], "2026-10-25T00:30:00+00:00");
        assert_eq!(answer["second"]["time"], "2026-10-25T01:30:00+00:00");
        assert!(answer["note"].as_str().unwrap().contains("happens twice in Europe/Berlin"));
    }

    #[test]
    fn a_time_that_does_not_exist_is_an_error() {
        let why = call(json!({ "time": "2026-03-29T02:30:00", "from": "Europe/Berlin", "to": "UTC" })).unwrap_err();
        assert!(why.contains("does not exist in Europe/Berlin"));
    }

    #[test]
    fn an_unknown_zone_is_an_error() {
        let why = call(json!({ "time": "2026-03-29T02:30:00", "to": "Europe/Pariss" })).unwrap_err();
        assert!(why.contains("Did you mean Europe/Paris?"), "{why}");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(time in "\\PC{0,40}", zone in "[-+A-Za-z/:0-9é ]{0,20}") {
            let _ = call(json!({ "time": time, "to": "UTC" }));
            let _ = call(json!({ "time": "2026-03-29T02:30:00", "from": zone, "to": "UTC" }));
        }
    }
}
