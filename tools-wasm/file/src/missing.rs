//! What to say where a file is not: the names that may have been meant, or what the directory holds.

use hermes_tool::Error;
use hermes_tool::fs::{self, Entry, Fault, Kind, Reason};

/// Names that are suggested at most: more is a list to read instead of an answer.
const MOST_SUGGESTED: usize = 5;

/// Entries of a directory that are named.
const MOST_LISTED: usize = 20;

/// How like a name must be to be suggested, from 0 to 1. Below it, names resemble each other by chance.
const LIKENESS: f64 = 0.6;

/// The longest name that is compared: the work grows with its square.
const LONGEST: usize = 100;

/// Directories that are looked into where the one of the path does not exist.
const MOST_LOOKED_INTO: usize = 3;

/// The fault as the tool's error, with what helps to go on.
pub(crate) fn explain(fault: Fault, path: &str) -> Error {
    match fault.reason {
        Reason::IsDirectory => Error::failed(format!("{}, not a file{}", fault.message, contents(path))),
        Reason::NotFound => match similar(path).as_slice() {
            [] => Error::failed(format!("{}; look for it with search_files and target \"files\"", fault.message)),
            names => Error::failed(format!("{}; did you mean: {}", fault.message, names.join(", "))),
        },
        _ => fault.into(),
    }
}

/// `; it holds: a.txt, sub/`, or nothing where it can't be listed.
fn contents(path: &str) -> String {
    let Ok(listing) = fs::list(path) else { return String::new() };
    if listing.entries.is_empty() {
        return "; it is empty".into();
    }
    let names: Vec<_> = listing.entries.iter().take(MOST_LISTED).map(shown).collect();
    let rest = listing.total.saturating_sub(names.len() as u64);
    let more = if rest == 0 { String::new() } else { format!(" and {rest} more") };
    format!("; it holds: {}{more}", names.join(", "))
}

/// Paths like this one, the likeliest first: beside it, or in a directory whose name is like that of its own.
fn similar(path: &str) -> Vec<String> {
    let (directory, name) = parent(path);
    if let Ok(listing) = fs::list(directory) {
        return nearest(name, &listing.entries).map(|entry| join(directory, &shown(entry))).collect();
    }
    let (above, directory) = parent(directory);
    let Ok(listing) = fs::list(above) else { return Vec::new() };
    let directories: Vec<_> = listing.entries.into_iter().filter(|entry| entry.kind == Kind::Directory).collect();
    let near = nearest(directory, &directories).take(MOST_LOOKED_INTO).map(|entry| join(above, &entry.name));
    let found = near.flat_map(|directory| {
        let entries = fs::list(&directory).map(|listing| listing.entries).unwrap_or_default();
        nearest(name, &entries).map(|entry| join(&directory, &shown(entry))).collect::<Vec<_>>()
    });
    found.take(MOST_SUGGESTED).collect()
}

/// The directory of a path, and the name in it.
fn parent(path: &str) -> (&str, &str) {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some(pair) => pair,
        None => (".", path),
    }
}

fn join(directory: &str, name: &str) -> String {
    match directory {
        "." => name.to_owned(),
        "/" => format!("/{name}"),
        _ => format!("{directory}/{name}"),
    }
}

fn shown(entry: &Entry) -> String {
    if entry.kind == Kind::Directory { format!("{}/", entry.name) } else { entry.name.clone() }
}

fn nearest<'a>(wanted: &str, entries: &'a [Entry]) -> impl Iterator<Item = &'a Entry> + use<'a> {
    let wanted = wanted.to_lowercase();
    let mut scored: Vec<_> =
        entries.iter().map(|entry| (likeness(&wanted, &entry.name.to_lowercase()), entry)).collect();
    scored.retain(|(score, _)| *score >= LIKENESS);
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    scored.into_iter().take(MOST_SUGGESTED).map(|(_, entry)| entry)
}

/// From 0 to 1, of names in lower case.
fn likeness(wanted: &str, name: &str) -> f64 {
    let stem = |name: &str| name.rsplit_once('.').map(|(stem, _)| stem.to_owned()).filter(|stem| !stem.is_empty());
    if wanted == name {
        1.0
    } else if stem(wanted).unwrap_or(wanted.into()) == stem(name).unwrap_or(name.into()) {
        0.95
    } else if wanted.len() > LONGEST || name.len() > LONGEST {
        0.0
    } else if wanted.len() >= 3 && name.contains(wanted) {
        0.9
    } else {
        strsim::normalized_levenshtein(wanted, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_tool::testing::FakeHost;

    fn said(path: &str) -> String {
        explain(fs::stat(path).and_then(|_| fs::read(path, 0, 1)).unwrap_err(), path).to_string()
    }

    #[test]
    fn a_missing_file_comes_with_names_like_it() {
        let _host = ["src/main.rs", "src/Mains.rs", "src/main.py", "src/other.txt", "src/man.rs"]
            .into_iter()
            .fold(FakeHost::new(), |host, path| host.file(path, ""));
        assert_eq!(
            said("src/MAIN.RS"),
            "/workspace/src/MAIN.RS does not exist; did you mean: src/main.rs, src/main.py, src/Mains.rs, src/man.rs"
        );
    }

    #[test]
    fn a_directory_that_is_misspelt_is_looked_for_too() {
        let _host = FakeHost::new().file("Source/main.rs", "").file("docs/main.rs", "");
        assert!(said("source/main.rs").ends_with("; did you mean: Source/main.rs"));
        assert!(said("sorce/man.rs").ends_with("; did you mean: Source/main.rs"));
    }

    #[test]
    fn where_nothing_is_like_it_the_search_is_named() {
        let _host = FakeHost::new().file("a.txt", "");
        assert!(said("parallelogram.rs").ends_with("look for it with search_files and target \"files\""));
        assert!(said("no/such/place").contains("search_files"));
    }

    #[test]
    fn a_directory_is_called_a_directory() {
        let host = FakeHost::new().file("src/main.rs", "").file("src/a/b.rs", "");
        assert_eq!(said("src"), "/workspace/src is a directory, not a file; it holds: a/, main.rs");
        let _host = (0..30).fold(host, |host, n| host.file(&format!("many/{n:02}"), ""));
        assert!(said("many").ends_with("18, 19 and 10 more"), "{}", said("many"));
    }

    #[test]
    fn what_was_denied_stays_denied() {
        let _host = FakeHost::new();
        let why = explain(fs::stat("/etc/passwd").unwrap_err(), "/etc/passwd");
        assert!(matches!(why, Error::Denied(_)), "{why:?}");
    }
}
