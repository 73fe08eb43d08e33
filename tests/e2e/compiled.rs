//! What nearly every test would compile anew: the bundled components and the probe. The binary under test compiles them once, and
//! each test's home gets a copy.

use std::{
    fs::{self, DirBuilder, File},
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
    process::Command,
};

const BINARY: &str = env!("CARGO_BIN_EXE_hermes-host");

/// Fills the cache of a home that is not there yet.
pub(crate) fn fill(home: &Path) {
    let cache = home.join("cache");
    DirBuilder::new().recursive(true).mode(0o700).create(&cache).unwrap();
    for file in fs::read_dir(shared()).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), cache.join(file.file_name())).unwrap();
    }
}

/// The cache of this build of the binary.
fn shared() -> PathBuf {
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled");
    fs::create_dir_all(&all).unwrap();
    let built = fs::metadata(BINARY).unwrap();
    let shared = all.join(format!("{}.{:09}", built.mtime(), built.mtime_nsec()));
    // Tests are processes: the first compiles, the others wait for it.
    let turn = File::create(all.join("turn")).unwrap();
    turn.lock().unwrap();
    if !shared.exists() {
        for old in fs::read_dir(&all).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
            fs::remove_dir_all(old).unwrap();
        }
        let home = all.join("new");
        let probes = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/probes");
        let mut list = Command::new(BINARY);
        list.args(["list", "--tools", probes, "--home"]).arg(&home).env_remove("HERMES_HOME");
        let output = list.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        fs::rename(home.join("cache"), &shared).unwrap();
    }
    shared
}
