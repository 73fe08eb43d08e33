//! What of a result a model is shown. The rest goes to a file that the reply names: nothing is lost, and no single result
//! fills the context.

use serde_json::json;

use super::{
    Outcome, Reply,
    marked::marked,
    spill::{Spill, preview},
};
use crate::{
    sandbox::limits::thousands,
    wit::latest::{Body, Content},
};

/// Characters of one result. What most models still read with care.
const RESULT_CHARS: usize = 100_000;

/// Characters of all results of one turn.
const TURN_CHARS: usize = 200_000;

/// The least that a result is cut to, however small the model's window.
const LEAST_RESULT_CHARS: usize = 8_000;

/// The least that a turn is cut to.
const LEAST_TURN_CHARS: usize = 16_000;

/// Characters of a result that stand in the reply when the rest is in a file.
const PREVIEW_CHARS: usize = 1_500;

/// Characters of a summary beside its preview: a smaller result is not worth a file.
const SUMMARY_CHARS: usize = 700;

/// Characters that one token has on average in English text and JSON.
pub(crate) const CHARS_PER_TOKEN: usize = 4;

/// How much a model is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Characters of one result.
    pub result: usize,
    /// Characters of all results of one turn.
    pub turn: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { result: RESULT_CHARS, turn: TURN_CHARS }
    }
}

impl Bounds {
    /// For a model with this context window: a result gets 15 % of it and a turn 30 %.
    pub fn for_window(tokens: u64) -> Self {
        let chars = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(CHARS_PER_TOKEN);
        let share = |percent: usize| (chars / 100).saturating_mul(percent);
        Self {
            result: share(15).clamp(LEAST_RESULT_CHARS, RESULT_CHARS),
            turn: share(30).clamp(LEAST_TURN_CHARS, TURN_CHARS),
        }
    }

    /// What holds for one tool: what the operator set for its component, else the smaller of its own word and the general bound.
    pub(crate) fn of_tool(&self, operator: Option<usize>, own: Option<u64>) -> usize {
        let own = own.and_then(|own| usize::try_from(own).ok()).unwrap_or(usize::MAX);
        operator.unwrap_or(self.result.min(own))
    }
}

/// The rows of the documented table of limits that are held here.
pub(super) fn limits() -> Vec<(&'static str, String)> {
    let chars = |n: usize| format!("{} characters", thousands(n as u64));
    vec![
        ("result that a model is shown", chars(RESULT_CHARS)),
        ("all results of one batch", chars(TURN_CHARS)),
        ("preview of a result that went to a file", chars(PREVIEW_CHARS)),
    ]
}

/// The reply within `most` characters of text. Images and sounds are not text: they stay.
pub(crate) fn bound(reply: Reply, most: usize, spill: &Spill, call_id: &str) -> Reply {
    if reply.chars() <= most { reply } else { summarised(&reply, most, PREVIEW_CHARS.min(most), spill, call_id) }
}

/// The beginning of a reply, and where the rest is. What came from outside still says so.
fn summarised(reply: &Reply, most: usize, shown: usize, spill: &Spill, call_id: &str) -> Reply {
    let (chars, (extension, whole)) = (reply.chars(), whole(reply));
    let kept = spill.keep(call_id, extension, &whole);
    let rest = match &kept {
        Ok(_) => "All of it is in the file: read that in parts.",
        Err(_) => "The rest could not be kept: ask for less.",
    };
    let mut summary = json!({
        "truncated": true,
        "chars": chars,
        "note": format!("The result has {chars} characters; the limit is {most}. {rest}"),
        "preview": preview(&whole, shown),
    });
    match kept {
        Ok(file) => summary["file"] = file.display().to_string().into(),
        Err(why) => tracing::error!("failed to keep a large result: {why}"),
    }
    let media = reply.content().iter().filter(|piece| text_of(piece).is_none()).cloned();
    let content = std::iter::once(Content::Json(summary.to_string())).chain(media).collect();
    // A summary is JSON and media were accepted before, so this can't fail; should it, nothing is better than too much.
    let summary = Reply::accept("the summary", content).unwrap_or_else(|_| Reply::nothing()).summary();
    match reply.outside() {
        Some(tool) => marked(tool, summary),
        None => summary,
    }
}

/// Brings all outcomes of one turn within its bound: the largest replies go to files first, and each leaves a preview that is the
/// shorter the more there are. What stays of hundreds of calls is their summaries, and the errors, which are short.
pub(crate) fn bound_turn<'a>(outcomes: impl Iterator<Item = (&'a str, &'a mut Outcome)>, most: usize, spill: &Spill) {
    let outcomes: Vec<(&str, &mut Outcome)> = outcomes.collect();
    let count = outcomes.len().max(1);
    let mut total: usize = outcomes.iter().map(|(_, outcome)| chars(outcome)).sum();
    let mut replies: Vec<(&str, &mut Reply)> = outcomes
        .into_iter()
        .filter_map(|(call_id, outcome)| outcome.result.as_mut().ok().map(|reply| (call_id, reply)))
        .filter(|(_, reply)| !reply.is_summary())
        .collect();
    let shown = (most / count).saturating_sub(SUMMARY_CHARS).min(PREVIEW_CHARS);
    // Stable, so that of two equals the first goes.
    replies.sort_by_key(|(_, reply)| std::cmp::Reverse(reply.chars()));
    for (call_id, reply) in replies {
        let chars = reply.chars();
        if total <= most || chars <= SUMMARY_CHARS {
            return;
        }
        *reply = summarised(reply, most, shown, spill, call_id);
        total = (total + reply.chars()).saturating_sub(chars);
    }
}

