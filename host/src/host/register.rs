//! What the embedding program adds at run time.

use std::sync::Arc;

use bytes::Bytes;

use super::{Added, Host, HostError};
use crate::{
    component::{Component, ComponentFile, Origin, Refusal, valid_name},
    registry::{Entry, Toolset, ToolsetError},
};

/// Why something was not registered.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    /// The component can't be used.
    #[error("{}: {}", .0.place, .0.reason)]
    Refused(Refusal),
    /// The toolset can't be used.
    #[error(transparent)]
    Toolset(#[from] ToolsetError),
    /// The catalogue could not be made anew.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl Host {
    /// Adds a component from memory, after the bundled ones and those of the folders. It runs under the same limits and grants as
    /// a file of this name. Answers the names of its tools that are reachable now: one whose name was taken is not.
    pub fn register(&self, name: &str, bytes: impl Into<Bytes>) -> Result<Vec<String>, RegisterError> {
        let refuse = |reason: &str| RegisterError::Refused(Refusal::new(&format!("registered {name}"), reason));
        if !valid_name(name) {
            return Err(refuse("a component's name is 1 to 64 of A-Z a-z 0-9 _ -"));
        }
        let file = ComponentFile::held(name, Origin::Registered, bytes.into());
        let digest = file.digest;
        let mut added = self.added();
        if added.components.iter().any(|known| known.name == name) {
            return Err(refuse("a component of this name is registered already; deregister it first"));
        }
        self.try_load(&file)?;
        added.components.push(file);
        if let Err(why) = self.reload_with(&added) {
            added.components.retain(|known| known.name != name);
            return Err(why.into());
        }
        let is_new = |component: &Arc<Component>| component.name == name && component.origin == Origin::Registered;
        if !self.catalogue().components().iter().any(is_new) {
            added.components.retain(|known| known.name != name);
            self.reload_with(&added)?;
            return Err(refuse(&format!("another component has the same bytes ({})", digest.short())));
        }
        let reachable = |entry: &&Arc<Entry>| is_new(&entry.component);
        Ok(self.catalogue().tools().filter(reachable).map(|entry| entry.definition.name.clone()).collect())
    }

    /// Takes a registered component away. Calls that run end on its code. False where there is none of this name.
    pub fn deregister(&self, name: &str) -> Result<bool, HostError> {
        self.change(|added| {
            let before = added.components.len();
            added.components.retain(|known| known.name != name);
            before != added.components.len()
        })
    }

    /// Adds a toolset, or puts it in the place of one that was added before.
    pub fn add_toolset(&self, name: &str, toolset: Toolset) -> Result<(), RegisterError> {
        let mut toolsets = self.toolsets();
        toolsets.remove(name);
        toolsets.add(name, toolset.clone())?;
        self.change(|added| {
            added.toolsets.retain(|(known, _)| known != name);
            added.toolsets.push((name.to_owned(), toolset));
            true
        })?;
        Ok(())
    }

    /// Takes a toolset away that was added at run time.
    pub fn remove_toolset(&self, name: &str) -> Result<bool, HostError> {
        self.change(|added| {
            let before = added.toolsets.len();
            added.toolsets.retain(|(known, _)| known != name);
            before != added.toolsets.len()
        })
    }

    /// Changes what was added and makes everything anew, or leaves it as it was.
    fn change(&self, change: impl FnOnce(&mut Added) -> bool) -> Result<bool, HostError> {
        let mut added = self.added();
        let mut changed = added.clone();
        if !change(&mut changed) {
            return Ok(false);
        }
        self.reload_with(&changed)?;
        *added = changed;
        Ok(true)
    }
}
