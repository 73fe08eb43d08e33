//! The files that a patch names, as they would be after each of its operations.

use std::collections::BTreeMap;

use super::{
    super::{
        diff::{DIFF_BYTES, Names, diff},
        splice::{Splice, apply, compose},
    },
    Action, Operation, Why,
    update::update,
};

/// The files as they are.
pub(crate) trait Files {
    /// Whether there is a file.
    fn exists(&mut self, path: &str) -> Result<bool, String>;

    /// The text of a file and its version; nothing if there is none.
    fn read(&mut self, path: &str) -> Result<Option<(String, u64)>, String>;
}

/// A change that is to be made, together with all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    /// The file. Each is named once.
    pub(crate) path: String,
    /// What happens to it.
    pub(crate) change: Change,
    /// The same, to be read.
    pub(crate) diff: String,
}

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// It does not exist, and gets this content.
    Create(String),
    /// It is changed.
    Edit {
        /// The version that the splices are meant for.
        version: u64,
        /// In order, none overlapping another.
        splices: Vec<Splice>,
    },
    /// It is removed.
    Remove {
        /// The version that was shown; nothing for a file that is no text.
        version: Option<u64>,
    },
    /// It does not exist, and another file gets its name.
    Rename {
        /// The other file.
        source: String,
        /// How that is changed before, for which version.
        edit: Option<(u64, Vec<Splice>)>,
    },
}

/// A file that a patch names.
struct Node {
    /// Whether it is there now.
    exists: bool,
    /// What is in it now, once it was read.
    read: Option<(String, u64)>,
    /// What would be in it.
    content: Option<Content>,
}

enum Content {
    /// What a file has now, with some splices.
    Of(String, Vec<Splice>),
    New(String),
}

/// The files that some operations name.
pub(super) struct Tree<'f, F> {
    files: &'f mut F,
    nodes: BTreeMap<String, Node>,
}

impl<'f, F: Files> Tree<'f, F> {
    pub(super) fn new(files: &'f mut F) -> Self {
        Self { files, nodes: BTreeMap::new() }
    }

    fn node(&mut self, path: &str) -> Result<&mut Node, Why> {
        if !self.nodes.contains_key(path) {
            let exists = self.files.exists(path).map_err(Why::Unreadable)?;
            let content = exists.then(|| Content::Of(path.to_owned(), Vec::new()));
            self.nodes.insert(path.to_owned(), Node { exists, read: None, content });
        }
        self.nodes.get_mut(path).ok_or(Why::Missing)
    }

    /// The text of a file as it is now.
    fn text(&mut self, path: &str) -> Result<&(String, u64), Why> {
        let node = self.nodes.get_mut(path).ok_or(Why::Missing)?;
        if node.read.is_none() {
            node.read = self.files.read(path).map_err(Why::Unreadable)?;
        }
        node.read.as_ref().ok_or(Why::Missing)
    }

    /// Does what an operation says, to what the ones before it left. Gives what is wrong, by the line of the patch.
    pub(super) fn operate(
        &mut self,
        operation: &Operation<'_>,
        path: &str,
        target: Option<&str>,
        near: &mut usize,
    ) -> Result<(), Vec<(usize, Why)>> {
        let here = |why| vec![(operation.line, why)];
        let node = self.node(path).map_err(here)?;
        match &operation.action {
            Action::Add(_) if node.content.is_some() => return Err(here(Why::Exists)),
            Action::Add(content) => node.content = Some(Content::New(content.clone())),
            Action::Delete => drop(node.content.take().ok_or_else(|| here(Why::Missing))?),
            Action::Update { hunks, .. } => {
                let content = node.content.take().ok_or_else(|| here(Why::Missing))?;
                let content = if hunks.is_empty() { content } else { self.update(operation, content, near)? };
                let target_node = self.node(target.unwrap_or(path)).map_err(here)?;
                // The place of the file itself is free while it is changed.
                if target_node.content.is_some() || target == Some(path) {
                    return Err(here(Why::Taken(target.unwrap_or(path).to_owned())));
                }
                target_node.content = Some(content);
            }
        }
        Ok(())
    }

