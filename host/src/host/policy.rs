//! The policy per tool as it holds for what is loaded.

use serde_json::Value;

use super::{Current, Host, call::registered};
use crate::{
    dispatch::{CallError, check_size, prepare},
    grant::Config,
    policy::{PolicyAction, PolicyRule, ToolPolicy},
    registry::{Catalogue, Toolsets},
};

/// What the policy says about one call.
#[derive(Clone, Debug)]
pub struct PolicyOutcome {
    /// What happens to it. Hooks, grants and the judgement of commands still apply.
    pub action: PolicyAction,
    /// The rule that decides, with its place among the rules, from 1. Nothing where none matches.
    pub rule: Option<(usize, PolicyRule)>,
    /// Whether there is such a tool.
    pub is_loaded: bool,
}

impl Host {
    /// What the policy says about a call, without making it. An error means that the call fails before the policy is asked: its
    /// arguments are refused.
    pub fn policy_outcome(
        &self,
        tool: &str,
        arguments: &str,
        client: Option<&str>,
    ) -> Result<PolicyOutcome, CallError> {
        let current = self.0.current.load_full();
        let Current { catalogue, policy, .. } = &*current;
        let entry = catalogue.get(tool);
        check_size(arguments)?;
        let rules = policy.tools.rules();
        let decided = match policy.tools.hides(tool, client) {
            true => rules.iter().find(|rule| rule.hides(tool, client)),
            false => {
                let arguments = prepare(entry.map(AsRef::as_ref), arguments)?;
                policy.tools.decide(tool, client, || serde_json::from_str::<Value>(&arguments).unwrap_or_default())
            }
        };
        let place = |decided: &PolicyRule| rules.iter().position(|rule| std::ptr::eq(rule, decided));
        Ok(PolicyOutcome {
            action: decided.map_or(PolicyAction::Allow, PolicyRule::action),
            rule: decided.and_then(|rule| Some((place(rule)? + 1, rule.clone()))),
            is_loaded: entry.is_some(),
        })
    }

    /// Whether a tool is hidden from a client.
    pub(crate) fn hides(&self, tool: &str, client: Option<&str>) -> bool {
        self.0.current.load().policy.tools.hides(tool, client)
    }
}

/// The policy with the tools of the toolsets that it names. What has no effect is told.
pub(super) fn resolved(config: &Config, toolsets: &Toolsets, catalogue: &Catalogue) -> ToolPolicy {
    let registered = registered(catalogue);
    let tools_of = |name: &str| {
        toolsets.resolve(name, &registered).unwrap_or_else(|why| {
            tracing::warn!("[policy] names a toolset that has no tools here, so its rule has no effect: {why}");
            Default::default()
        })
    };
    let policy = config.policy.clone().with_toolsets(tools_of);
    for pattern in policy.rules().iter().map(PolicyRule::pattern).filter(|pattern| pattern.is_exact()) {
        let name = pattern.as_str();
        if catalogue.get(name).is_none() {
            tracing::warn!("[policy] names {name}, and there is no such tool: its rules have no effect");
        }
    }
    policy
}
