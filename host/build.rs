//! Embeds the bundled components that `make tools` built, and lists the attack guests for the tests.

use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

fn main() {
    // Makefile and CI build into the workspace's target folder; another one is named by the variable.
    println!("cargo::rerun-if-env-changed=HERMES_BUNDLED");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("..");
    let folder = env::var_os("HERMES_BUNDLED").map_or_else(|| root.join("target/tools"), PathBuf::from);
    bundled(&folder);
    launcher(&root.join("target/launcher/hermes-launch"));
    guests(&root.join("tests/guests"));
}

/// `[("name", bytes), …]`.
fn bundled(folder: &Path) {
    let found = files(folder, "wasm");
    if found.is_empty() {
        println!(
            "cargo::warning=no bundled tools in {}: this binary will have none. Run `make tools` first.",
            folder.display()
        );
    }
    let mut list = String::from("&[");
    for path in &found {
        println!("cargo::rerun-if-changed={}", path.display());
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let _ = write!(list, "({name:?}, include_bytes!({:?}).as_slice()), ", path.display().to_string());
    }
    list.push(']');
    write("bundled.rs", &list);
}

/// `Some(bytes)` of the launcher that `make launcher` built. Without it the host launches with its own program, which starts slower.
fn launcher(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
    let embedded = match fs::canonicalize(path) {
        Ok(path) => format!("Some(include_bytes!({:?}).as_slice())", path.display().to_string()),
        Err(_) => {
            println!(
                "cargo::warning=no launcher at {}: commands will start slower. Run `make launcher` first.",
                path.display()
            );
            "None".into()
        }
    };
    write("launcher.rs", &embedded);
}

/// A macro over every attack guest: the tests apply it so that a guest without a test of its name does not compile.
fn guests(folder: &Path) {
    let mut calls = String::new();
    for path in files(folder, "wat") {
        let _ = write!(calls, "$each!({}); ", path.file_stem().unwrap_or_default().to_string_lossy());
    }
    write("guests.rs", &format!("macro_rules! for_each_guest {{ ($each:ident) => {{ {calls} }}; }}"));
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    found.retain(|path| path.extension().is_some_and(|found| found == extension));
    found.sort();
    found
}

fn write(name: &str, text: &str) {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join(name);
    if let Err(why) = fs::write(&out, text) {
        println!("cargo::error=failed to write {}: {why}", out.display());
    }
}
