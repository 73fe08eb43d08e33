//! Which files of a folder are meant as components.

use std::path::{Path, PathBuf};

/// A folder could not be read.
#[derive(Debug, thiserror::Error)]
#[error("failed to use the folder {}: {why}; create it, or name another with --tools DIR or --hooks DIR", folder.display())]
pub struct ScanError {
    folder: PathBuf,
    why: std::io::Error,
}

/// Makes a folder for components.
pub fn make_folder(folder: &Path) -> Result<(), ScanError> {
    std::fs::create_dir_all(folder).map_err(|why| ScanError { folder: folder.into(), why })
}

/// Everything named `*.wasm` in the folder itself, by name. Names that start with a dot are somebody's temporary files.
pub fn scan(folder: &Path) -> Result<Vec<PathBuf>, ScanError> {
    let fail = |why| ScanError { folder: folder.into(), why };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !hidden && path.extension().is_some_and(|extension| extension == "wasm") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
