//! The fake host's files: in memory, and each thread's own. They lie in a workspace that is called `/workspace`.
//!
//! Reading, listing and changing follow the host's rules. Finding and searching do not happen here: a fake that matches patterns
//! differently from the host would prove nothing, so a test says itself what is found.

mod changes;
mod path;
mod reading;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::FakeHost;
pub(crate) use crate::bindings::hermes::tool::filesystem::Fault;
use crate::fs::{self, Filter, Findings, Found, Metadata, Reason, SearchQuery};

pub(crate) use changes::commit;
pub(crate) use reading::{lines, list, read, stat};

thread_local! {
    static FILES: RefCell<Files> = RefCell::default();
}

type Finder = Rc<dyn Fn(&Filter) -> Result<Found, fs::Fault>>;
type Searcher = Rc<dyn Fn(&SearchQuery) -> Result<Findings, fs::Fault>>;

#[derive(Default)]
struct Files {
    denied: bool,
    tree: Tree,
    secrets: Vec<Vec<u8>>,
    /// How often each excerpt was given: the file's version, then the first line, the number and the width that were asked for.
    given: HashMap<(u64, u64, u32, u32), u32>,
    find: Option<Finder>,
    search: Option<Searcher>,
}

/// What a commit replaces as a whole, or leaves.
#[derive(Clone, Default)]
struct Tree {
    files: BTreeMap<String, File>,
    /// What the task read of each file.
    known: BTreeMap<String, Known>,
    versions: u64,
}

#[derive(Clone)]
struct File {
    content: Rc<Vec<u8>>,
    version: u64,
}

#[derive(Clone, Copy)]
struct Known {
    version: u64,
    whole: bool,
}

impl FakeHost {
    /// With this file, or with other content in it: then it is as if somebody else had changed it.
    ///
    /// # Panics
    ///
    /// If the path leads out of the workspace.
    pub fn file(self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        let inside = path::inside(path);
        assert!(inside.is_ok(), "the fake host's files lie in its workspace: {path} does not");
        FILES.with_borrow_mut(|files| files.tree.put(inside.unwrap_or_default(), content.into()));
        self
    }

    /// What the file holds now; nothing where there is none.
    pub fn content(&self, path: &str) -> Option<Vec<u8>> {
        let path = path::inside(path).ok()?;
        FILES.with_borrow(|files| Some(files.tree.files.get(&path)?.content.to_vec()))
    }

    /// With this text as a secret: wherever it is read, it is masked.
    pub fn secret(self, text: &str) -> Self {
        FILES.with_borrow_mut(|files| files.secrets.push(text.as_bytes().to_vec()));
        self
    }

    /// Without any grant: everything that touches files is denied.
    pub fn without_files(self) -> Self {
        FILES.with_borrow_mut(|files| files.denied = true);
        self
    }

    /// With this answer to [`fs::find`].
    pub fn find(self, answer: impl Fn(&Filter) -> Result<Found, fs::Fault> + 'static) -> Self {
        FILES.with_borrow_mut(|files| files.find = Some(Rc::new(answer)));
        self
    }

    /// With this answer to [`fs::search`].
    pub fn search(self, answer: impl Fn(&SearchQuery) -> Result<Findings, fs::Fault> + 'static) -> Self {
        FILES.with_borrow_mut(|files| files.search = Some(Rc::new(answer)));
        self
    }
}

/// As it is on a new host.
pub(super) fn clear() {
    FILES.take();
}

pub(crate) fn find(filter: &Filter) -> Result<Found, Fault> {
    let answer = FILES.with_borrow(|files| files.permit(&filter.path).map(|()| files.find.clone()))?;
    let answer = answer.ok_or_else(|| unanswered("find"))?;
    Ok(answer(filter)?)
}

pub(crate) fn search(query: &SearchQuery) -> Result<Findings, Fault> {
    let answer = FILES.with_borrow(|files| files.permit(&query.filter.path).map(|()| files.search.clone()))?;
    let answer = answer.ok_or_else(|| unanswered("search"))?;
    Ok(answer(query)?)
}

fn unanswered(function: &str) -> Fault {
    fault(
        Reason::Failed,
        format!("this fake host does not look into files: give it an answer with FakeHost::{function}"),
    )
}

fn fault(reason: Reason, message: impl Into<String>) -> Fault {
    Fault { reason, message: message.into() }
}

impl From<fs::Fault> for Fault {
    fn from(fault: fs::Fault) -> Self {
        Self { reason: fault.reason, message: fault.message }
    }
}

impl Files {
    fn permit(&self, path: &str) -> Result<(), Fault> {
        let why =
            "can't be reached: no folder was granted; the operator can change that: hermes-host grant NAME --read PATH";
        if self.denied { Err(fault(Reason::Denied, format!("{path} {why}"))) } else { Ok(()) }
    }
}

impl Tree {
    fn put(&mut self, path: String, content: Vec<u8>) -> Metadata {
        self.versions += 1;
        let file = File { content: Rc::new(content), version: self.versions };
        let metadata = file.metadata();
        self.files.insert(path, file);
        metadata
    }

    fn file(&self, path: &str) -> Result<&File, Fault> {
        self.files.get(path).ok_or_else(|| self.no_file(path))
    }

    /// What stands in the way where a file was expected.
    fn no_file(&self, path: &str) -> Fault {
        let shown = path::real(path);
        if self.is_directory(path) {
            fault(Reason::IsDirectory, format!("{shown} is a directory"))
        } else if path::parents(path).any(|parent| self.files.contains_key(parent)) {
            fault(Reason::NotDirectory, format!("a part of {shown} is not a directory"))
        } else {
            fault(Reason::NotFound, format!("{shown} does not exist"))
        }
    }

    /// A directory is there as long as something is in it; the workspace always is.
    fn is_directory(&self, path: &str) -> bool {
        path.is_empty() || path::below(path, self.files.keys()).next().is_some()
    }
}

impl File {
    fn metadata(&self) -> Metadata {
        // No clock here: what was made later is later.
        let modified = self.version;
        Metadata {
            kind: fs::Kind::File,
            size: self.content.len() as u64,
            modified,
            version: self.version,
            writable: true,
        }
    }
}
