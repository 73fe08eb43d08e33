//! Writing where it matters.

use super::{
    Call, delete,
    secrets::{self, pattern_starts},
    target::{is_disk, pattern_is},
};
use crate::{
    approval::shell::{Category, EffectKind, resolve::Arg, walk::Walker},
    paths::obeyed,
};

/// Folders whose files belong to the system.
const SYSTEM: [&str; 18] = [
    "etc", "usr", "bin", "sbin", "boot", "lib", "lib32", "lib64", "opt", "root", "sys", "proc", "var", "dev", "System",
    "Library", "private", "srv",
];

/// Places in them that anyone writes.
const OPEN: [&str; 14] = [
    "/dev/null",
    "/dev/zero",
    "/dev/tty",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/stdin",
    "/dev/full",
    "/dev/fd/",
    "/dev/shm/",
    "/dev/pts/",
    "/proc/self/fd/",
    "/var/tmp/",
    "/private/tmp/",
    "/var/folders/",
];

/// Options by which programs of every kind name what they write.
const OUTPUT: [&str; 11] = [
    "-o",
    "-out",
    "--output",
    "--out",
    "--outfile",
    "--output-file",
    "--out-file",
    "--output-dir",
    "--outdir",
    "--out-dir",
    "--target",
];

/// Programs for which `-o` is no file.
const NO_OUTPUT: [&str; 12] =
    ["grep", "egrep", "fgrep", "rg", "ag", "ack", "ps", "find", "set", "mount", "ssh", "pgrep"];

/// Judges what any program is told to write.
fn output(walker: &mut Walker, call: &Call<'_>) {
    if NO_OUTPUT.contains(&call.name) {
        return;
    }
    for (at, arg) in call.args.iter().enumerate().filter(|(_, arg)| arg.is_option()) {
        let (name, value) = arg.text.split_once('=').map_or((arg.text.as_str(), None), |(a, b)| (a, Some(b)));
        let attached = arg.text.strip_prefix("-o").filter(|rest| rest.starts_with(['/', '~']));
        let value = match value.filter(|_| OUTPUT.contains(&name)).or(attached) {
            Some(text) => Arg { text: text.into(), ..arg.clone() },
            None => match call.args.get(at + 1).filter(|_| OUTPUT.contains(&name)) {
                Some(next) => next.clone(),
                None => continue,
            },
        };
        let inside = Arg { text: format!("{}/x", value.text.trim_end_matches('/')), ..value.clone() };
        file(walker, &value, "writes");
        if name.ends_with("dir") {
            file(walker, &inside, "writes");
        }
    }
}

