//! One consistent view of all tools. A reload builds a new one and swaps it; calls keep the one they started with.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use jsonschema::Validator;

use super::{Definition, schema};
use crate::component::{Component, Refusal, valid_name};

/// One tool and the component behind it.
#[derive(Debug)]
pub struct Entry {
    /// The tool.
    pub definition: Definition,
    /// Who answers its calls.
    pub component: Arc<Component>,
    validator: OnceLock<Validator>,
}

impl Entry {
    fn new(definition: Definition, component: Arc<Component>) -> Self {
        Self { definition, component, validator: OnceLock::new() }
    }

    /// What checks arguments, made for the first call.
    pub(crate) fn validator(&self) -> Result<&Validator, String> {
        if let Some(validator) = self.validator.get() {
            return Ok(validator);
        }
        let made = schema::validator(&self.definition.parameters)?;
        Ok(self.validator.get_or_init(|| made))
    }
}

/// The tools, by name.
#[derive(Debug, Default)]
pub struct Catalogue {
    tools: BTreeMap<String, Arc<Entry>>,
    components: Vec<Arc<Component>>,
    refusals: Vec<Refusal>,
}

impl Catalogue {
    /// Registers the tools of these components in this order: of two tools with one name the first stays.
    pub(crate) fn new(components: Vec<Arc<Component>>, mut refusals: Vec<Refusal>) -> Self {
        let mut tools: BTreeMap<String, Arc<Entry>> = BTreeMap::new();
        for component in &components {
            for definition in &component.definitions {
                if let Some(first) = tools.get(&definition.name) {
                    let place = format!("{} in {}", definition.name, component.origin.describe());
                    let reason = format!("the name is taken by {}", first.component.origin.describe());
                    refusals.push(Refusal::new(&place, &reason));
                    continue;
                }
                let entry = Entry::new(definition.clone(), Arc::clone(component));
                tools.insert(definition.name.clone(), Arc::new(entry));
            }
        }
        Self { tools, components, refusals }
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<Entry>> {
        self.tools.get(name)
    }

    /// All tools, by name.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.tools.values()
    }

    /// The components in the order they were found.
    pub fn components(&self) -> &[Arc<Component>] {
        &self.components
    }

    /// What was not loaded, and why.
    pub fn refusals(&self) -> &[Refusal] {
        &self.refusals
    }

    /// The tool names that come nearest to one that does not exist.
    pub fn near(&self, name: &str) -> Vec<&str> {
        // No name is longer; comparing takes the product of the lengths.
        if !valid_name(name) {
            return Vec::new();
        }
        let mut scored: Vec<(f64, &str)> =
            self.tools.keys().map(|known| (strsim::jaro_winkler(known, name), known.as_str())).collect();
        scored.retain(|(score, _)| *score > 0.75);
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored.into_iter().take(3).map(|(_, name)| name).collect()
    }
}
