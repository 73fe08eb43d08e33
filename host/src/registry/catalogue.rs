//! One consistent view of all tools. A reload builds a new one and swaps it; calls keep the one they started with.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use super::{Definition, near::near, schema::Checker};
use crate::component::{Component, Refusal};

/// One tool and the component behind it.
#[derive(Debug)]
pub struct Entry {
    /// The tool.
    pub definition: Definition,
    /// Who answers its calls.
    pub component: Arc<Component>,
    checker: OnceLock<Checker>,
    output_checker: OnceLock<Checker>,
}

impl Entry {
    fn new(definition: Definition, component: Arc<Component>) -> Self {
        Self { definition, component, checker: OnceLock::new(), output_checker: OnceLock::new() }
    }

    /// What checks arguments, made for the first call.
    pub(crate) fn checker(&self) -> Result<&Checker, String> {
        if let Some(checker) = self.checker.get() {
            return Ok(checker);
        }
        let made = Checker::new(&self.definition.parameters)?;
        Ok(self.checker.get_or_init(|| made))
    }

    /// What checks results, made for the first one. Nothing where the tool promises no schema.
    pub(crate) fn output_checker(&self) -> Result<Option<&Checker>, String> {
        let Some(output) = &self.definition.output else { return Ok(None) };
        if let Some(checker) = self.output_checker.get() {
            return Ok(Some(checker));
        }
        let made = Checker::new(output)?;
        Ok(Some(self.output_checker.get_or_init(|| made)))
    }
}

/// The tools, by name.
#[derive(Debug, Default)]
pub struct Catalogue {
    tools: BTreeMap<String, Arc<Entry>>,
    components: Vec<Arc<Component>>,
    refusals: Vec<Refusal>,
    generation: u64,
}

impl Catalogue {
    /// Registers the tools of these components in this order: of two tools with one name the first stays, unless the operator
    /// lets the later component override it.
    pub(crate) fn new(
        components: Vec<Arc<Component>>,
        mut refusals: Vec<Refusal>,
        may_override: impl Fn(&Component, &str) -> bool,
    ) -> Self {
        let mut tools: BTreeMap<String, Arc<Entry>> = BTreeMap::new();
        for component in &components {
            for definition in &component.offer {
                let name = &definition.name;
                let entry = Arc::new(Entry::new(definition.clone(), Arc::clone(component)));
                let Some(first) = tools.get(name) else {
                    tools.insert(name.clone(), entry);
                    continue;
                };
                let overrides = |one: &Component| may_override(one, name);
                let (loser, reason) = match (overrides(component), overrides(&first.component)) {
                    (true, false) => (&first.component, "replaced, as the configuration says, by"),
                    (true, true) => (component, "both are to override the name, and the first stays:"),
                    (false, _) => (component, "the name is taken by"),
                };
                let stays = if Arc::ptr_eq(loser, component) { &first.component } else { component };
                let place = format!("{name} in {}", loser.origin.describe_as(&loser.name));
                refusals.push(Refusal::new(&place, &format!("{reason} {}", stays.origin.describe_as(&stays.name))));
                if Arc::ptr_eq(stays, component) {
                    tools.insert(name.clone(), entry);
                }
            }
        }
        Self { tools, components, refusals, generation: 0 }
    }

    /// Counts the changes: two catalogues of one host with the same number are the same.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// This catalogue as the successor of another.
    pub(crate) fn after(mut self, before: &Self) -> Self {
        self.generation = before.generation + 1;
        self
    }

    /// Whether the same components, by their bytes, offer the same tools, and the same files are refused.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let same_components = self.components.len() == other.components.len()
            && self.components.iter().zip(&other.components).all(|(one, other)| Arc::ptr_eq(one, other));
        same_components && self.offers_as(other) && self.refusals == other.refusals
    }

    /// Whether the same components offer the same tools, whatever was refused.
    pub(crate) fn offers_as(&self, other: &Self) -> bool {
        self.tools.len() == other.tools.len()
            && self.tools.iter().all(|(name, entry)| {
                other.tools.get(name).is_some_and(|other| Arc::ptr_eq(&entry.component, &other.component))
            })
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
        near(name, self.tools.keys().map(String::as_str))
    }
}
