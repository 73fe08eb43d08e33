//! What the operator denies by patterns, whatever else is said about it.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;

use super::shell::Judgement;

/// Patterns over the text of commands: `*` is any text, `?` one character, letters match in both cases.
///
/// A pattern is tried on the whole line and on every simple command in it as it would run, out of its wrappers and with its
/// variables and quotes resolved: `sudo "r"m -rf x` is denied by `rm *`. They are a convenience for the operator, not a wall:
/// what is only known when it runs does not match, but that is asked about anyway.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct DenyRules {
    patterns: Vec<String>,
    set: GlobSet,
}

impl TryFrom<Vec<String>> for DenyRules {
    type Error = String;

    fn try_from(patterns: Vec<String>) -> Result<Self, String> {
        let mut set = GlobSetBuilder::new();
        for pattern in &patterns {
            let glob = GlobBuilder::new(pattern).case_insensitive(true).build();
            set.add(glob.map_err(|why| format!("approval.deny has a pattern that can't be read: {why}"))?);
        }
        let set = set.build().map_err(|why| format!("approval.deny can't be used: {why}"))?;
        Ok(Self { patterns, set })
    }
}

impl PartialEq for DenyRules {
    fn eq(&self, other: &Self) -> bool {
        self.patterns == other.patterns
    }
}

impl DenyRules {
    /// The first pattern that denies this command.
    pub(super) fn denies(&self, command: &str, judgement: &Judgement) -> Option<&str> {
        if self.patterns.is_empty() {
            return None;
        }
        let simple = judgement.commands.iter().flat_map(|parsed| {
            let arguments: String = parsed.arguments.iter().flat_map(|argument| [" ", argument]).collect();
            let name = parsed.program.rsplit('/').next().unwrap_or_default();
            [format!("{}{arguments}", parsed.program), format!("{name}{arguments}")]
        });
        std::iter::once(command.trim().to_owned())
            .chain(simple)
            .find_map(|text| self.patterns.get(*self.set.matches(&text).first()?).map(String::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::super::shell::{Surroundings, judge};
    use super::*;

    fn denied(patterns: &[&str], command: &str) -> bool {
        let rules = DenyRules::try_from(patterns.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()).unwrap();
        rules.denies(command, &judge(command, &Surroundings::default())).is_some()
    }

    #[test]
    fn a_pattern_sees_through_wrappers_quotes_and_paths() {
        for command in
            ["npm publish", "  NPM publish --tag x/y", "cd a && env A=1 'np'm publish", "/usr/bin/npm publish\n"]
        {
            assert!(denied(&["npm publish*"], command), "{command}");
        }
        for command in ["npm ci", "echo npm publish", ""] {
            assert!(!denied(&["npm publish*"], command), "{command}");
        }
        assert!(!denied(&[], "npm publish"));
    }

    #[test]
    fn a_pattern_spans_lines_and_slashes() {
        assert!(denied(&["*secret*"], "cat <<E\na/b\nsecret\nE"));
    }

    #[test]
    fn a_broken_pattern_is_named() {
        let why = DenyRules::try_from(vec!["a[".to_owned()]).unwrap_err();
        assert!(why.contains("a["), "{why}");
    }
}
