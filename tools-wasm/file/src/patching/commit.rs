//! From a draft to files that are changed.

use hermes_tool::fs::{self, Change, Changed, Knowledge, Reason};
use hermes_tool::{Error, Result};

use super::Patched;
use crate::patch::Splice;
use crate::syntax::Lint;

/// Changes that could be made, and what to say of them. The texts they come from are not held any more.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) changes: Vec<Change>,
    pub(super) diff: String,
    pub(super) lints: Vec<Lint>,
    pub(super) strategy: Option<String>,
    pub(super) replacements: Option<u64>,
}

/// Makes a draft and its changes. If somebody changed a file meanwhile, both once more.
pub(super) fn make(draft: impl Fn() -> Result<Draft>) -> Result<Patched> {
    let first = draft()?;
    match fs::commit(&first.changes) {
        Ok(changed) => Ok(first.done(&changed)),
        Err(fault) if fault.reason == Reason::Changed => {
            let second = draft()?;
            let changed = fs::commit(&second.changes).map_err(untouched)?;
            Ok(second.done(&changed))
        }
        Err(fault) => Err(untouched(fault)),
    }
}

fn untouched(mut fault: fs::Fault) -> Error {
    fault.message = format!("no file was changed: {}", fault.message);
    fault.into()
}

/// A change of a file that has this version.
pub(super) fn edit(path: String, version: u64, splices: Vec<Splice>) -> Change {
    let splice = |splice: Splice| fs::Splice {
        offset: splice.start as u64,
        length: (splice.end - splice.start) as u64,
        bytes: splice.text.into_bytes(),
    };
    Change::Edit(fs::Edit { path, version, splices: splices.into_iter().map(splice).collect() })
}

impl Draft {
    fn done(self, changed: &[Changed]) -> Patched {
        let mut patched = Patched {
            success: true,
            diff: self.diff,
            files_modified: Vec::new(),
            files_created: Vec::new(),
            files_deleted: Vec::new(),
            lint: Lint::of_all(self.lints),
            strategy: self.strategy,
            replacements: self.replacements,
            warning: None,
        };
        for (change, made) in self.changes.iter().zip(changed) {
            let list = match change {
                Change::Write(_) => Some(&mut patched.files_created),
                Change::Remove(_) => Some(&mut patched.files_deleted),
                Change::Edit(_) | Change::Rename(_) => None,
            };
            list.into_iter().for_each(|list| list.push(made.path.clone()));
            // A file that is changed and then moved is in the list by its new name.
            if !moves_on(change, &self.changes) {
                patched.files_modified.push(made.path.clone());
            }
        }
        let outdated: Vec<&str> = changed
            .iter()
            .filter(|made| made.knowledge == Knowledge::Outdated)
            .map(|made| made.path.as_str())
            .collect();
        if !outdated.is_empty() {
            let what = "was changed by somebody else since it was read in this task; the patch fits the new text, which is kept unless it was deleted";
            patched.warning = Some(format!("{} {what}", outdated.join(", ")));
        }
        patched
    }
}

fn moves_on(change: &Change, changes: &[Change]) -> bool {
    let Change::Edit(edit) = change else { return false };
    changes.iter().any(|change| matches!(change, Change::Rename(rename) if rename.source == edit.path))
}