/// Hidden folders in a home from which nothing is run and no setting is read.
const HARMLESS: [&str; 4] = [".cache/", ".local/share/Trash/", ".local/state/", ".cargo/registry/"];

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    output(walker, call);
    match call.name {
        "tee" | "touch" | "sponge" | "mkfifo" | "mknod" | "mkdir" => {
            for arg in call.operands() {
                // An empty folder sets nothing.
                if call.name == "mkdir" {
                    system(walker, arg, "makes");
                    continue;
                }
                if call.name != "touch" {
                    walker.note_made(arg);
                }
                file(walker, arg, "writes");
            }
        }
        "cp" | "mv" | "install" | "ln" | "gcp" | "gmv" | "rsync" | "ditto" => copy(walker, call),
        "curl" | "wget" | "aria2c" => {
            let mut files = call.clustered(if call.name == "wget" { 'O' } else { 'o' });
            files.extend(call.long_values("--output"));
            files.extend(call.long_values("--output-document"));
            files.extend(call.values("-P", "--directory-prefix"));
            for arg in files.iter().filter(|arg| arg.text != "-") {
                walker.note_made(arg);
                file(walker, arg, "downloads to");
            }
            if call.name == "wget" {
                for arg in call.values("-a", "--append-output") {
                    file(walker, &arg, "writes");
                }
                for setting in call.values("-e", "--execute").iter().filter(|arg| !arg.text.starts_with("robots")) {
                    walker.ask(Category::UnknownTarget, format!("a setting of wget: {}", setting.shown()));
                }
            }
            if call.has('O', "remote-name") || call.name != "curl" {
                remote_name(walker, call);
            }
            return false;
        }
        "tcpdump" | "tshark" | "dumpcap" => {
            for arg in call.values("-w", "") {
                file(walker, &arg, "writes");
            }
            return false;
        }
        "gzip" | "bzip2" | "xz" | "zstd" | "lzma" | "ccrypt" | "lz4"
            if !call.has('c', "stdout") && !call.has('k', "keep") =>
        {
            // The file is gone when its packed form is there.
            for arg in call.operands() {
                empties(walker, arg);
                system(walker, arg, "replaces");
            }
            return false;
        }
        "uniq" | "objcopy" | "strip" | "iconv" | "ffmpeg" | "convert" | "magick" | "pandoc" => {
            if let Some(arg) = call.operands().skip(1).last() {
                file(walker, arg, "writes");
            }
            return false;
        }
        "cpio" | "pax" if call.has('i', "extract") || call.has('r', "") => {
            if !call.says(&["--no-absolute-filenames"]) {
                walker.ask(Category::SystemWrite, format!("unpacks to absolute paths: {}", call.shown()));
            }
            return false;
        }
        "patch" | "ed" | "ex" => {
            for arg in call.operands() {
                file(walker, arg, "edits");
            }
            return call.name == "patch";
        }
        "tar" | "unzip" | "bsdtar" | "7z" => {
            for arg in call.values("-C", "--directory").iter().chain(&call.values("-d", "")) {
                let inside = Arg { text: format!("{}/x", arg.text), ..arg.clone() };
                file(walker, arg, "unpacks into");
                file(walker, &inside, "unpacks into");
                if walker.scope.places.absolute(arg).is_some_and(|path| path == walker.scope.places.home) {
                    walker.ask(Category::Persistence, format!("unpacks over the home: {}", call.shown()));
                }
            }
            return false;
        }
        "sed" | "gsed" | "perl" | "ruby" => {
            let edits = call.options().any(|arg| {
                arg.text.starts_with("-i")
                    || arg.text.starts_with("--in-place")
                    || (!arg.text.starts_with("--") && !call.name.ends_with("sed") && arg.text.contains('i'))
                    || matches!(arg.text.as_str(), "-ni" | "-ri" | "-Ei" | "-nEi")
            });
            for arg in call.operands().filter(|_| edits) {
                file(walker, arg, "edits");
            }
            return false;
        }
        _ => return false,
    }
    call.name != "rsync"
}

/// The name that a download gets from its address.
fn remote_name(walker: &mut Walker, call: &Call<'_>) {
    for arg in call.operands() {
        let name = arg.text.split(['?', '#']).next().and_then(|text| text.rsplit('/').next()).unwrap_or("");
        if arg.text.contains("://") && !name.is_empty() {
            walker.note_made(&Arg { text: format!("./{name}"), ..arg.clone() });
        }
    }
}

fn copy(walker: &mut Walker, call: &Call<'_>) {
    let folder = call.values("-t", "--target-directory").pop();
    let operands: Vec<&Arg> = call.operands().collect();
    let Some((last, sources)) = operands.split_last() else { return };
    let (target, sources) = match &folder {
        Some(folder) => (folder, operands.as_slice()),
        None => (*last, sources),
    };
    if matches!(call.name, "rsync") && target.text.contains(':') {
        return;
    }
    file(walker, target, "writes");
    walker.note_made(target);
    if sources.iter().any(|source| source.text == "/dev/null") {
        empties(walker, target);
    }
    for source in sources {
        // A folder gets the source's name.
        let name = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or("");
        let inside = Arg { text: format!("{}/{name}", target.text), ..target.clone() };
        file(walker, &inside, "writes");
        walker.note_made(&inside);
        if call.name == "mv" {
            // A confined command's other folders end with its task.
            let leaves =
                walker.scope.places.absolute(target).is_some_and(|path| !walker.scope.places.meets_workspace(&path));
            if leaves && delete::loses_work(walker, source) {
                let detail = format!("moves {} out of the workspace", source.shown());
                walker.ask_inside(Category::RecursiveDelete, detail, true);
            }
            let path = walker.scope.places.absolute(source);
            if let Some(path) = path
                && let Some(category) = in_home(walker, source, &path)
            {
                walker.ask_at(category, format!("moves {} away", source.shown()), &path);
            }
            if let Some(what) = super::target::hardline(&walker.scope.places, source) {
                walker.never(Category::SystemDelete, format!("moves {what} away"));
            }
            system(walker, source, "moves");
        }
        let linked = walker.scope.places.absolute(source);
        let wide = super::target::hardline(&walker.scope.places, source).is_some();
        if call.name == "ln" && (wide || linked.is_some_and(|path| path.starts_with("/etc"))) {
            walker.ask(
                Category::SystemWrite,
                format!("links to {}, so that it can be written by another name", source.shown()),
            );
        }
        if call.name == "ln"
            && let Some(secret) = secrets::secret(walker, source)
        {
            walker.ask(Category::CredentialRead, format!("links {secret}"));
        }
    }
}

