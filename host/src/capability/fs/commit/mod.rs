//! `commit`: several changes, all of them or none.
//!
//! Files that other programs obey are changed only where a person allowed it: the look at them notes which they are and stops, and the
//! changes are made with a permit for these very files.
//!
//! First everything is looked at and nothing done: where each change lies, whether it may be made, whether it is meant for what is
//! there. Then the new contents are written beside their files, under names that lists omit, and synced. Only then do they take
//! their places, each in one step of the kernel; if one can't, those before it are put back. A process that dies at any moment leaves
//! every file whole, old or new.

mod apply;
mod draft;
mod target;
mod uncovered;

use std::{collections::HashSet, path::PathBuf, sync::PoisonError};

pub(super) use apply::Applied;
pub(super) use draft::{is_draft, reserve};
pub(super) use target::Target;

use self::draft::Draft;
use super::{
    budget::Budget,
    fault::{Outcome, fault},
    folders::Folders,
    open::{describe, version},
    permit::{ObeyedChange, Permit},
    secrets,
};
use crate::wit::latest::filesystem::{
    Change, Changed, Edit, Expected, Fault, Knowledge, Reason, Remove, Rename, Splice, Write,
};

/// What these changes take of a call's budget.
fn cost(changes: &[Change]) -> u64 {
    let bytes = |change: &Change| match change {
        Change::Write(write) => write.content.len() as u64,
        Change::Edit(edit) => edit.splices.iter().map(|splice| splice.bytes.len() as u64).sum(),
        Change::Remove(_) | Change::Rename(_) => 0,
    };
    changes.iter().map(bytes).sum()
}

/// Why changes were not made.
#[derive(Debug)]
pub(super) enum Unmade {
    /// They can't, or may not.
    Fault(Fault),
    /// Other programs obey these files, so a decision comes first. Nothing was done.
    Obeyed(Vec<ObeyedChange>),
}

impl From<Fault> for Unmade {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Makes the changes. With a permit to look it stops before those that need a decision. Blocks.
pub(super) fn commit(
    folders: &Folders,
    task: Option<&str>,
    budget: &Budget,
    changes: &[Change],
    permit: &Permit,
) -> Result<Vec<Changed>, Unmade> {
    // What was decided about was counted when it was looked at.
    if permit.is_looking() {
        budget.take(cost(changes), changes.len())?;
    }
    changes.iter().try_for_each(refuse_masks)?;
    let steps = changes.iter().map(|change| Step::new(folders, change, permit)).collect::<Outcome<Vec<_>>>()?;
    each_once(&steps)?;
    // Whoever changes the same file waits, so that a version that was checked is the one that is replaced.
    let places = steps.iter().flat_map(Step::targets).map(|target| target.real.as_path());
    let _turns: Vec<_> = folders
        .turns()
        .of(places)
        .into_iter()
        .map(|turn| turn.lock().unwrap_or_else(PoisonError::into_inner))
        .collect();
    steps.iter().try_for_each(Step::check)?;
    let obeyed = permit.looked();
    if !obeyed.is_empty() {
        return Err(Unmade::Obeyed(obeyed));
    }
    let knowledge: Vec<Knowledge> = steps.iter().map(|step| step.knowledge(folders, task)).collect();
    let mut applied = Applied::default();
    let made = make(&steps, &mut applied);
    match made {
        Ok(changed) => {
            applied.keep();
            let changed: Vec<Changed> = changed
                .into_iter()
                .zip(knowledge)
                .map(|(changed, knowledge)| Changed { knowledge, ..changed })
                .collect();
            if let Some(task) = task {
                remember(folders, task, &steps, &changed);
            }
            Ok(changed)
        }
        Err(why) => Err(applied.undo(why).into()),
    }
}

/// The new contents first, then all of them into their places.
fn make(steps: &[Step<'_>], applied: &mut Applied) -> Outcome<Vec<Changed>> {
    let drafts = steps.iter().map(|step| step.draft(applied)).collect::<Outcome<Vec<_>>>()?;
    steps.iter().zip(drafts).map(|(step, draft)| step.apply(draft, applied)).collect()
}

/// One change, with the places it concerns.
enum Step<'a> {
    Write(Target<'a>, &'a Write),
    Edit(Target<'a>, &'a Edit),
    Remove(Target<'a>, &'a Remove),
    Rename(Target<'a>, Target<'a>),
}

impl<'a> Step<'a> {
    fn new(folders: &'a Folders, change: &'a Change, permit: &'a Permit) -> Outcome<Self> {
        Ok(match change {
            Change::Write(write) => Self::Write(Target::new(folders, &write.path, permit)?, write),
            Change::Edit(edit) => Self::Edit(Target::new(folders, &edit.path, permit)?, edit),
            Change::Remove(remove) => Self::Remove(Target::of_name(folders, &remove.path, permit)?, remove),
            Change::Rename(Rename { source, target }) => {
                Self::Rename(Target::of_name(folders, source, permit)?, Target::new(folders, target, permit)?)
            }
        })
    }

    fn targets(&self) -> impl Iterator<Item = &Target<'a>> {
        let (one, other) = match self {
            Self::Write(target, _) | Self::Edit(target, _) | Self::Remove(target, _) => (target, None),
            Self::Rename(source, target) => (source, Some(target)),
        };
        std::iter::once(one).chain(other)
    }

