//! Walks that end early, and answers that are cut.

use std::{
    fs::Permissions,
    os::{fd::OwnedFd, unix::fs::PermissionsExt},
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::fs::{Mode, OFlags, mkdirat, openat};

use super::*;

#[test]
fn the_end_of_the_time_is_said_and_totals_are_of_what_was_seen() {
    let tree = Tree::new([("a", "x"), ("b/c", "x")]);
    let late = Stop { deadline: Instant::now(), ..in_time() };
    let found = tree.at("", |start| find(start, &all(), &RULES, &late)).unwrap();
    assert_eq!((found.total, found.paths.len()), (0, 0));
    assert!(found.extent.stopped.unwrap().contains("time ran out"));
    let findings = tree.at("", |start| search(start, &lines("x"), &RULES, &late)).unwrap();
    assert_eq!((findings.total, findings.hits.len()), (0, 0));
    assert!(findings.extent.stopped.unwrap().contains("time ran out"));
}

#[test]
fn a_walk_ends_when_it_is_given_up() {
    let tree = Tree::new([]);
    (0..50).for_each(|n| tree.add(format!("{n}/file"), ""));
    let given_up = AtomicBool::new(false);
    let stop = Stop { given_up: &given_up, ..in_time() };
    let refused = |_: &Path, name: &[u8]| {
        given_up.fetch_or(name == b"file", Ordering::Relaxed);
        false
    };
    let found = tree.at("", |start| find(start, &all(), &Rules { refused: &refused, ..RULES }, &stop)).unwrap();
    assert!(found.total < 50);
    assert!(found.extent.stopped.unwrap().contains("given up"));
}

/// A file at the bottom of folders below each other, each with a second folder beside it. No path leads there: it would be longer
/// than the system takes.
fn deep(tree: &Tree, depth: usize) {
    let mut at: OwnedFd = File::open(tree.path()).unwrap().into();
    let name = "n".repeat(60);
    for _ in 0..depth {
        mkdirat(&at, "side", Mode::RWXU).unwrap();
        mkdirat(&at, &name, Mode::RWXU).unwrap();
        let flags = OFlags::CREATE | OFlags::WRONLY;
        openat(&at, "side/file", flags, Mode::RWXU).unwrap();
        at = openat(&at, &name, OFlags::DIRECTORY | OFlags::RDONLY, Mode::empty()).unwrap();
    }
    let file = openat(&at, "bottom", OFlags::CREATE | OFlags::WRONLY, Mode::RWXU).unwrap();
    rustix::io::write(file, b"x").unwrap();
}

#[test]
fn deep_folders_are_reached_without_keeping_all_of_them_open() {
    let tree = Tree::new([]);
    deep(&tree, 200);
    assert_eq!(tree.find(&all()).total, 201);
    let findings = tree.search(&lines("x"));
    assert_eq!((findings.total, findings.hits.len()), (1, 1));
    assert!(findings.hits[0].path.len() > 200 * 60);
}

#[test]
fn folders_that_are_too_deep_are_counted() {
    let tree = Tree::new([]);
    deep(&tree, 300);
    let found = tree.find(&all());
    assert_eq!((found.total, found.extent.skipped), (256, vec!["2 too deep".into()]));
}

#[test]
fn large_files_and_overlong_lines_are_counted_and_not_searched() {
    let tree = Tree::new([("a", "x\n")]);
    tree.add("line", "x".repeat(200_000));
    File::create(tree.path().join("large")).unwrap().set_len((64 << 20) + 1).unwrap();
    let findings = tree.search(&lines("x{1,1000}"));
    assert_eq!(findings.total, 1);
    assert_eq!(findings.extent.skipped, ["1 too large", "1 with overlong lines"]);
}

#[test]
fn an_answer_is_bounded_in_bytes_and_ends_with_a_match() {
    let tree = Tree::new([]);
    let line = "y".repeat(400);
    (0..40).for_each(|n| tree.add(format!("{n:02}"), format!("{line}\nx{line}\n{line}\n").repeat(100)));
    let query = Query { filter: Filter { take: 10_000, ..all() }, context: 1, ..lines("x") };
    let findings = tree.search(&query);
    assert_eq!((findings.total, findings.total_files, findings.extent.stopped.clone()), (4_000, 40, None));
    let bytes: usize = findings.hits.iter().map(|hit| hit.path.len() + hit.text.len()).sum();
    assert!((900 << 10..=1 << 20).contains(&bytes), "{bytes}");
    assert!(findings.hits.last().unwrap().matches);
    assert_eq!(findings.files.last().unwrap().path, findings.hits.last().unwrap().path);
    // Who goes on after what was given misses nothing.
    let given = findings.hits.iter().filter(|hit| hit.matches).count() as u64;
    let next = tree.search(&Query { filter: Filter { skip: given, take: 1, ..all() }, ..lines("x") });
    let (last, next) = (findings.hits.last().unwrap(), &next.hits[0]);
    assert!((&last.path, last.number) < (&next.path, next.number) && next.number <= last.number + 3);
}

#[test]
fn paths_are_bounded_in_bytes_too() {
    let tree = Tree::new([]);
    (0..200).for_each(|n| tree.add(format!("{n:03}"), "x"));
    let shown = "s".repeat((1 << 20) / 100 - 4);
    tree.at("", |start| {
        let start = &Start { shown: &shown, ..*start };
        let found = find(start, &all(), &RULES, &in_time()).unwrap();
        assert_eq!((found.paths.len(), found.total, found.extent.stopped), (100, 200, None));
        let files = Query { granularity: Granularity::Files, ..lines("x") };
        let findings = search(start, &files, &RULES, &in_time()).unwrap();
        assert_eq!((findings.files.len(), findings.total_files), (100, 200));
    });
}

#[test]
fn one_match_fits_with_all_its_context() {
    let tree = Tree::new([]);
    tree.add("a", ("y".repeat(5_000) + "\n").repeat(150) + "x");
    let findings = tree.search(&Query { context: u32::MAX, width: u32::MAX, ..lines("x") });
    assert_eq!((findings.hits.len(), findings.hits[0].text.len()), (101, 4_096));
}

#[test]
fn unreadable_files_and_folders_are_counted() {
    let tree = Tree::new([("a", "x"), ("b", "x"), ("c/d", "x")]);
    // Root may read everything.
    if rustix::process::geteuid().is_root() {
        return;
    }
    for name in ["b", "c"] {
        fs::set_permissions(tree.path().join(name), Permissions::from_mode(0o000)).unwrap();
    }
    assert_eq!(tree.search(&lines("x")).extent.skipped, ["2 unreadable"]);
}

#[test]
fn the_same_answer_comes_every_time() {
    let tree = Tree::new([]);
    (0..500).for_each(|n| tree.add(format!("{}/{}/{n}", n % 11, n % 5), "x\n".repeat(n % 4)));
    let query = Query { filter: Filter { skip: 30, take: 50, ..all() }, ..lines("x") };
    let first = tree.search(&query);
    assert!((0..20).all(|_| tree.search(&query) == first));
}
