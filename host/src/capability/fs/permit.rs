//! Which files that other programs obey one commit may change: those that a person allowed, by their real paths.

use std::{
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::paths::obeyed::ObeyedRow;

/// A change of a file that a program obeys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObeyedChange {
    /// The file's real path.
    pub(crate) path: PathBuf,
    /// What obeys it.
    pub(crate) row: &'static ObeyedRow,
}

/// What one commit may change of such files.
#[derive(Debug, Default)]
pub(super) struct Permit {
    /// While a commit is only looked at: every such file is let pass and noted.
    looks: AtomicBool,
    noted: Mutex<Vec<ObeyedChange>>,
    allowed: Vec<PathBuf>,
}

/// For whatever has no way to ask.
pub(super) static NO_PERMIT: Permit =
    Permit { looks: AtomicBool::new(false), noted: Mutex::new(Vec::new()), allowed: Vec::new() };

impl Permit {
    /// For the look at a commit, before anything is done.
    pub(super) fn to_look() -> Self {
        Self { looks: AtomicBool::new(true), ..Self::default() }
    }

    /// For these changes, which a person allowed.
    pub(super) fn of(changes: Vec<ObeyedChange>) -> Self {
        Self { allowed: changes.into_iter().map(|change| change.path).collect(), ..Self::default() }
    }

    pub(super) fn is_looking(&self) -> bool {
        self.looks.load(Ordering::Acquire)
    }

    /// Whether a file may be changed, by its real path.
    pub(super) fn admits(&self, path: &Path, row: &'static ObeyedRow) -> bool {
        if self.is_looking() {
            let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
            if noted.iter().all(|change| change.path != path) {
                noted.push(ObeyedChange { path: path.to_owned(), row });
            }
            return true;
        }
        self.allowed.iter().any(|allowed| allowed == path)
    }

    /// Ends the look, and gives what was noted. From now on nothing more is let pass.
    pub(super) fn looked(&self) -> Vec<ObeyedChange> {
        self.looks.store(false, Ordering::Release);
        std::mem::take(&mut self.noted.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::obeyed;

    #[test]
    fn a_permit_is_for_its_paths_and_ends_with_the_look() {
        let (path, other) = (Path::new("/p/.mcp.json"), Path::new("/p/.vscode/tasks.json"));
        let row = obeyed::for_tools(path, None, 0).unwrap();
        assert!(!NO_PERMIT.admits(path, row));
        let permit = Permit::to_look();
        assert!(permit.admits(path, row) && permit.admits(path, row));
        let noted = permit.looked();
        assert_eq!(noted, [ObeyedChange { path: path.to_owned(), row }]);
        assert!(!permit.admits(path, row) && permit.looked().is_empty());
        let permit = Permit::of(noted);
        assert!(permit.admits(path, row) && !permit.admits(other, row));
    }
}
