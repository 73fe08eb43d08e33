//! What can be wrong with a toolset or the name of one.

use crate::text::one_line;

/// Bytes of a name that an error repeats: a little more than a valid name has, so that one too long shows as such.
const SHOWN: usize = 80;

/// Why a toolset was refused or not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolsetError {
    /// No toolset can have this name.
    #[error("{name:?} can't name a toolset; a name is 1 to 64 of A-Z a-z 0-9 _ -")]
    BadName {
        /// The name.
        name: String,
    },
    /// The name means something already.
    #[error("the toolset {name} needs another name: {why}")]
    Taken {
        /// The name.
        name: String,
        /// What it means.
        why: &'static str,
    },
    /// A custom toolset claims what only presets may be.
    #[error("the toolset {name} may have a description, tools and includes; posture, closed and env are for presets")]
    PresetOnly {
        /// The toolset.
        name: String,
    },
    /// A member has a name that no tool can have.
    #[error("the toolset {toolset} lists the tool {tool:?}; a name is 1 to 64 of A-Z a-z 0-9 _ -")]
    BadTool {
        /// The toolset.
        toolset: String,
        /// The member.
        tool: String,
    },
    /// No toolset has this name.
    #[error("no toolset is named {name:?}{}{}", includer(included_by), advice(near))]
    Unknown {
        /// The name.
        name: String,
        /// The toolset that includes it, unless it was asked for itself.
        included_by: Option<String>,
        /// The nearest names there are.
        near: Vec<String>,
    },
    /// No distribution has this name.
    #[error("no distribution is named {name:?}; there are {}", known.join(", "))]
    UnknownDistribution {
        /// The name.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
}

impl ToolsetError {
    pub(super) fn bad_name(name: &str) -> Self {
        Self::BadName { name: one_line(name, SHOWN) }
    }

    pub(super) fn bad_tool(toolset: &str, tool: &str) -> Self {
        Self::BadTool { toolset: toolset.to_owned(), tool: one_line(tool, SHOWN) }
    }

    pub(super) fn unknown(name: &str, included_by: Option<&str>, near: Vec<&str>) -> Self {
        let near = near.into_iter().map(str::to_owned).collect();
        Self::Unknown { name: one_line(name, SHOWN), included_by: included_by.map(str::to_owned), near }
    }

    pub(super) fn unknown_distribution<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        Self::UnknownDistribution { name: one_line(name, SHOWN), known: known.map(str::to_owned).collect() }
    }
}

fn includer(included_by: &Option<String>) -> String {
    included_by.as_ref().map(|name| format!(", which {name} includes")).unwrap_or_default()
}

fn advice(near: &[String]) -> String {
    if near.is_empty() {
        return "; `hermes-host toolsets` lists those there are".to_owned();
    }
    format!("; did you mean {}?", near.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_told_with_its_place_and_the_next_step() {
        let asked = ToolsetError::unknown("wbe", None, vec!["web", "x_search"]).to_string();
        assert_eq!(asked, r#"no toolset is named "wbe"; did you mean web or x_search?"#);
        let included = ToolsetError::unknown("zzz", Some("mine"), Vec::new()).to_string();
        assert_eq!(
            included,
            r#"no toolset is named "zzz", which mine includes; `hermes-host toolsets` lists those there are"#
        );
    }

    #[test]
    fn a_huge_name_makes_a_small_error() {
        assert!(ToolsetError::bad_name(&"x".repeat(1 << 20)).to_string().len() < 200);
        assert!(ToolsetError::bad_tool("mine", &"x".repeat(1 << 20)).to_string().len() < 200);
        assert!(ToolsetError::unknown(&"x".repeat(1 << 20), None, Vec::new()).to_string().len() < 200);
    }
}