/// Judges the writing of one file.
pub(crate) fn file(walker: &mut Walker, arg: &Arg, verb: &str) {
    let Some(path) = walker.scope.places.absolute(arg) else {
        walker.effect(EffectKind::Writes, arg.text.as_str());
        return guess(walker, arg, verb);
    };
    walker.effect(EffectKind::Writes, path.as_str());
    if is_disk(&path, arg.glob) {
        return walker.never(Category::Disk, format!("{verb} the disk {path}"));
    }
    if path == "/proc/sysrq-trigger" {
        return walker.never(Category::Power, format!("{verb} {path}"));
    }
    if let Some(category) = in_home(walker, arg, &path).or_else(|| in_project(arg, &path)) {
        return walker.ask_at(category, format!("{verb} {path}"), &path);
    }
    system(walker, arg, verb);
}

/// Judges the emptying of a file. Outside the workspace it is as good as deleted.
pub(crate) fn empties(walker: &mut Walker, arg: &Arg) {
    let places = &walker.scope.places;
    let Some(path) = places.absolute(arg) else { return };
    let ours = places.inside_workspace(&path) || places.workspace.as_deref() == Some(path.as_str());
    if (places.below_home(&path).is_some() || path == places.home) && !ours {
        walker.ask(Category::Overwrite, format!("empties {path}, outside the workspace"));
    }
}

/// A path of which only the end is known.
fn guess(walker: &mut Walker, arg: &Arg, verb: &str) {
    let name = arg.text.rsplit('/').next().unwrap_or("");
    // What is not known stands for one name: the end of a path can say enough.
    let obeyed = obeyed::for_commands(&arg.text).or_else(|| obeyed::in_home(name));
    if obeyed.is_some() || matches!(name, "authorized_keys" | "sudoers") || arg.text.contains(".ssh/") {
        walker.ask(Category::Persistence, format!("{verb} {}", arg.shown()));
    } else if let Some(category) = in_project(arg, &format!("/{name}")) {
        walker.ask(category, format!("{verb} {}", arg.shown()));
    }
    if arg.text.starts_with("/etc/") {
        walker.ask(Category::SystemWrite, format!("{verb} {}", arg.shown()));
    }
}

/// Judges the change of a file of the system.
pub(super) fn system(walker: &mut Walker, arg: &Arg, verb: &str) {
    let Some(path) = walker.scope.places.absolute(arg) else { return };
    let places = &walker.scope.places;
    let ours = places.inside_workspace(&path) || places.workspace.as_deref() == Some(path.as_str());
    let home = places.below_home(&path).is_some() && path.starts_with(&format!("{}/", places.home));
    if ours || home || OPEN.iter().any(|open| path == *open || (open.ends_with('/') && path.starts_with(open))) {
        return;
    }
    let first = path.split('/').nth(1).unwrap_or("");
    if SYSTEM.iter().any(|name| if arg.glob { pattern_is(first, name) } else { first == *name }) || path == "/" {
        let sudoers = path.starts_with("/etc/sudoers") || path == "/etc/passwd" || path == "/etc/shadow";
        let category = if sudoers { Category::Privilege } else { Category::SystemWrite };
        walker.ask(category, format!("{verb} {path}"));
    }
}

