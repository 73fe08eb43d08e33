//! Which files are looked at.

use std::{
    ffi::OsStr,
    fs::{File, create_dir, hard_link},
    os::unix::{ffi::OsStrExt, fs::symlink, net::UnixListener},
};

use super::*;

#[test]
fn files_are_sorted_by_the_bytes_of_their_paths() {
    let tree = Tree::new([("b", ""), ("a/b", ""), ("a-b", ""), ("a/B", ""), ("ä", ""), ("a/c/d", "")]);
    assert_eq!(tree.paths(&all()), ["a-b", "a/B", "a/b", "a/c/d", "b", "ä"]);
}

#[test]
fn a_part_is_given_and_all_are_counted() {
    let tree = Tree::new([]);
    (0..300).for_each(|n| tree.add(format!("{}/{n:03}", n % 7), ""));
    let whole = tree.find(&all()).paths;
    for (skip, take) in [(0, 0), (0, 1), (0, 10), (7, 20), (295, 20), (300, 1), (u64::MAX, u32::MAX)] {
        let found = tree.find(&Filter { skip, take, ..all() });
        let start = whole.len().min(skip as usize);
        assert_eq!(found.paths, whole[start..whole.len().min(start.saturating_add(take as usize))]);
        assert_eq!((found.total, found.extent.files), (300, 300));
    }
}

#[test]
fn results_are_shown_below_the_start() {
    let tree = Tree::new([("a/b", "")]);
    for (shown, path) in [("", "a/b"), (".", "./a/b"), ("/work", "/work/a/b"), ("/", "/a/b")] {
        let found = tree.at("", |start| find(&Start { shown, ..*start }, &all(), &RULES, &in_time()));
        assert_eq!(found.unwrap().paths, [path]);
    }
}

#[test]
fn hidden_names_are_left_out_unless_asked_for() {
    let tree = Tree::new([("a", ""), (".b", ""), (".c/d", ""), ("e/.f", ""), (".git/config", ""), ("g/.git/x", "")]);
    assert_eq!(tree.paths(&all()), ["a"]);
    assert_eq!(tree.paths(&Filter { hidden: true, ..all() }), [".b", ".c/d", "a", "e/.f"]);
    assert_eq!(tree.paths(&Filter { ignored: true, ..all() }), ["a"]);
    let everything = tree.paths(&Filter { hidden: true, ignored: true, ..all() });
    assert_eq!(everything, [".b", ".c/d", ".git/config", "a", "e/.f", "g/.git/x"]);
}

#[test]
fn ignore_files_count_at_every_level_also_without_git() {
    let tree = Tree::new([
        (".gitignore", "*.log\nbuild/\n"),
        ("sub/.ignore", "!keep.log\nsecret\n"),
        ("a.log", ""),
        ("build/x", ""),
        ("sub/a.log", ""),
        ("sub/keep.log", ""),
        ("sub/secret", ""),
        ("sub/deep/secret", ""),
        ("sub/fine", ""),
        ("secret", ""),
    ]);
    assert_eq!(tree.paths(&all()), ["secret", "sub/fine", "sub/keep.log"]);
    assert_eq!(tree.paths(&Filter { ignored: true, ..all() }).len(), 8);
}

#[test]
fn a_rule_that_takes_a_hidden_name_back_does_not_show_it() {
    let tree = Tree::new([(".gitignore", "*\n!.env\n!a\n"), (".env", ""), ("a", ""), ("b", "")]);
    assert_eq!(tree.paths(&all()), ["a"]);
}

#[test]
fn ignore_files_above_the_start_and_git_s_own_list_count() {
    let tree = Tree::new([
        (".gitignore", "*.log\n/sub/inner/x\n"),
        (".git/info/exclude", "excluded\n"),
        ("sub/.ignore", "inner/y\ninner\n"),
        ("sub/inner/.git/info/exclude", "here\n"),
        ("sub/inner/a.log", ""),
        ("sub/inner/x", ""),
        ("sub/inner/y", ""),
        ("sub/inner/z", ""),
        ("sub/inner/here", ""),
        ("sub/inner/excluded", ""),
        ("sub/inner/deep/excluded", ""),
        ("sub/inner/deep/x", ""),
    ]);
    let [root, sub] = ["", "sub"].map(|path| File::open(tree.path().join(path)).unwrap());
    let step = |folder, name| Step { folder, name: OsStr::new(name) };
    let above = [step(root.as_fd(), "sub"), step(sub.as_fd(), "inner")];
    let found = |filter: &Filter| {
        tree.at("sub/inner", |start| {
            find(&Start { above: &above, ..*start }, filter, &RULES, &in_time()).unwrap().paths
        })
    };
    // The start was named: that a rule leaves it out does not matter.
    assert_eq!(found(&all()), ["deep/x", "z"]);
    assert_eq!(found(&Filter { ignored: true, ..all() }).len(), 8);
    assert_eq!(found(&globs(["deep/*"])), ["deep/x"]);
    assert!(found(&globs(["sub/**"])).is_empty());
}

#[test]
fn globs_narrow_what_is_found_and_never_widen_it() {
    let tree = Tree::new([
        (".gitignore", "ignored.rs\n"),
        ("ignored.rs", ""),
        (".hidden.rs", ""),
        ("a.rs", ""),
        ("src/b.rs", ""),
        ("src/b.py", ""),
        ("target/c.rs", ""),
    ]);
    assert_eq!(tree.paths(&globs(["*.rs"])), ["a.rs", "src/b.rs", "target/c.rs"]);
    assert_eq!(tree.paths(&globs(["*.rs", "!target"])), ["a.rs", "src/b.rs"]);
    assert_eq!(tree.paths(&globs(["src/*.{rs,py}", "!*.py"])), ["src/b.rs"]);
    let bad = tree.at("", |start| find(start, &globs(["a["]), &RULES, &in_time()));
    assert!(matches!(bad, Err(Problem::Invalid(text)) if text.contains("\"a[\"")));
}

