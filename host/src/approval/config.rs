//! What the operator's file says about approval.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de::Error};

use super::{deny::DenyRules, remembered::Remembered, reviewer::ReviewerConfig};

/// How long a question waits. Long enough to read a command and think, short enough that an agent whose person left goes on.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// The longest that an operator may set: a call that waits longer holds its place among the concurrent calls for nothing.
pub const TIMEOUT_CEILING: Duration = Duration::from_secs(600);

/// Who is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A person.
    #[default]
    Ask,
    /// A reviewer first, then a person.
    Smart,
    /// Nobody: commands that would be asked about are allowed. What is never allowed stays so, and marked tools are still asked about.
    Off,
}

/// The table `[approval]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Approval {
    /// Who is asked.
    pub mode: Mode,
    /// How long a question waits, written like `60s`.
    #[serde(deserialize_with = "timeout")]
    pub timeout: Duration,
    /// Not a setting any more: `[policy]` says which tools ask. Kept as an error that names the line to write, since a mark that is
    /// passed over in silence would let calls pass.
    pub tools: MovedToPolicy,
    /// What was decided for good.
    pub allow: Vec<Remembered>,
    /// What is denied whatever else is said.
    pub deny: DenyRules,
    /// The reviewer. Only the mode `smart` uses it.
    pub reviewer: Option<ReviewerConfig>,
}

impl Default for Approval {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            timeout: TIMEOUT,
            tools: MovedToPolicy,
            allow: Vec::new(),
            deny: DenyRules::default(),
            reviewer: None,
        }
    }
}

/// The mode asks a reviewer that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("approval.mode is \"smart\", but there is no [approval.reviewer]; add one with url and model, or use \"ask\"")]
pub struct SmartWithoutReviewer;

impl Approval {
    /// What can only be told of the whole table. A host that skips this is no less safe: without a reviewer a person is asked.
    pub fn check(&self) -> Result<(), SmartWithoutReviewer> {
        if self.mode == Mode::Smart && self.reviewer.is_none() { Err(SmartWithoutReviewer) } else { Ok(()) }
    }
}

/// A setting that is an error wherever it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MovedToPolicy;

impl<'de> Deserialize<'de> for MovedToPolicy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tools = Vec::<String>::deserialize(deserializer)?;
        let lines: Vec<String> = tools.iter().map(|tool| format!("{tool:?} = \"ask\"")).collect();
        let lines = if lines.is_empty() { "nothing".to_owned() } else { format!("[policy] with {}", lines.join(", ")) };
        Err(D::Error::custom(format!("approval.tools is part of [policy] now; remove it and write {lines}")))
    }
}

fn timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.strip_suffix('s').and_then(|number| number.trim().parse().ok()).map(Duration::from_secs) {
        Some(time) if !time.is_zero() && time <= TIMEOUT_CEILING => Ok(time),
        Some(_) => Err(D::Error::custom(format!("approval.timeout is 1s to {}s", TIMEOUT_CEILING.as_secs()))),
        None => Err(D::Error::custom(format!("{text:?} is no time; write it like \"60s\""))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Approval, String> {
        toml::from_str(text).map_err(|why| why.to_string())
    }

    #[test]
    fn an_empty_table_asks_a_person_for_a_minute() {
        assert_eq!(read("").unwrap(), Approval::default());
        assert_eq!((Approval::default().mode, Approval::default().timeout), (Mode::Ask, Duration::from_secs(60)));
    }

    #[test]
    fn a_full_table_is_read() {
        let approval = read(
            "mode = \"smart\"\ntimeout = \"90s\"\ndeny = [\"npm publish*\"]\n\
             [[allow]]\ncategory = \"git\"\n[reviewer]\nurl = \"https://models.example/v1\"\nmodel = \"small\"\n",
        )
        .unwrap();
        assert_eq!((approval.mode, approval.timeout), (Mode::Smart, Duration::from_secs(90)));
        assert_eq!(approval.allow.len(), 1);
        assert_eq!(approval.check(), Ok(()));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, says) in [
            ("mode = \"yolo\"", "yolo"),
            ("mode = false", "mode = false"),
            ("timeout = \"0s\"", "1s to 600s"),
            ("timeout = \"601s\"", "1s to 600s"),
            ("timeout = \"soon\"", "write it like"),
            ("deny = [\"a[\"]", "approval.deny"),
            ("allowed = []", "unknown field"),
            ("tools = [\"a\", \"b\"]", r#"write [policy] with "a" = "ask", "b" = "ask""#),
            ("tools = []", "write nothing"),
            ("[[allow]]\ncategory = \"disk\"", "disk can't be allowed as a whole"),
        ] {
            let why = read(text).unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
        let why = read("mode = \"smart\"").unwrap().check().unwrap_err().to_string();
        assert!(why.contains("[approval.reviewer]"), "{why}");
    }
}
