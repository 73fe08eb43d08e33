//! The walk through the folders below a start, by some threads at once.

use std::{
    num::NonZero,
    os::{fd::BorrowedFd, unix::ffi::OsStrExt},
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use super::{
    globs::Globs,
    halt::Halt,
    ignored::{Level, Present},
    open,
    queue::Queue,
    records::{Extent, Filter, Place, Problem, Rules, Start},
    sieve::Sieve,
    skipped::{Skip, Skipped},
    worker::{Job, Worker},
};

/// Entries of all folders together. The largest source trees have some hundred thousand; walking more takes longer than anyone
/// waits for a tool. Attack 38.
pub(super) const ENTRIES: u64 = 1_000_000;

/// Threads of a walk. More of them mostly wait for each other, and other calls need some too.
const THREADS: usize = 8;

/// What is done with files. Each thread has its own.
pub(super) trait Visit: Send {
    /// Looks at a file, by the folder it is in, its name there and its path below the start.
    fn file(&mut self, at: BorrowedFd<'_>, name: &[u8], path: &[u8]) -> Result<(), Skip>;

    /// Looks at the file that is the start itself.
    fn opened(&mut self, file: BorrowedFd<'_>) -> Result<(), Skip>;
}

/// A walk that has ended.
pub(super) struct Walked<V> {
    pub(super) visits: Vec<V>,
    /// Files that were looked at.
    pub(super) files: u64,
    skipped: Skipped,
}

impl<V> Walked<V> {
    /// How far it came.
    pub(super) fn extent(&self, halt: &Halt<'_>) -> Extent {
        Extent { files: self.files, skipped: self.skipped.describe(), stopped: halt.reason() }
    }
}

/// Visits every file at a start that a filter lets through. In no order.
pub(super) fn over<V: Visit>(
    start: &Start<'_>,
    filter: &Filter,
    rules: &Rules<'_>,
    halt: &Halt<'_>,
    visit: impl Fn() -> V,
) -> Result<Walked<V>, Problem> {
    let mut path = Vec::new();
    let mut skipped = Skipped::default();
    let mut above = None;
    for (number, step) in start.above.iter().enumerate() {
        if !filter.ignored {
            let present = Present { ignore: true, gitignore: true, exclude: number == 0 };
            above = Level::new(step.folder, path.len(), present, above, |skip| skipped.add(skip));
        }
        path.extend_from_slice(step.name.as_bytes());
        path.push(b'/');
    }
    let sieve = Sieve::new(filter, Globs::new(&filter.globs)?, rules, path.len());
    match start.place {
        Place::Folder(folder) => {
            let entries = AtomicU64::new(0);
            let walk = Walk { start: folder, sieve, halt, queue: Queue::new(), entries, open: Arc::new(()) };
            walk.run(path, above, skipped, visit).map_err(|_| {
                Problem::Failed(format!("failed to list {:?}; see whether it is there and may be read", start.shown))
            })
        }
        Place::File { file, name } => {
            let mut visit = visit();
            let seen = sieve.named(name.as_bytes()).and_then(|()| visit.opened(file));
            let files = seen.map_err(|skip| skipped.add(skip)).map_or(0, |()| 1);
            Ok(Walked { visits: vec![visit], files, skipped })
        }
    }
}

/// What the threads share.
pub(super) struct Walk<'a> {
    pub(super) start: BorrowedFd<'a>,
    pub(super) sieve: Sieve<'a>,
    pub(super) halt: &'a Halt<'a>,
    pub(super) queue: Queue<Job>,
    entries: AtomicU64,
    /// Every open folder holds one, so that they can be counted.
    pub(super) open: Arc<()>,
}

impl Walk<'_> {
    fn run<V: Visit>(
        &self,
        path: Vec<u8>,
        above: Option<Arc<Level>>,
        skipped: Skipped,
        visit: impl Fn() -> V,
    ) -> Result<Walked<V>, Skip> {
        let mut first = Worker::new(self, visit());
        first.enter(open::folder(self.start, b"")?, path, 0, above)?;
        // A folder without folders is done by now: no thread is started for it.
        let helpers = if self.queue.is_empty() { 0 } else { threads() - 1 };
        let workers = thread::scope(|scope| {
            let helpers = (0..helpers).map(|_| Worker::new(self, visit()));
            let helpers: Vec<_> = helpers.map(|helper| scope.spawn(|| helper.work())).collect();
            let mut workers = vec![first.work()];
            // A panic in a thread is one of the walk.
            workers
                .extend(helpers.into_iter().map(|helper| helper.join().unwrap_or_else(|panic| resume_unwind(panic))));
            workers
        });
        let mut walked = Walked { visits: Vec::new(), files: 0, skipped };
        for worker in workers {
            walked.files += worker.files;
            walked.skipped.merge(&worker.skipped);
            walked.visits.push(worker.visit);
        }
        Ok(walked)
    }

    /// Whether so many more entries are too many.
    pub(super) fn exceeds(&self, entries: usize) -> bool {
        let entries = entries as u64;
        let exceeds = self.entries.fetch_add(entries, Ordering::Relaxed) + entries > ENTRIES;
        if exceeds {
            self.halt.too_many_entries();
        }
        exceeds
    }
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(THREADS)
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{File, create_dir},
        os::fd::AsFd,
        panic::{AssertUnwindSafe, catch_unwind},
        sync::atomic::AtomicBool,
        time::{Duration, Instant},
    };

    use super::{super::records::Stop, *};

    const RULES: Rules<'_> = Rules { refused: &|_, _| false, mask: None, hard_links: true };

    struct Each<F>(F);

    impl<F: FnMut(&[u8]) + Send> Visit for Each<F> {
        fn file(&mut self, _: BorrowedFd<'_>, _: &[u8], path: &[u8]) -> Result<(), Skip> {
            (self.0)(path);
            Ok(())
        }

        fn opened(&mut self, _: BorrowedFd<'_>) -> Result<(), Skip> {
            Ok(())
        }
    }

    /// Walks over a file and two folders with one each, and has looked at so many entries before.
    fn walk(entries: u64, each: impl Fn(&[u8]) + Send + Copy) -> (u64, Option<String>) {
        let dir = tempfile::tempdir().unwrap();
        ["one", "two"].iter().for_each(|name| create_dir(dir.path().join(name)).unwrap());
        ["file", "one/file", "two/file"].iter().for_each(|path| drop(File::create(dir.path().join(path)).unwrap()));
        let (root, given_up, filter) = (File::open(dir.path()).unwrap(), AtomicBool::new(false), Filter::default());
        let halt = Halt::new(Stop { given_up: &given_up, deadline: Instant::now() + Duration::from_secs(100) });
        let sieve = Sieve::new(&filter, Globs::new(&[]).unwrap(), &RULES, 0);
        let (start, entries) = (root.as_fd(), AtomicU64::new(entries));
        let walk = Walk { start, sieve, halt: &halt, queue: Queue::new(), entries, open: Arc::new(()) };
        let walked = walk.run(Vec::new(), None, Skipped::default(), || Each(each)).map_err(|_| ()).unwrap();
        (walked.files, walked.extent(&halt).stopped)
    }

    #[test]
    fn a_walk_ends_at_the_bound_of_entries() {
        for (room, files) in [(5, 3), (2, 0)] {
            let (seen, stopped) = walk(ENTRIES - room, |_| ());
            assert_eq!((seen, stopped.is_some()), (files, room < 5));
        }
        let (seen, stopped) = walk(ENTRIES - 4, |_| ());
        assert!(seen < 3 && stopped.unwrap().contains("entries"));
    }

    #[test]
    fn a_panic_in_any_thread_is_one_of_the_walk() {
        for own in [true, false].into_iter().take(threads()) {
            let (caller, panicking) = (thread::current().id(), AtomicBool::new(false));
            let walked = catch_unwind(AssertUnwindSafe(|| {
                walk(0, |path| {
                    if path == b"file" {
                        return;
                    }
                    if (thread::current().id() == caller) == own {
                        panicking.store(true, Ordering::Relaxed);
                        panic!("on purpose");
                    }
                    // The other folder is left for the thread that is to panic.
                    while !panicking.load(Ordering::Relaxed) {
                        thread::yield_now();
                    }
                })
            }));
            assert!(walked.is_err());
        }
    }
}