#[test]
fn refused_files_and_folders_are_counted_and_never_shown() {
    let tree = Tree::new([("a/key", "secret"), ("keys/b", "secret"), ("keys/c", "secret"), ("a/b", "secret")]);
    let refused = |path: &Path, name: &[u8]| path == Path::new("a/key") || name == b"keys";
    let rules = Rules { refused: &refused, ..RULES };
    let found = tree.at("", |start| find(start, &all(), &rules, &in_time())).unwrap();
    assert_eq!((found.paths, found.total), (vec!["a/b".into()], 1));
    assert_eq!(found.extent.skipped, ["2 never shown"]);
    let findings = tree.at("", |start| search(start, &lines("secret"), &rules, &in_time())).unwrap();
    assert_eq!((findings.total, findings.extent.skipped), (1, vec!["2 never shown".into()]));
}

#[test]
fn links_are_not_followed_and_only_regular_files_are_found() {
    let outside = Tree::new([("secret", "secret")]);
    let tree = Tree::new([("a", "secret"), ("folder/b", "secret")]);
    symlink(outside.path(), tree.path().join("out")).unwrap();
    symlink("../a", tree.path().join("folder/a")).unwrap();
    symlink("nowhere", tree.path().join(".hidden")).unwrap();
    let root = File::open(tree.path()).unwrap();
    rustix::fs::mknodat(&root, "pipe", rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    let _socket = UnixListener::bind(tree.path().join("socket")).unwrap();
    let found = tree.find(&all());
    assert_eq!(found.paths, ["a", "folder/b"]);
    assert_eq!(found.extent.skipped, ["2 not regular", "2 symbolic, not followed"]);
    let findings = tree.search(&lines("secret"));
    assert_eq!(show(&findings), ["a:1:secret", "folder/b:1:secret"]);
}

#[test]
fn hard_links_are_read_only_where_that_is_allowed() {
    let outside = Tree::new([("secret", "secret")]);
    let tree = Tree::new([("a", "secret")]);
    hard_link(outside.path().join("secret"), tree.path().join("b")).unwrap();
    let findings = tree.search(&lines("secret"));
    assert_eq!((show(&findings), findings.extent.skipped), (vec!["a:1:secret".into()], vec!["1 hard-linked".into()]));
    let allowed = Rules { hard_links: true, ..RULES };
    let findings = tree.at("", |start| search(start, &lines("secret"), &allowed, &in_time())).unwrap();
    assert_eq!(findings.total, 2);
    // Its name is no secret.
    assert_eq!(tree.find(&all()).total, 2);
}

#[test]
fn a_single_file_is_shown_as_it_was_named() {
    let tree = Tree::new([(".ignored.log", "one\ntwo\n"), (".gitignore", "*.log\n")]);
    let file = File::open(tree.path().join(".ignored.log")).unwrap();
    let place = Place::File { file: file.as_fd(), name: OsStr::new(".ignored.log") };
    let start = Start { place, above: &[], shown: "dir/.ignored.log" };
    let found = find(&start, &all(), &RULES, &in_time()).unwrap();
    assert_eq!((found.paths, found.total), (vec!["dir/.ignored.log".into()], 1));
    for _ in 0..2 {
        let findings = search(&start, &lines("o$"), &RULES, &in_time()).unwrap();
        assert_eq!(show(&findings), ["dir/.ignored.log:2:two"], "the file's position stays");
        assert_eq!((tallies(&findings), findings.extent.files), (vec![("dir/.ignored.log", 1)], 1));
    }
    assert_eq!(find(&start, &globs(["*.rs"]), &RULES, &in_time()).unwrap().total, 0);
    assert_eq!(find(&start, &globs(["*.log"]), &RULES, &in_time()).unwrap().total, 1);
    let rules = Rules { refused: &|_, name| name == b".ignored.log", ..RULES };
    assert_eq!(find(&start, &all(), &rules, &in_time()).unwrap().extent.skipped, ["1 never shown"]);
}

#[test]
fn names_that_are_no_utf_8_are_shown_as_well_as_they_can_be() {
    let tree = Tree::new([("b", "x")]);
    tree.add(OsStr::from_bytes(b"a\xff"), "x");
    assert_eq!(tree.paths(&globs(["a*"])), ["a\u{fffd}"]);
    assert_eq!(show(&tree.search(&lines("x"))), ["a\u{fffd}:1:x", "b:1:x"]);
}

#[test]
fn an_empty_folder_has_no_files() {
    let tree = Tree::new([]);
    create_dir(tree.path().join("empty")).unwrap();
    assert_eq!(tree.find(&all()), Found { paths: vec![], total: 0, extent: Extent::default() });
}

#[test]
fn what_can_t_be_listed_is_said() {
    let tree = Tree::new([("a", "")]);
    let file = File::open(tree.path().join("a")).unwrap();
    let start = Start { place: Place::Folder(file.as_fd()), above: &[], shown: "a" };
    let Err(Problem::Failed(text)) = find(&start, &all(), &RULES, &in_time()) else { panic!("a file was listed") };
    assert!(text.contains("\"a\""), "{text}");
}
