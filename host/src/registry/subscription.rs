//! What a hook wants to be asked about.

use serde::{Deserialize, Serialize};

use crate::{component::valid_name, text::one_line, wit::latest};

/// Patterns of one hook: more than there are tools in any known host.
const PATTERNS: usize = 256;

/// The points and tools of one hook component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields are those of wit/hooks.wit")]
pub struct Subscription {
    pub pre_tool_call: bool,
    pub post_tool_call: bool,
    pub transform_tool_result: bool,
    /// Names, or beginnings of names that end in `*`. Empty: all tools.
    pub tools: Vec<String>,
}

impl Subscription {
    /// Checks what a component answered. A hook that could never be asked is a mistake of its author, and one that its operator
    /// must hear of: it would protect nothing.
    pub(crate) fn accept(raw: latest::Subscription) -> Result<Self, String> {
        if raw.points == latest::Points::empty() {
            return Err("subscribes to no point of a call".into());
        }
        if raw.tools.len() > PATTERNS {
            return Err(format!("subscribes to {} tools; the limit is {PATTERNS}", raw.tools.len()));
        }
        let fits = |pattern: &&String| {
            let start = pattern.strip_suffix('*').unwrap_or(pattern);
            pattern.as_str() == "*" || valid_name(start)
        };
        if let Some(bad) = raw.tools.iter().find(|pattern| !fits(pattern)) {
            return Err(format!(
                "subscribes to {:?}, which is no tool's name nor the beginning of one with a *",
                one_line(bad, 80)
            ));
        }
        Ok(Self {
            pre_tool_call: raw.points.contains(latest::Points::PRE_TOOL_CALL),
            post_tool_call: raw.points.contains(latest::Points::POST_TOOL_CALL),
            transform_tool_result: raw.points.contains(latest::Points::TRANSFORM_TOOL_RESULT),
            tools: raw.tools,
        })
    }

    /// Whether the hook is asked about this tool.
    pub fn covers(&self, tool: &str) -> bool {
        self.tools.is_empty()
            || self.tools.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(start) => tool.starts_with(start),
                None => tool == pattern,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(points: latest::Points, tools: &[&str]) -> Result<Subscription, String> {
        Subscription::accept(latest::Subscription {
            points,
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        })
    }

    #[test]
    fn a_pattern_covers_its_name_or_what_begins_with_it() {
        let some = accept(latest::Points::PRE_TOOL_CALL, &["terminal", "browser_*"]).unwrap();
        assert!(some.covers("terminal") && some.covers("browser_back"));
        assert!(!some.covers("terminal2") && !some.covers("my_browser_back"));
        assert!(accept(latest::Points::PRE_TOOL_CALL, &[]).unwrap().covers("anything"));
        assert!(accept(latest::Points::PRE_TOOL_CALL, &["*"]).unwrap().covers("anything"));
    }

    #[test]
    fn a_hook_that_could_never_be_asked_is_refused() {
        assert!(accept(latest::Points::empty(), &[]).unwrap_err().contains("no point"));
        assert!(accept(latest::Points::PRE_TOOL_CALL, &["a b"]).unwrap_err().contains("no tool's name"));
    }
}
