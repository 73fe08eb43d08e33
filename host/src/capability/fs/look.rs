//! `find` and `search`: from a path to the walk below it, and from what the walk found to what the guest hears.

use std::{
    ffi::OsStr,
    fs::File,
    os::{fd::AsFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use memchr::memrchr;
use rustix::fs::OFlags;

use super::{
    beneath::{self, Beneath},
    commit::is_draft,
    fault::{Outcome, fault, system},
    folders::{Folders, regular},
    limits::SEARCH_WALL,
    search::{self, Problem, Rules, Start, Step, Stop},
    secrets,
};
use crate::{
    grant::{Access, Links, Secrets},
    paths::credentials,
    wit::latest::filesystem::{self as wit, Reason},
};

/// Says that nobody waits for an answer any more, when it is dropped.
#[derive(Default)]
pub(super) struct Waiting(Arc<AtomicBool>);

impl Waiting {
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(super) fn find(folders: &Folders, filter: wit::Filter, given_up: &AtomicBool) -> Outcome<wit::Found> {
    let root = Root::new(folders, &filter.path)?;
    let filter = ours(filter);
    let found = root.walk(given_up, |start, rules, stop| search::find(start, &filter, rules, stop))?;
    Ok(wit::Found { paths: found.paths, total: found.total, extent: extent(found.extent) })
}

pub(super) fn search(folders: &Folders, query: wit::SearchQuery, given_up: &AtomicBool) -> Outcome<wit::Findings> {
    let root = Root::new(folders, &query.filter.path)?;
    let query = search::Query {
        filter: ours(query.filter),
        pattern: query.pattern,
        granularity: match query.granularity {
            wit::Granularity::Lines => search::Granularity::Lines,
            wit::Granularity::Files => search::Granularity::Files,
        },
        context: query.context,
        width: query.width,
    };
    let found = root.walk(given_up, |start, rules, stop| search::search(start, &query, rules, stop))?;
    let hit = |hit: search::Hit| wit::Hit { path: hit.path, number: hit.number, text: hit.text, matches: hit.matches };
    Ok(wit::Findings {
        hits: found.hits.into_iter().map(hit).collect(),
        files: found.files.into_iter().map(|tally| wit::Tally { path: tally.path, count: tally.count }).collect(),
        total: found.total,
        total_files: found.total_files,
        masked: found.masked,
        extent: extent(found.extent),
    })
}

fn ours(filter: wit::Filter) -> search::Filter {
    let wit::Filter { globs, hidden, ignored, skip, take, .. } = filter;
    search::Filter { globs, hidden, ignored, skip, take }
}

fn extent(extent: search::Extent) -> wit::Extent {
    wit::Extent { files: extent.files, skipped: extent.skipped, stopped: extent.stopped }
}

/// Where a walk begins.
struct Root {
    found: Beneath,
    is_file: bool,
    /// The directories from the granted folder down to it.
    above: Vec<File>,
    /// How it is shown: from the workspace where it lies there.
    shown: String,
    /// The host's own files below it, and credentials that are known by their place alone.
    own: Vec<PathBuf>,
    /// Its own name, if that counts for what lies in it.
    name: Vec<u8>,
    /// Whether secrets are masked and files with several names left out: by its own grant, or by that of a folder below.
    masked: bool,
    single: bool,
}

impl Root {
    fn new(folders: &Folders, path: &str) -> Outcome<Self> {
        let place = folders.place(path, Access::Read)?;
        let found = place.open(OFlags::RDONLY)?;
        let metadata = found.file.metadata().map_err(|why| system(&place.shown, &why))?;
        if !metadata.is_dir() {
            regular(place.folder, &place.shown, &metadata)?;
        }
        let mut above = Vec::new();
        for folder in found.path.ancestors().skip(1).collect::<Vec<_>>().into_iter().rev() {
            let opened = beneath::open(&place.opened.dir, folder, OFlags::RDONLY | OFlags::DIRECTORY, |_| Ok(()));
            above.push(opened.map_err(|refused| refused.fault(&place.shown))?.file);
        }
        let shown = folders.shown(&place.shown);
        let own = folders.untouchable_below(&place.real(&found.path));
        let name = found.path.file_name().or_else(|| place.opened.real.file_name());
        let name = name.unwrap_or_default().as_bytes().to_owned();
        let real = place.real(&found.path);
        let masked =
            place.folder.secrets == Secrets::Masked || folders.any_below(&real, |it| it.secrets == Secrets::Masked);
        let single = place.folder.links == Links::Refused || folders.any_below(&real, |it| it.links == Links::Refused);
        Ok(Self { is_file: !metadata.is_dir(), found, above, shown, own, name, masked, single })
    }

    fn walk<T>(
        &self,
        given_up: &AtomicBool,
        walk: impl FnOnce(&Start<'_>, &Rules<'_>, &Stop<'_>) -> Result<T, Problem>,
    ) -> Outcome<T> {
        let names = self.found.path.iter();
        let above: Vec<Step<'_>> =
            self.above.iter().zip(names).map(|(folder, name)| Step { folder: folder.as_fd(), name }).collect();
        let name = self.found.path.file_name().unwrap_or(OsStr::new(""));
        let file = self.found.file.as_fd();
        let place = if self.is_file { search::Place::File { file, name } } else { search::Place::Folder(file) };
        let refused = |path: &Path, name: &[u8]| self.refuses(path, name);
        let mask = |whole: &[u8], range| secrets::mask_range(whole, range);
        let rules = Rules { refused: &refused, mask: self.masked.then_some(&mask), hard_links: !self.single };
        let stop = Stop { given_up, deadline: Instant::now() + SEARCH_WALL };
        walk(&Start { place, above: &above, shown: &self.shown }, &rules, &stop).map_err(|problem| match problem {
            Problem::Invalid(why) => fault(Reason::Invalid, why),
            Problem::Failed(why) => fault(Reason::Failed, why),
        })
    }

    /// Whether something below is never handed out. The walk asks on its way down, so what is above was asked about before.
    fn refuses(&self, path: &Path, name: &[u8]) -> bool {
        if is_draft(name) || self.own.iter().any(|own| own == path) {
            return true;
        }
        if self.is_file {
            return false;
        }
        credentials::is_entry(folder_of(path, name).unwrap_or(&self.name), name)
    }
}

/// The name of the folder that something is in, unless that is the start.
fn folder_of<'a>(path: &'a Path, name: &[u8]) -> Option<&'a [u8]> {
    let folder = path.as_os_str().as_bytes().strip_suffix(name)?.strip_suffix(b"/")?;
    Some(memrchr(b'/', folder).map_or(folder, |slash| folder.get(slash + 1..).unwrap_or_default()))
}
