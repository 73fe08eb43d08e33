//! What each task has seen of the files: so that it is not told the same twice, and hears when somebody else changed what it knows.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::limits::{EXCERPTS_OF_A_FILE, FILES_OF_A_TASK, TASKS};
use crate::wit::latest::filesystem::Knowledge;

/// Of all tasks. Bounded: whoever was idle longest is forgotten first.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<Tasks>);

#[derive(Debug, Default)]
struct Tasks {
    clock: u64,
    tasks: HashMap<String, Task>,
}

#[derive(Debug, Default)]
struct Task {
    used: u64,
    files: HashMap<PathBuf, Known>,
}

/// What a task knows of one file.
#[derive(Debug, Default)]
struct Known {
    used: u64,
    version: u64,
    whole: bool,
    /// How often each excerpt was given: its component, first line, number of lines, width.
    given: HashMap<Excerpt, u32>,
}

/// An excerpt is known by who asked and for what.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Excerpt {
    pub(super) component: String,
    pub(super) first: u64,
    pub(super) count: u32,
    pub(super) width: u32,
}

impl Memory {
    /// Remembers that an excerpt was given, and says how often it was before.
    pub(super) fn gave(&self, task: &str, path: &Path, version: u64, excerpt: Excerpt, whole: bool) -> u32 {
        let mut tasks = self.tasks();
        let known = tasks.known(task, path);
        if known.version != version {
            *known = Known { used: known.used, version, ..Known::default() };
        }
        known.whole |= whole;
        if known.given.len() >= EXCERPTS_OF_A_FILE && !known.given.contains_key(&excerpt) {
            known.given.clear();
        }
        let times = known.given.entry(excerpt).or_default();
        *times = times.saturating_add(1);
        *times - 1
    }

    /// What a task knows of a file that has this version now.
    pub(super) fn knowledge(&self, task: &str, path: &Path, version: u64) -> Knowledge {
        let tasks = self.tasks();
        match tasks.tasks.get(task).and_then(|task| task.files.get(path)) {
            None => Knowledge::Unread,
            Some(known) if known.version != version => Knowledge::Outdated,
            Some(known) if known.whole => Knowledge::Whole,
            Some(_) => Knowledge::Partial,
        }
    }

    /// Remembers that a task changed a file, and whether it knows all of the new one.
    pub(super) fn wrote(&self, task: &str, path: &Path, version: u64, whole: bool) {
        let mut tasks = self.tasks();
        let known = tasks.known(task, path);
        *known = Known { used: known.used, version, whole, given: HashMap::new() };
    }

    /// Forgets one file of a task: it is gone.
    pub(super) fn removed(&self, task: &str, path: &Path) {
        if let Some(task) = self.tasks().tasks.get_mut(task) {
            task.files.remove(path);
        }
    }

    /// Forgets a task.
    pub(crate) fn forget(&self, task: &str) {
        self.tasks().tasks.remove(task);
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tasks {
    fn known(&mut self, name: &str, path: &Path) -> &mut Known {
        self.clock += 1;
        if !self.tasks.contains_key(name) && self.tasks.len() >= TASKS {
            drop_oldest(&mut self.tasks, |task| task.used);
        }
        let task = self.tasks.entry(name.to_owned()).or_default();
        task.used = self.clock;
        if !task.files.contains_key(path) && task.files.len() >= FILES_OF_A_TASK {
            drop_oldest(&mut task.files, |known| known.used);
        }
        let known = task.files.entry(path.to_owned()).or_default();
        known.used = self.clock;
        known
    }
}

fn drop_oldest<K: Clone + Eq + std::hash::Hash, V>(map: &mut HashMap<K, V>, used: impl Fn(&V) -> u64) {
    if let Some(oldest) = map.iter().min_by_key(|(_, value)| used(value)).map(|(key, _)| key.clone()) {
        map.remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/w/a";

    fn excerpt(first: u64) -> Excerpt {
        Excerpt { component: "file".into(), first, count: 500, width: 8000 }
    }

    #[test]
    fn an_excerpt_is_new_once_for_each_task_and_version() {
        let memory = Memory::default();
        let gave =
            |task: &str, version: u64, first: u64| memory.gave(task, Path::new(FILE), version, excerpt(first), true);
        assert_eq!((gave("t", 1, 1), gave("t", 1, 1), gave("t", 1, 1)), (0, 1, 2));
        assert_eq!((gave("u", 1, 1), gave("t", 1, 2), gave("t", 2, 1)), (0, 0, 0));
        memory.forget("t");
        assert_eq!(gave("t", 2, 1), 0);
    }

    #[test]
    fn a_task_knows_what_it_read_and_what_it_wrote() {
        let memory = Memory::default();
        let path = Path::new(FILE);
        let knows = |version| memory.knowledge("t", path, version);
        assert_eq!(knows(1), Knowledge::Unread);
        memory.gave("t", path, 1, excerpt(1), false);
        assert_eq!((knows(1), knows(2)), (Knowledge::Partial, Knowledge::Outdated));
        memory.wrote("t", path, 2, true);
        assert_eq!((knows(2), knows(3)), (Knowledge::Whole, Knowledge::Outdated));
        memory.removed("t", path);
        assert_eq!(knows(3), Knowledge::Unread);
    }

    #[test]
    fn memory_is_bounded_and_the_idle_are_forgotten_first() {
        let memory = Memory::default();
        for n in 0..TASKS + 10 {
            memory.gave(&n.to_string(), Path::new(FILE), 1, excerpt(1), true);
            memory.gave("busy", Path::new(FILE), 1, excerpt(1), true);
        }
        assert_eq!(memory.tasks().tasks.len(), TASKS);
        assert_eq!(memory.knowledge("busy", Path::new(FILE), 1), Knowledge::Whole);
        assert_eq!(memory.knowledge("0", Path::new(FILE), 1), Knowledge::Unread);
    }
}
