//! What happened in the background since the model was last told. It comes with the answer of whichever tool is called next.

use hermes_tool::output;
use hermes_tool::terminal::{self, News};

use crate::plain::{plain, tail};

/// Characters of a process's last output that the notice of its end shows: enough to see whether it went well.
const LAST: usize = 2_000;

#[output]
pub(crate) struct Notice {
    session_id: String,
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// The last of what the process printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<String>,
    /// The line that matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<String>,
    /// Matches that were not told, because there were too many.
    #[serde(skip_serializing_if = "Option::is_none")]
    suppressed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

#[output]
#[serde(rename_all = "snake_case")]
enum Kind {
    Completed,
    WatchMatch,
    WatchDisabled,
}

/// Takes the notices: each is told once, so the answer must be on its way when they are taken.
pub(crate) fn take() -> Option<Vec<Notice>> {
    // A call that worked is not to fail for want of news of another.
    let notices = terminal::notices().ok().filter(|notices| !notices.is_empty())?;
    Some(notices.into_iter().map(Notice::from).collect())
}

impl From<terminal::Notice> for Notice {
    fn from(notice: terminal::Notice) -> Self {
        let of = |kind| Self {
            session_id: notice.process,
            kind,
            exit_code: None,
            output: None,
            pattern: None,
            line: None,
            suppressed: None,
            message: None,
        };
        match notice.news {
            News::Ended(ending) => {
                Self { exit_code: Some(ending.code), output: Some(tail(&ending.tail, LAST)), ..of(Kind::Completed) }
            }
            News::Matched(found) => Self {
                pattern: Some(found.pattern),
                line: Some(plain(&found.line)),
                suppressed: (found.untold > 0).then_some(found.untold),
                ..of(Kind::WatchMatch)
            },
            News::Unwatched(untold) => Self {
                suppressed: Some(untold),
                message: Some("it matches too often to be worth telling: look with process, action log".into()),
                ..of(Kind::WatchDisabled)
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use hermes_tool::terminal::{Ended, Ending, Match};
    use hermes_tool::testing::FakeHost;
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_news_has_its_words() {
        let _host = FakeHost::new()
            .notice("p1", News::Ended(Ending { ended: Ended::Exit(2), code: 2, tail: "\x1b[31mbad".into() }))
            .notice("p2", News::Matched(Match { pattern: "rea".into(), line: "ready".into(), untold: 0 }))
            .notice("p2", News::Matched(Match { pattern: "rea".into(), line: "ready".into(), untold: 4 }))
            .notice("p3", News::Unwatched(70));
        let told = serde_json::to_value(take()).unwrap();
        assert_eq!(told[0], json!({ "session_id": "p1", "type": "completed", "exit_code": 2, "output": "bad" }));
        assert_eq!(told[1], json!({ "session_id": "p2", "type": "watch_match", "pattern": "rea", "line": "ready" }));
        assert_eq!(told[2]["suppressed"], 4);
        assert_eq!((&told[3]["type"], &told[3]["suppressed"]), (&json!("watch_disabled"), &json!(70)));
        assert!(take().is_none(), "told twice");
    }
}