    fn update(
        &mut self,
        operation: &Operation<'_>,
        content: Content,
        near: &mut usize,
    ) -> Result<Content, Vec<(usize, Why)>> {
        let here = |why| vec![(operation.line, why)];
        let Action::Update { hunks, .. } = &operation.action else { return Ok(content) };
        let unchanged = |splices: &[Splice]| if splices.is_empty() { Err(here(Why::Unchanged)) } else { Ok(()) };
        match content {
            Content::New(text) => {
                let splices = update(&text, hunks, near)?;
                unchanged(&splices)?;
                Ok(Content::New(apply(&text, &splices)))
            }
            Content::Of(origin, before) => {
                let (text, _) = self.text(&origin).map_err(here)?;
                let splices = if before.is_empty() {
                    update(text, hunks, near)?
                } else {
                    let between = apply(text, &before);
                    let after = update(&between, hunks, near)?;
                    compose(&before, &between, &after)
                };
                unchanged(&splices)?;
                Ok(Content::Of(origin, splices))
            }
        }
    }

    /// The changes that lead from the files as they are to what they would be. Each is made for the files as they are now: what comes
    /// to the place of another file is written there anew.
    pub(super) fn finish(mut self) -> Result<Vec<Planned>, (String, Why)> {
        let left = |path: &String| self.nodes.get(path).is_some_and(|node| node.content.is_none());
        let renamed: BTreeMap<String, String> = self
            .nodes
            .iter()
            .filter(|(_, node)| !node.exists)
            .filter_map(|(path, node)| match &node.content {
                Some(Content::Of(origin, _)) if left(origin) => Some((origin.clone(), path.clone())),
                _ => None,
            })
            .collect();
        let paths: Vec<String> = self.nodes.keys().cloned().collect();
        let mut planned = Vec::new();
        for path in paths {
            let outcome = self.outcome(&path, &renamed).map_err(|why| (path, why))?;
            planned.extend(outcome);
        }
        Ok(planned)
    }

    fn outcome(&mut self, path: &str, renamed: &BTreeMap<String, String>) -> Result<Option<Planned>, Why> {
        let Some(node) = self.nodes.get_mut(path) else { return Ok(None) };
        let exists = node.exists;
        let content = match node.content.take() {
            None if exists && !renamed.contains_key(path) => return Ok(Some(self.remove(path))),
            None => return Ok(None),
            Some(Content::Of(origin, splices)) if origin == path => return self.edit(path, splices),
            Some(Content::Of(origin, splices)) if renamed.get(&origin).is_some_and(|target| target == path) => {
                return self.rename(path, origin, splices).map(Some);
            }
            Some(Content::Of(origin, splices)) => apply(&self.text(&origin)?.0, &splices),
            Some(Content::New(content)) => content,
        };
        if exists {
            let text = &self.text(path)?.0;
            let splices = Splice::trimmed(text, 0..text.len(), &content).into_iter().collect();
            return self.edit(path, splices);
        }
        let whole = Splice { start: 0, end: 0, text: content };
        let shown = diff(Names { old: None, new: Some(path) }, "", std::slice::from_ref(&whole), DIFF_BYTES);
        Ok(Some(Planned { path: path.to_owned(), change: Change::Create(whole.text), diff: shown }))
    }

    fn edit(&mut self, path: &str, splices: Vec<Splice>) -> Result<Option<Planned>, Why> {
        if splices.is_empty() {
            return Ok(None);
        }
        let (text, version) = self.text(path)?;
        let shown = diff(Names { old: Some(path), new: Some(path) }, text, &splices, DIFF_BYTES);
        let change = Change::Edit { version: *version, splices };
        Ok(Some(Planned { path: path.to_owned(), change, diff: shown }))
    }

    fn rename(&mut self, path: &str, source: String, splices: Vec<Splice>) -> Result<Planned, Why> {
        let names = Names { old: Some(&source), new: Some(path) };
        let (shown, edit) = if splices.is_empty() {
            (diff(names, "", &[], DIFF_BYTES), None)
        } else {
            let (text, version) = self.text(&source)?;
            (diff(names, text, &splices, DIFF_BYTES), Some((*version, splices)))
        };
        Ok(Planned { path: path.to_owned(), change: Change::Rename { source, edit }, diff: shown })
    }

    fn remove(&mut self, path: &str) -> Planned {
        // A file that is no text can be removed too.
        let (text, version) = match self.text(path) {
            Ok((text, version)) => (text.as_str(), Some(*version)),
            Err(_) => ("", None),
        };
        let all = Splice { start: 0, end: text.len(), text: String::new() };
        let shown = diff(Names { old: Some(path), new: None }, text, &[all], DIFF_BYTES);
        Planned { path: path.to_owned(), change: Change::Remove { version }, diff: shown }
    }
}