    /// Whether it is meant for what is there.
    fn check(&self) -> Outcome<()> {
        match self {
            Self::Write(target, write) => {
                let now = target.existing()?;
                match (&write.expected, now) {
                    (Expected::Nothing, Some(_)) => Err(target.exists()),
                    (Expected::Version(wanted), now) if now.as_ref().map(version) != Some(*wanted) => {
                        Err(target.changed())
                    }
                    _ => Ok(()),
                }
            }
            Self::Edit(target, edit) => {
                let now = target.existing()?.ok_or_else(|| target.missing())?;
                if version(&now) != edit.version {
                    return Err(target.changed());
                }
                check_splices(&edit.splices, now.len())
            }
            Self::Remove(target, remove) => match (target.removable()?, remove.version) {
                (Some(now), Some(wanted)) if version(&now) != wanted => Err(target.changed()),
                _ => Ok(()),
            },
            Self::Rename(source, target) => {
                source.movable(target)?;
                match target.existing()? {
                    Some(_) => Err(target.exists()),
                    None => Ok(()),
                }
            }
        }
    }

    /// What the task knows of the file that is about to change.
    fn knowledge(&self, folders: &Folders, task: Option<&str>) -> Knowledge {
        let target = match self {
            Self::Write(target, _) | Self::Edit(target, _) | Self::Remove(target, _) | Self::Rename(target, _) => {
                target
            }
        };
        match (task, target.existing()) {
            (Some(task), Ok(Some(now))) => folders.memory().knowledge(task, &target.real, version(&now)),
            _ => Knowledge::Unread,
        }
    }

    /// The new content, beside its file.
    fn draft(&self, applied: &mut Applied) -> Outcome<Option<Draft>> {
        match self {
            Self::Write(target, write) => Draft::of_content(target, &write.content, applied).map(Some),
            Self::Edit(target, edit) => Draft::of_splices(target, &edit.splices, applied).map(Some),
            Self::Remove(..) | Self::Rename(..) => Ok(None),
        }
    }

    fn apply(&self, draft: Option<Draft>, applied: &mut Applied) -> Outcome<Changed> {
        let (target, (metadata, created, folders_created)) = match (self, draft) {
            (Self::Write(target, _) | Self::Edit(target, _), Some(draft)) => {
                let (created, folders_created) = (draft.is_new(), draft.made_folders());
                (target, (Some(applied.replace(target, draft)?), created, folders_created))
            }
            (Self::Rename(source, target), _) => {
                let (metadata, folders_created) = applied.rename(source, target)?;
                (target, (Some(metadata), true, folders_created))
            }
            (Self::Write(target, _) | Self::Edit(target, _) | Self::Remove(target, _), _) => {
                applied.remove(target)?;
                (target, (None, false, false))
            }
        };
        Ok(Changed {
            path: target.real.display().to_string(),
            created,
            folders_created,
            metadata: metadata.map(|metadata| describe(&metadata, true)),
            knowledge: Knowledge::Unread,
        })
    }
}

/// A mask must not take the place of the secret that it stands for.
fn refuse_masks(change: &Change) -> Outcome<()> {
    let (path, has_mask) = match change {
        Change::Write(write) => (&write.path, secrets::has_mask(&write.content)),
        Change::Edit(edit) => (&edit.path, edit.splices.iter().any(|splice| secrets::has_mask(&splice.bytes))),
        Change::Remove(_) | Change::Rename(_) => return Ok(()),
    };
    match has_mask {
        true => Err(fault(
            Reason::Invalid,
            format!(
                "{path} was not written: the new text has a redacted secret in it, which would replace the real one; change only the lines around it"
            ),
        )),
        false => Ok(()),
    }
}

/// Splices in order, not overlapping, inside the file.
fn check_splices(splices: &[Splice], size: u64) -> Outcome<()> {
    let mut from = 0;
    for splice in splices {
        let end = splice.offset.checked_add(splice.length).filter(|end| *end <= size && splice.offset >= from);
        from = end.ok_or_else(|| fault(Reason::Invalid, "the splices overlap, are not in order, or leave the file"))?;
    }
    Ok(())
}

/// Two changes of one file would each be made for what was there before both. A file may be changed and then moved.
fn each_once(steps: &[Step<'_>]) -> Outcome<()> {
    let mut changed: HashSet<&PathBuf> = HashSet::new();
    let mut moved: HashSet<&PathBuf> = HashSet::new();
    for step in steps {
        let fresh = match step {
            Step::Write(target, _) | Step::Edit(target, _) | Step::Remove(target, _) => {
                !moved.contains(&target.real) && changed.insert(&target.real)
            }
            Step::Rename(source, target) => moved.insert(&source.real) && changed.insert(&target.real),
        };
        if !fresh {
            let path =
                step.targets().map(|target| target.shown().display().to_string()).collect::<Vec<_>>().join(" or ");
            return Err(fault(
                Reason::Invalid,
                format!("{path} is changed twice in one commit; make one change of it"),
            ));
        }
    }
    Ok(())
}

/// What the task knows now.
fn remember(folders: &Folders, task: &str, steps: &[Step<'_>], changed: &[Changed]) {
    for (step, changed) in steps.iter().zip(changed) {
        let version = changed.metadata.as_ref().map(|metadata| metadata.version);
        match (step, version) {
            (Step::Write(target, _), Some(version)) => folders.memory().wrote(task, &target.real, version, true),
            (Step::Edit(target, _), Some(version)) => {
                let whole = changed.knowledge == Knowledge::Whole;
                folders.memory().wrote(task, &target.real, version, whole);
            }
            (Step::Rename(source, target), Some(version)) => {
                folders.memory().removed(task, &source.real);
                folders.memory().wrote(task, &target.real, version, changed.knowledge == Knowledge::Whole);
            }
            (Step::Write(target, _) | Step::Edit(target, _) | Step::Remove(target, _) | Step::Rename(_, target), _) => {
                folders.memory().removed(task, &target.real);
            }
        }
    }
}
