//! Somebody swaps folders and files for links while they are walked.

use std::{
    os::unix::fs::symlink,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
};

use rustix::fs::{RenameFlags, renameat_with};

use super::*;

const SWAPS: u64 = 10_000;
const SEARCHES: u64 = 200;

#[test]
fn nothing_outside_is_read_while_folders_and_files_become_links() {
    let outside =
        Tree::new([("sub/file", "shared MARKER\n"), ("sub/marker", "shared MARKER\n"), ("file", "shared MARKER\n")]);
    let tree = Tree::new([("top/folder/sub/file", "shared\n"), ("top/file", "shared\n")]);
    symlink(outside.path(), tree.path().join("top/folder-link")).unwrap();
    symlink(outside.path().join("file"), tree.path().join("top/file-link")).unwrap();
    let top = File::open(tree.path().join("top")).unwrap();
    let (done, swaps, mut searches, mut seen) = (AtomicBool::new(false), AtomicU64::new(0), 0, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for (name, link) in [("folder", "folder-link"), ("file", "file-link")] {
                    renameat_with(&top, name, &top, link, RenameFlags::EXCHANGE).unwrap();
                }
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        });
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            while searches < SEARCHES || swaps.load(Ordering::Relaxed) < SWAPS {
                let filter = Filter { hidden: true, ignored: true, ..all() };
                let findings = tree.search(&Query { filter: filter.clone(), context: 1, ..lines("shared|MARKER") });
                assert!(findings.hits.iter().all(|hit| hit.text == "shared"), "{:?}", findings.hits);
                assert!(findings.total <= 4 && tree.search(&lines("MARKER")).total == 0);
                assert!(tree.find(&filter).paths.iter().all(|path| !path.contains("marker")));
                searches += 1;
                seen += findings.hits.len();
            }
        }));
        done.store(true, Ordering::Relaxed);
        checked.unwrap();
    });
    assert!(seen > 0, "the files inside were found at times");
}
