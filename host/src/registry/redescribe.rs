//! Tools that describe themselves anew for the surroundings they are offered in. What they say is a stranger's text, checked by
//! the rules of registration.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::{Definition, definition::description, schema};
use crate::{component::Digest, wit::latest};

/// Surroundings of one component that are remembered: callers with different toolsets take turns.
const REMEMBERED: usize = 8;

/// What one component said, by tool name.
pub(crate) type Redescribed = Arc<HashMap<String, Change>>;

/// What is different about one tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    description: Option<String>,
    parameters: Option<serde_json::Value>,
}

impl Change {
    /// The definition with the change.
    pub(crate) fn apply(&self, definition: &mut Definition) {
        if let Some(description) = &self.description {
            definition.description.clone_from(description);
        }
        if let Some(parameters) = &self.parameters {
            definition.parameters.clone_from(parameters);
        }
    }
}

/// Checks an answer. One bad part refuses all of it: the tools then stay as they were registered.
pub(crate) fn accept(registered: &[Definition], answer: Vec<latest::Redescription>) -> Result<Redescribed, String> {
    // Each is checked on the caller's thread, where no fuel runs.
    if answer.len() > registered.len() {
        return Err(format!("describes {} tools, and has registered {}", answer.len(), registered.len()));
    }
    let mut changes = HashMap::new();
    let mut patterns = 0;
    for one in answer {
        if !registered.iter().any(|definition| definition.name == one.name) {
            return Err(format!("describes {:?}, which it did not register", crate::text::one_line(&one.name, 80)));
        }
        let parameters = one.parameters.map(|text| schema::accept(&text, schema::Role::Parameters, &mut patterns));
        let parameters = parameters.transpose().map_err(|why| format!("describes {} badly: {why}", one.name))?;
        let change = Change { description: one.description.map(|text| description(&text)), parameters };
        changes.insert(one.name, change);
    }
    Ok(Arc::new(changes))
}

/// The answers for the last surroundings of each component. A failure is remembered too, as no change.
#[derive(Debug, Default)]
pub(crate) struct Redescriptions(Mutex<HashMap<Digest, Vec<(blake3::Hash, Redescribed)>>>);

impl Redescriptions {
    pub(crate) fn get(&self, component: &Digest, surroundings: &blake3::Hash) -> Option<Redescribed> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, found) = known.get(component)?.iter().find(|(known, _)| known == surroundings)?;
        Some(Arc::clone(found))
    }

    pub(crate) fn put(&self, component: Digest, surroundings: blake3::Hash, changes: Redescribed) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let answers = known.entry(component).or_default();
        answers.retain(|(known, _)| *known != surroundings);
        if answers.len() == REMEMBERED {
            answers.remove(0);
        }
        answers.push((surroundings, changes));
    }

    /// Lets go of what is known about components that are not among these.
    pub(crate) fn keep_only(&self, is_loaded: impl Fn(&Digest) -> bool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|digest, _| is_loaded(digest));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn registered() -> Vec<Definition> {
        vec![Definition { parameters: json!({"type": "object"}), ..Definition::named("a") }]
    }

    fn answer(name: &str, description: &str, parameters: Option<&str>) -> Vec<latest::Redescription> {
        vec![latest::Redescription {
            name: name.into(),
            description: Some(description.into()),
            parameters: parameters.map(str::to_owned),
        }]
    }

    #[test]
    fn a_change_is_cleaned_like_a_registration() {
        let changes = accept(&registered(), answer("a", "new\u{1b}[31m words\u{200b}", Some("{}"))).unwrap();
        let mut definition = registered().remove(0);
        changes["a"].apply(&mut definition);
        assert_eq!(definition.description, "new[31m words");
        assert_eq!(definition.parameters, json!({"type": "object"}));
    }

    #[test]
    fn another_components_tool_and_a_bad_schema_are_refused() {
        assert!(accept(&registered(), answer("b", "x", None)).unwrap_err().contains("did not register"));
        assert!(accept(&registered(), answer("a", "x", Some("[]"))).unwrap_err().contains("badly"));
        let twice = [answer("a", "x", None), answer("a", "y", None)].concat();
        assert!(accept(&registered(), twice).unwrap_err().contains("2 tools"));
    }

    #[test]
    fn the_oldest_surroundings_are_forgotten_first() {
        let (known, digest) = (Redescriptions::default(), Digest::of(b"c"));
        let key = |n: usize| blake3::hash(&[n as u8]);
        for n in 0..=REMEMBERED {
            known.put(digest, key(n), Redescribed::default());
        }
        assert!(known.get(&digest, &key(0)).is_none());
        assert!((1..=REMEMBERED).all(|n| known.get(&digest, &key(n)).is_some()));
    }
}
