//! Embeds the bundled components that `make tools` built.

use std::{env, fmt::Write, fs, path::PathBuf};

fn main() {
    // Makefile and CI build into the workspace's target folder; another one is named by the variable.
    println!("cargo::rerun-if-env-changed=HERMES_BUNDLED");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("..");
    let folder = env::var_os("HERMES_BUNDLED").map_or_else(|| root.join("target/tools"), PathBuf::from);
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut found: Vec<PathBuf> = fs::read_dir(&folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "wasm"));
    found.sort();
    if found.is_empty() {
        println!("cargo::warning=no bundled tools in {}: this binary will have none. Run `make tools` first.", folder.display());
    }
    let mut list = String::from("&[");
    for path in &found {
        println!("cargo::rerun-if-changed={}", path.display());
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let _ = write!(list, "({name:?}, include_bytes!({:?}).as_slice()), ", path.display().to_string());
    }
    list.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    if let Err(why) = fs::write(out.join("bundled.rs"), list) {
        println!("cargo::error=failed to write the list of bundled tools: {why}");
    }
}
