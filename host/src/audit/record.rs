//! What one call leaves behind, in bounded size.

use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};

use super::lines::LINE_BYTES;
use crate::digest::Digest;

/// Bytes of one text. Call ids, names and digests have under 100; some come from a model, which may send megabytes.
const TEXT_BYTES: usize = 256;

/// Capabilities in one line. A tool has a handful.
const CAPABILITIES: usize = 32;

/// Stands where a text was cut.
const CUT: &str = "…";

/// The texts of a record beside its capabilities.
const TEXTS: usize = 9;

/// JSON writes a control character as six bytes. The rest of a line is member names, numbers, the time and four hashes: under 1 kB.
const _: () = assert!((TEXTS + CAPABILITIES) * TEXT_BYTES * 6 + 1024 <= LINE_BYTES);

/// One call. Texts are cut when they are written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Record {
    /// When the call ended; written in UTC with microseconds.
    #[serde(with = "microseconds")]
    #[schema(value_type = String, format = DateTime)]
    pub time: Timestamp,
    /// The call's id.
    #[serde(serialize_with = "short")]
    pub call: String,
    /// The client that made it, by its own word. Lines of earlier versions have none.
    #[serde(default, serialize_with = "short_option")]
    pub client: Option<String>,
    /// The task it belongs to.
    #[serde(serialize_with = "short_option")]
    pub task: Option<String>,
    /// The session it belongs to.
    #[serde(serialize_with = "short_option")]
    pub session: Option<String>,
    /// The tool.
    #[serde(serialize_with = "short")]
    pub tool: String,
    /// The digest of the component, `blake3:…`; none where no component was found.
    #[schema(value_type = Option<String>)]
    pub component: Option<Digest>,
    /// The digest of the argument text, `blake3:…`: as the tool got it, or as it came where it was refused. Never the text: it
    /// may hold secrets.
    #[schema(value_type = String)]
    pub arguments: Digest,
    /// The command, the URL or the path among the arguments, with secrets masked; none where there is none, or where the operator
    /// keeps the digest alone.
    #[serde(default, serialize_with = "short_option")]
    pub summary: Option<String>,
    /// The capabilities it made use of.
    #[serde(serialize_with = "short_list")]
    pub capabilities: Vec<String>,
    /// Where a decision was needed: `asked` and not answered, `approved` or `refused`.
    #[serde(serialize_with = "short_option")]
    pub approval: Option<String>,
    /// Who decided.
    #[serde(default, serialize_with = "short_option")]
    pub decided_by: Option<String>,
    /// Fuel used.
    pub fuel: u64,
    /// Bytes of memory used at most.
    pub memory: u64,
    /// How long it took, in microseconds.
    pub duration_us: u64,
    /// `ok`, or the kind of the error; `refused` where something that it wanted was not approved; `dropped` where the caller was gone; `begun` where the call was about to run a command, which
    /// could end the host. Such a call has a second line when it ends.
    #[serde(serialize_with = "short")]
    pub outcome: String,
}

struct Short<'a>(&'a str);

impl Serialize for Short<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.len() <= TEXT_BYTES {
            return serializer.serialize_str(self.0);
        }
        let end = self.0.floor_char_boundary(TEXT_BYTES - CUT.len());
        serializer.collect_str(&format_args!("{}{CUT}", &self.0[..end]))
    }
}

fn short<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    Short(text).serialize(serializer)
}

fn short_option<S: Serializer>(text: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    text.as_deref().map(Short).serialize(serializer)
}

fn short_list<S: Serializer>(texts: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    let shown = if texts.len() > CAPABILITIES { CAPABILITIES - 1 } else { texts.len() };
    let rest = texts.len() - shown;
    let more = (rest > 0).then(|| format!("{CUT} {rest} more"));
    serializer.collect_seq(texts[..shown].iter().map(String::as_str).chain(more.as_deref()).map(Short))
}

mod microseconds {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{time:.6}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::audit) fn record(call: &str) -> Record {
        Record {
            time: "2026-11-16T08:00:00.000001Z".parse().unwrap(),
            call: call.into(),
            client: Some("claude-code".into()),
            task: Some("task-1".into()),
            session: None,
            tool: "read_file".into(),
            component: Some(Digest::of(b"component")),
            arguments: Digest::of(call.as_bytes()),
            summary: Some("src/main.rs".into()),
            capabilities: vec!["fs".into(), "log".into()],
            approval: None,
            decided_by: None,
            fuel: 123_456,
            memory: 1 << 20,
            duration_us: 4_200,
            outcome: "ok".into(),
        }
    }

    /// A record whose texts are as long as anybody likes and need as many bytes as JSON can make of them.
    pub(in crate::audit) fn huge() -> Record {
        let text = "\u{1}".repeat(10_000);
        let some = Some(text.clone());
        Record {
            call: text.clone(),
            client: some.clone(),
            task: some.clone(),
            session: some.clone(),
            tool: text.clone(),
            capabilities: vec![text.clone(); 1_000],
            summary: some.clone(),
            approval: some.clone(),
            decided_by: some,
            fuel: u64::MAX,
            memory: u64::MAX,
            duration_us: u64::MAX,
            outcome: text,
            ..record("")
        }
    }

    #[test]
    fn members_keep_their_order_and_a_record_is_read_back() {
        let text = serde_json::to_string(&record("call-1")).unwrap();
        assert!(text.starts_with(
            r#"{"time":"2026-11-16T08:00:00.000001Z","call":"call-1","client":"claude-code","task":"task-1","session":null,"tool":"read_file","component":"blake3:"#
        ));
        let end = r#""summary":"src/main.rs","capabilities":["fs","log"],"approval":null,"decided_by":null,"fuel":123456,"memory":1048576,"duration_us":4200,"outcome":"ok"}"#;
        assert!(text.ends_with(end));
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record("call-1"));
    }

    #[test]
    fn a_line_of_an_earlier_version_is_read() {
        let text = serde_json::to_string(&record("call-1")).unwrap();
        let earlier = text.replace(r#""client":"claude-code","#, "").replace(r#""summary":"src/main.rs","#, "");
        let earlier = earlier.replace(r#""decided_by":null,"#, "");
        let expected = Record { client: None, summary: None, ..record("call-1") };
        assert_eq!(serde_json::from_str::<Record>(&earlier).unwrap(), expected);
    }

    #[test]
    fn times_have_six_digits_after_the_second() {
        let time = "2026-11-16T08:00:00Z".parse().unwrap();
        let text = serde_json::to_string(&Record { time, ..record("a") }).unwrap();
        assert!(text.contains(r#""time":"2026-11-16T08:00:00.000000Z""#));
    }

    #[test]
    fn long_texts_are_cut_at_a_character_and_marked() {
        let long = Record { tool: "ä".repeat(1_000), capabilities: vec!["fs".into(); 40], ..record("a") };
        let back: Record = serde_json::from_str(&serde_json::to_string(&long).unwrap()).unwrap();
        assert!(back.tool.len() <= TEXT_BYTES && back.tool.ends_with("ä…"));
        assert_eq!(back.capabilities.len(), CAPABILITIES);
        assert_eq!(back.capabilities[31], "… 9 more");
        let exact = Record { tool: "x".repeat(TEXT_BYTES), ..record("a") };
        assert_eq!(serde_json::from_str::<Record>(&serde_json::to_string(&exact).unwrap()).unwrap(), exact);
    }
}
