//! All operations of a patch against the files that are there, before any of them is made.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Action, Operation, PlanError,
    tree::{Files, Planned, Tree},
};

/// Bytes that are searched for what resembles lines that were not found. The first failures get a hint, the others a sentence.
const NEAR_BYTES: usize = 8 << 20;

/// Works out what a patch does to the files. Every operation sees what the ones before it would have done. If any of them can't be
/// made, none is, and all failures are told.
pub(crate) fn plan(operations: &[Operation<'_>], files: &mut impl Files) -> Result<Vec<Planned>, PlanError> {
    let mut planned = Vec::new();
    let mut error = PlanError::default();
    let mut near = NEAR_BYTES;
    // Files that have to do with each other are done together, and forgotten before the next are read.
    for together in groups(operations) {
        let mut tree = Tree::new(files);
        // What follows a failure would fail because of it.
        let mut broken: BTreeSet<String> = BTreeSet::new();
        for operation in &together {
            let (path, target) = paths(operation);
            if broken.contains(&path) || target.as_ref().is_some_and(|target| broken.contains(target)) {
                broken.extend([Some(path), target].into_iter().flatten());
                continue;
            }
            if let Err(wrong) = tree.operate(operation, &path, target.as_deref(), &mut near) {
                wrong.into_iter().for_each(|(line, why)| error.add(line, &path, why));
                broken.extend([Some(path), target].into_iter().flatten());
            }
        }
        if broken.is_empty() {
            match tree.finish() {
                Ok(outcome) => planned.extend(outcome),
                Err((path, why)) => error.add(together.first().map_or(0, |operation| operation.line), &path, why),
            }
        }
    }
    if error.is_empty() { Ok(planned) } else { Err(error.sorted()) }
}

/// The files of an operation.
fn paths(operation: &Operation<'_>) -> (String, Option<String>) {
    let target = match operation.action {
        Action::Update { target, .. } => target,
        Action::Add(_) | Action::Delete => None,
    };
    (plain(operation.path), target.map(plain))
}

/// A path without `./` and doubled slashes, so that one file has one name. The host judges the rest.
fn plain(path: &str) -> String {
    let absolute = if path.starts_with('/') { "/" } else { "" };
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    format!("{absolute}{}", parts.join("/"))
}

/// The operations in groups that name no file of another group. In a group they are in order.
fn groups<'o, 'a>(operations: &'o [Operation<'a>]) -> Vec<Vec<&'o Operation<'a>>> {
    let mut groups: Vec<Vec<&Operation<'_>>> = Vec::new();
    let mut of: BTreeMap<String, usize> = BTreeMap::new();
    for operation in operations {
        let (path, target) = paths(operation);
        let known = of.get(&path).copied();
        let other = target.as_ref().and_then(|target| of.get(target).copied());
        let group = known.or(other).unwrap_or(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        if let Some(other) = other.filter(|other| *other != group) {
            // A group that was given away is empty, and nothing leads to it any more.
            let moved = groups.get_mut(other).map(std::mem::take).unwrap_or_default();
            groups.get_mut(group).into_iter().for_each(|group| group.extend(&moved));
            of.values_mut().filter(|known| **known == other).for_each(|known| *known = group);
        }
        groups.get_mut(group).into_iter().for_each(|group| group.push(operation));
        of.extend([Some(path), target].into_iter().flatten().map(|path| (path, group)));
    }
    groups.retain(|group| !group.is_empty());
    groups.iter_mut().for_each(|group| group.sort_by_key(|operation| operation.line));
    groups
}

#[cfg(test)]
mod tests;
