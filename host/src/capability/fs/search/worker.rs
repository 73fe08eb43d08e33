//! What one thread of a walk does: it goes through folders and visits their files.

use std::{
    mem,
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
};

use rustix::fs::{FileType, RawDir};

use super::{
    ignored::{GITIGNORE, IGNORE, Level, Present},
    listing::Listing,
    open,
    skipped::{Skip, Skipped},
    walk::{Visit, Walk},
};

/// Folders below each other. Trees that people make have some twenty levels. Attack 38.
const DEPTH: u32 = 256;

/// Folders that stay open for those in them. A process may have 1,024 files open, and other calls walk too. Beyond that a folder
/// is opened name by name from the start.
const HANDLES: usize = 64;

/// Files of a folder that one thread visits while others take the rest.
const BATCH: usize = 64;

/// Room for the names that the system gives at once: all of almost every folder.
const NAMES_BYTES: usize = 64 << 10;

/// A part of the walk.
pub(super) enum Job {
    /// A folder to go through.
    Folder {
        /// The folder it is in.
        above: Arc<Folder>,
        /// That folder, if it stayed open.
        at: Option<Arc<Handle>>,
        name: Box<[u8]>,
    },
    /// Some files of a folder, with a slash after each name.
    Files { folder: Arc<Folder>, at: Arc<Handle>, names: Vec<u8> },
}

/// What is known of a folder.
pub(super) struct Folder {
    /// From the granted folder on, with a slash at the end, but for the granted folder itself.
    path: Vec<u8>,
    depth: u32,
    level: Option<Arc<Level>>,
}

/// An open folder.
pub(super) struct Handle {
    folder: OwnedFd,
    _open: Arc<()>,
}

/// A thread's memory.
pub(super) struct Worker<'a, V> {
    walk: &'a Walk<'a>,
    pub(super) visit: V,
    pub(super) files: u64,
    pub(super) skipped: Skipped,
    names: Vec<u8>,
    listing: Listing,
    path: Vec<u8>,
}

impl<'a, V: Visit> Worker<'a, V> {
    pub(super) fn new(walk: &'a Walk<'a>, visit: V) -> Self {
        let names = Vec::with_capacity(NAMES_BYTES);
        let (skipped, listing) = (Skipped::default(), Listing::default());
        Self { walk, visit, files: 0, skipped, names, listing, path: Vec::new() }
    }

    /// Works until the walk is done.
    pub(super) fn work(mut self) -> Self {
        self.walk.queue.work(|job| {
            // The jobs that are left are thrown away one by one.
            if !self.walk.halt.over()
                && let Err(skip) = self.job(job)
            {
                self.skipped.add(skip);
            }
        });
        self
    }

    fn job(&mut self, job: Job) -> Result<(), Skip> {
        match job {
            Job::Files { folder, at, names } => self.files(&folder, &at, &names),
            Job::Folder { above, at, name } => {
                let path = [&above.path[..], &name, b"/"].concat();
                let folder = match at {
                    Some(at) => open::folder(at.folder.as_fd(), &name),
                    None => open::folder_below(self.walk.start, self.walk.sieve.below(&path)),
                };
                self.enter(folder?, path, above.depth + 1, above.level.clone())?;
            }
        }
        Ok(())
    }

    /// Goes through a folder: its folders become jobs, and its files too where there are many.
    pub(super) fn enter(
        &mut self,
        folder: OwnedFd,
        path: Vec<u8>,
        depth: u32,
        above: Option<Arc<Level>>,
    ) -> Result<(), Skip> {
        let at = Arc::new(Handle { folder, _open: self.walk.open.clone() });
        let mut names = mem::take(&mut self.names);
        let mut listing = mem::take(&mut self.listing);
        let mut raw = RawDir::new(&at.folder, names.spare_capacity_mut());
        let mut read = listing.read(&mut raw);
        if read.is_ok() {
            let level = self.level(&at, &listing, path.len(), depth, above);
            let folder = Arc::new(Folder { path, depth, level });
            while read.is_ok() && !self.walk.exceeds(listing.len()) && !self.walk.halt.over() {
                self.sort(&folder, &at, &listing);
                if listing.last {
                    break;
                }
                read = listing.read(&mut raw);
            }
        }
        self.names = names;
        self.listing = listing;
        read
    }

    /// The rules of a folder. Whether it has any is known from its names, if those are all.
    fn level(
        &mut self,
        at: &Handle,
        listing: &Listing,
        start: usize,
        depth: u32,
        above: Option<Arc<Level>>,
    ) -> Option<Arc<Level>> {
        if !self.walk.sieve.ignores() {
            return None;
        }
        let has = |name| !listing.last || listing.has(name);
        let present = Present { ignore: has(IGNORE), gitignore: has(GITIGNORE), exclude: depth == 0 };
        Level::new(at.folder.as_fd(), start, present, above, |skip| self.skipped.add(skip))
    }

    fn sort(&mut self, folder: &Arc<Folder>, at: &Arc<Handle>, listing: &Listing) {
        let walk = self.walk;
        let level = folder.level.as_deref();
        let (mut folders, mut files, mut count) = (Vec::new(), Vec::new(), 0);
        let stays_open = Arc::strong_count(&walk.open) <= HANDLES;
        for (name, kind) in listing.iter() {
            self.path.clear();
            self.path.extend_from_slice(&folder.path);
            self.path.extend_from_slice(name);
            let kind = if kind == FileType::Unknown { open::kind(at.folder.as_fd(), name) } else { kind };
            let taken = match kind {
                FileType::RegularFile => walk.sieve.file(&self.path, name, level),
                FileType::Directory => walk.sieve.folder(&self.path, name, level),
                FileType::Symlink => Err(walk.sieve.other(&self.path, name, level, Skip::Link)),
                FileType::Unknown => Err(Skip::Gone),
                _ => Err(walk.sieve.other(&self.path, name, level, Skip::NotRegular)),
            };
            match taken {
                Err(skip) => self.skipped.add(skip),
                Ok(()) if kind == FileType::RegularFile => {
                    files.extend_from_slice(name);
                    files.push(b'/');
                    count += 1;
                    if count % BATCH == 0 {
                        let names = mem::take(&mut files);
                        walk.queue.push([Job::Files { folder: folder.clone(), at: at.clone(), names }]);
                    }
                }
                Ok(()) if folder.depth == DEPTH => self.skipped.add(Skip::TooDeep),
                Ok(()) => folders.push(Job::Folder {
                    above: folder.clone(),
                    at: stays_open.then(|| at.clone()),
                    name: name.into(),
                }),
            }
        }
        if !folders.is_empty() {
            walk.queue.push(folders);
        }
        self.files(folder, at, &files);
    }

    fn files(&mut self, folder: &Folder, at: &Handle, names: &[u8]) {
        for name in names.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            if self.walk.halt.over() {
                return;
            }
            self.path.clear();
            self.path.extend_from_slice(&folder.path);
            self.path.extend_from_slice(name);
            match self.visit.file(at.folder.as_fd(), name, self.walk.sieve.below(&self.path)) {
                Ok(()) => self.files += 1,
                Err(skip) => self.skipped.add(skip),
            }
        }
    }
}