fn in_home(walker: &Walker, arg: &Arg, path: &str) -> Option<Category> {
    if walker.scope.places.is_the_hosts(path) {
        return Some(Category::Host);
    }
    let below = walker.scope.places.below_home(path)?;
    if secrets::in_home(arg, below) {
        return Some(Category::CredentialWrite);
    }
    let could_be = || arg.glob && obeyed::literal_paths().any(|known| pattern_starts(below, known));
    if obeyed::in_home(below).is_some() || could_be() {
        return Some(Category::Persistence);
    }
    // Programs read their settings from hidden files, and shells find programs in these folders. Too many to be told apart.
    let settings = below.starts_with('.') && !HARMLESS.iter().any(|folder| below.starts_with(folder));
    let ours = walker.scope.places.inside_workspace(path);
    (!ours && (settings || below.starts_with("bin/"))).then_some(Category::Persistence)
}

/// What obeys or reads a file of a project, wherever that lies.
fn in_project(arg: &Arg, path: &str) -> Option<Category> {
    let name = path.rsplit('/').next()?;
    let names: Vec<&str> = path.split('/').collect();
    // A wildcard that means plain names is daily work; one that means hidden ones is not.
    let could_be = |known: &str| {
        let depth = known.split('/').count();
        // A wildcard matches no leading dot.
        let is_hidden = |part: &[&str]| part.first().is_some_and(|first| first.starts_with('.'));
        let mut parts = names.windows(depth).filter(|part| is_hidden(part));
        known.starts_with('.') && parts.any(|part| pattern_is(&part.join("/"), known))
    };
    let sample = [".example", ".sample", ".template", ".dist"].iter().any(|end| name.ends_with(end));
    let obeyed = obeyed::for_commands(path).is_some() || (arg.glob && obeyed::literal_paths().any(could_be));
    if obeyed {
        return Some(Category::Persistence);
    }
    let settings = name == ".env" || name.starts_with(".env.") || name == ".envrc" || name == "config.yaml";
    (settings && !sample).then_some(Category::ProjectSettings)
}

#[cfg(test)]
mod tests {
    use crate::{
        approval::shell::{Category, Surroundings, Verdict, judge},
        paths::obeyed,
    };

    fn judged(command: &str) -> (Verdict, Vec<Category>) {
        let around = Surroundings {
            directory: Some("/home/ada/project".into()),
            home: Some("/home/ada".into()),
            workspace: Some("/home/ada/project".into()),
            ..Surroundings::default()
        };
        let judgement = judge(command, &around);
        (judgement.verdict, judgement.reasons.iter().map(|reason| reason.category).collect())
    }

    #[test]
    fn every_way_to_write_an_obeyed_file_is_asked_about() {
        use Category::{CredentialWrite, Persistence, ProjectSettings, SystemWrite};
        let known = [Persistence, CredentialWrite, ProjectSettings, SystemWrite];
        for path in obeyed::shell_paths() {
            for command in [
                format!("echo x > {path}"),
                format!("echo x >> {path}"),
                format!("echo x | tee {path}"),
                format!("cp x {path}"),
                format!("mv x {path}"),
                format!("install x {path}"),
                format!("ln -sf x {path}"),
                format!("sed -i s/a/b/ {path}"),
                format!("curl -o {path} https://example.org/x"),
            ] {
                let (verdict, categories) = judged(&command);
                assert!(verdict >= Verdict::Ask, "{command}: {verdict:?}");
                assert!(categories.iter().any(|category| known.contains(category)), "{command}: {categories:?}");
            }
        }
    }

    #[test]
    fn obeyed_files_are_read_and_their_neighbours_written_unasked() {
        for command in [
            "cat .vscode/tasks.json",
            "grep x .mcp.json",
            "ls .git/hooks",
            "echo x > src/main.rs",
            "cp a.toml config.toml",
        ] {
            assert_eq!(judged(command).0, Verdict::Allow, "{command}");
        }
        // Asked about unconfined, but not for an obeyed file: a pattern without a leading dot matches no hidden name.
        for command in ["sed -i s/a/b/ *.json", "git commit -m x"] {
            assert!(!judged(command).1.contains(&Category::Persistence), "{command}");
        }
        for command in ["sed -i s/a/b/ .vscode/*", "cp x .v*/tasks.json", "echo x > $HOME/.local/bin/ls"] {
            let (verdict, categories) = judged(command);
            assert_eq!(verdict, Verdict::Ask, "{command}");
            assert!(categories.contains(&Category::Persistence), "{command}: {categories:?}");
        }
    }
}