fn chars(outcome: &Outcome) -> usize {
    match &outcome.result {
        Ok(reply) => reply.chars(),
        Err(error) => error.message.chars().count(),
    }
}

/// What goes to the file: one text as it is, everything else as JSON.
fn whole(reply: &Reply) -> (&'static str, String) {
    match reply.content() {
        [Content::Text(text)] => ("txt", text.clone()),
        _ => ("json", reply.json()),
    }
}

/// The text of a piece that counts as text.
pub(crate) fn text_of(piece: &Content) -> Option<&str> {
    match piece {
        Content::Json(text) | Content::Text(text) => Some(text),
        Content::Resource(document) => match &document.body {
            Body::Text(text) => Some(text),
            Body::Blob(_) => None,
        },
        Content::Image(_) | Content::Audio(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::{sandbox::Usage, wit::latest::Media};

    fn spill() -> (tempfile::TempDir, Spill) {
        let dir = tempfile::tempdir().unwrap();
        let spill = Spill::new(dir.path().join("results"));
        (dir, spill)
    }

    fn text(chars: usize) -> Reply {
        Reply::accept("t", vec![Content::Text("ä".repeat(chars))]).unwrap()
    }

    #[test]
    fn a_result_within_the_bound_is_left_alone_and_one_past_it_goes_to_a_file_whole() {
        let (_dir, spill) = spill();
        assert_eq!(bound(text(100), 102, &spill, "c").json(), text(100).json());
        let bounded = bound(text(5000), 4000, &spill, "c");
        let json: Value = serde_json::from_str(&bounded.json()).unwrap();
        assert_eq!(json["truncated"], true);
        assert_eq!(json["preview"].as_str().unwrap().chars().count(), PREVIEW_CHARS);
        let file = std::fs::read_to_string(json["file"].as_str().unwrap()).unwrap();
        assert_eq!(file, "ä".repeat(5000));
        assert!(bounded.chars() < 4000);
    }

    #[test]
    fn pictures_stay_where_text_goes_to_a_file() {
        let (_dir, spill) = spill();
        let image = Content::Image(Media { mime_type: "image/png".into(), data: vec![0; 9000] });
        let reply = Reply::accept("t", vec![Content::Text("x".repeat(5000)), image]).unwrap();
        assert_eq!(bound(reply.clone(), 6000, &spill, "c").json(), reply.json());
        let bounded = bound(reply, 4000, &spill, "c");
        assert!(matches!(bounded.content(), [Content::Json(_), Content::Image(_)]));
    }

    #[test]
    fn a_result_that_can_not_be_kept_says_so() {
        let spill = Spill::new("/proc/nowhere".into());
        let json: Value = serde_json::from_str(&bound(text(5000), 4000, &spill, "c").json()).unwrap();
        assert_eq!(json["file"], Value::Null);
        assert!(json["note"].as_str().unwrap().contains("could not be kept"));
    }

    #[test]
    fn of_a_turn_the_largest_results_go_first() {
        let (_dir, spill) = spill();
        let outcome = |chars| Outcome { result: Ok(text(chars)), warning: None, log: vec![], usage: Usage::default() };
        let mut outcomes = [outcome(5000), outcome(9000), outcome(7000)];
        let ids = ["a", "b", "c"];
        bound_turn(ids.into_iter().zip(&mut outcomes), 15_000, &spill);
        let large = |outcome: &Outcome| outcome.json().contains("truncated");
        assert_eq!(outcomes.each_ref().map(large), [false, true, false]);
        bound_turn(ids.into_iter().zip(&mut outcomes), 10_000, &spill);
        assert_eq!(outcomes.each_ref().map(large), [false, true, true]);
    }

    #[test]
    fn bounds_follow_the_window_between_their_ends() {
        assert_eq!(Bounds::for_window(1_000), Bounds { result: 8_000, turn: 16_000 });
        assert_eq!(Bounds::for_window(100_000), Bounds { result: 60_000, turn: 120_000 });
        assert_eq!(Bounds::for_window(u64::MAX), Bounds::default());
        assert_eq!(Bounds::default().of_tool(None, Some(500)), 500);
        assert_eq!(Bounds::default().of_tool(None, Some(1 << 40)), RESULT_CHARS);
        assert_eq!(Bounds::default().of_tool(Some(300_000), Some(500)), 300_000);
    }
}
