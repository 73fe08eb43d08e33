//! Whole walks, over made trees.

mod bounds;
mod names;
mod oracle;
mod race;
mod text;

use std::{
    fs::{self, File},
    os::fd::AsFd,
    path::Path,
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use super::{
    records::{Findings, Found},
    *,
};

const RULES: Rules<'_> = Rules { refused: &|_, _| false, mask: None, hard_links: false };

/// A folder with files.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new<const N: usize>(files: [(&str, &str); N]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(path, text)| tree.add(path, text));
        tree
    }

    fn add(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Does something with the start at a folder of the tree, shown as nothing.
    fn at<T>(&self, path: &str, work: impl FnOnce(&Start<'_>) -> T) -> T {
        let folder = File::open(self.path().join(path)).unwrap();
        work(&Start { place: Place::Folder(folder.as_fd()), above: &[], shown: "" })
    }

    fn find(&self, filter: &Filter) -> Found {
        self.at("", |start| find(start, filter, &RULES, &in_time()).unwrap())
    }

    fn paths(&self, filter: &Filter) -> Vec<String> {
        let found = self.find(filter);
        assert_eq!(found.total, found.paths.len() as u64);
        found.paths
    }

    fn search(&self, query: &Query) -> Findings {
        self.at("", |start| search(start, query, &RULES, &in_time()).unwrap())
    }
}

/// A time that is never over.
fn in_time() -> Stop<'static> {
    static NEVER: AtomicBool = AtomicBool::new(false);
    Stop { given_up: &NEVER, deadline: Instant::now() + Duration::from_secs(1_000) }
}

/// Everything that is neither hidden nor ignored.
fn all() -> Filter {
    Filter { take: 1_000, ..Filter::default() }
}

fn globs<const N: usize>(globs: [&str; N]) -> Filter {
    Filter { globs: globs.map(String::from).into(), ..all() }
}

/// Lines with a pattern.
fn lines(pattern: &str) -> Query {
    Query { filter: all(), pattern: pattern.into(), granularity: Granularity::Lines, context: 0, width: 500 }
}

/// Lines as `path:number:text`, with a minus for those of context.
fn show(findings: &Findings) -> Vec<String> {
    let show = |hit: &Hit| {
        let sign = if hit.matches { ':' } else { '-' };
        format!("{}{sign}{}{sign}{}", hit.path, hit.number, hit.text)
    };
    findings.hits.iter().map(show).collect()
}

fn tallies(findings: &Findings) -> Vec<(&str, u64)> {
    findings.files.iter().map(|tally| (tally.path.as_str(), tally.count)).collect()
}
