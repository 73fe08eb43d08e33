//! Which files of a folder are meant as components.

use std::{
    io,
    path::{Path, PathBuf},
};

/// A folder could not be read.
#[derive(Debug, thiserror::Error)]
#[error("failed to use the folder {}: {why}; create it, or name another with --tools DIR or --hooks DIR", folder.display())]
pub struct ScanError {
    folder: PathBuf,
    why: std::io::Error,
}

impl ScanError {
    /// Why, and what to do, for whoever names the folder.
    pub(crate) fn reason(&self) -> String {
        format!("can't be read: {}; create it, or start the host without it", self.why)
    }
}

/// Makes a folder for components.
pub fn make_folder(folder: &Path) -> Result<(), ScanError> {
    std::fs::create_dir_all(folder).map_err(|why| ScanError { folder: folder.into(), why })
}

/// Whether a folder can be written, or made where it is not there yet.
pub(crate) fn check_writable(folder: &Path) -> io::Result<()> {
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    Ok(rustix::fs::access(there, rustix::fs::Access::WRITE_OK)?)
}

/// Whether a path's name is a component's: `*.wasm`. Names that start with a dot are somebody's temporary files.
pub(super) fn is_meant(path: &Path) -> bool {
    let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    !hidden && path.extension().is_some_and(|extension| extension == "wasm")
}

/// Everything in the folder itself that is meant as a component, by name.
pub fn scan(folder: &Path) -> Result<Vec<PathBuf>, ScanError> {
    let fail = |why| ScanError { folder: folder.into(), why };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if is_meant(&path) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
