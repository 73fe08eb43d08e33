//! Results too large for a model: the whole text goes to a file, and the model gets its beginning and the file's path.

use std::{
    ffi::CString,
    fs::{DirBuilder, File},
    io::{self, Write},
    os::{fd::OwnedFd, unix::fs::DirBuilderExt},
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fs::{self, AtFlags, Dir, FileType, Mode, OFlags, Stat},
    io::Errno,
};

use crate::sandbox::limits::thousands;

/// Files in the folder. Beyond that the oldest go: a model reads what it was given within minutes.
const FILES: usize = 1_000;

/// Bytes of all files together. Results are bounded by a call's memory; this is what a machine can spare for them.
const BYTES: u64 = 256 << 20;

/// Characters of a name before its number and extension. File systems allow 255 bytes for all of it.
const NAME_CHARS: usize = 120;

/// Hex digits that tell apart two ids which look the same once they are made fit for a name.
const SUFFIX_CHARS: usize = 12;

/// How many names are tried. One more than there are files, so that one is free.
const TRIES: usize = FILES + 1;

/// The rows of the documented table of limits that are held here.
pub(super) fn limits() -> Vec<(&'static str, String)> {
    vec![("results kept in files", thousands(FILES as u64)), ("bytes of all of them", format!("{} MiB", BYTES >> 20))]
}

/// The folder that holds the texts.
#[derive(Clone, Debug)]
pub(crate) struct Spill {
    dir: PathBuf,
}

impl Spill {
    /// A folder, which is made when the first text is kept.
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Writes a text to a new file named after the call and says where it is. The extension is `txt` or `json`. The oldest files
    /// make room for it.
    pub(crate) fn keep(&self, call_id: &str, extension: &str, text: &str) -> io::Result<PathBuf> {
        if !["txt", "json"].contains(&extension) {
            return Err(refusal(format!("{extension:?} is not an extension for results; use txt or json")));
        }
        if text.len() as u64 > BYTES {
            return Err(refusal(format!(
                "a result of {} bytes is larger than the folder's limit, {BYTES}",
                text.len()
            )));
        }
        let folder = self.open()?;
        let (temporary, mut file) = temporary(&folder)?;
        let written = file.write_all(text.as_bytes());
        // A link to the finished file appears at once and never replaces another.
        let named = written.and_then(|()| link(&folder, &temporary, &stem(call_id), extension));
        fs::unlinkat(&folder, &temporary, AtFlags::empty())?;
        let name = named?;
        make_room(&folder, &name)?;
        Ok(self.dir.join(name))
    }

    /// Opens the folder, made with mode 0700 where it is missing. All else is done relative to what was opened and checked, so
    /// nobody can put another folder in its place meanwhile.
    fn open(&self) -> io::Result<OwnedFd> {
        let refuse = |why: &str| Err(refusal(format!("refused to keep results in {}: {why}", self.dir.display())));
        // A link that leads nowhere fails here; it is named below.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.dir);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = match fs::open(&self.dir, flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::LOOP | Errno::NOTDIR) => return refuse("it is a symbolic link or no folder; move it away"),
            Err(why) => return Err(made.err().unwrap_or(why.into())),
        };
        let stat = fs::fstat(&folder)?;
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return refuse("it belongs to another user");
        }
        if Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH) {
            return refuse("other users can write to it; run chmod go-w on it");
        }
        Ok(folder)
    }
}

/// The beginning of a text: at most this many characters, up to the last line end if that is past half.
pub(super) fn preview(text: &str, chars: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(chars) else { return text };
    let text = &text[..end];
    match text.rfind('\n') {
        Some(line_end) if text[..line_end].chars().count() > chars / 2 => &text[..line_end],
        _ => text,
    }
}

fn refusal(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// A file name made of an id that a model wrote. What had to be changed gets a suffix, so that different ids keep different names.
fn stem(call_id: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let mut name: String = call_id.chars().take(NAME_CHARS + 1).map(|c| if allowed(c) { c } else { '_' }).collect();
    // A leading dot hides a file, and two of them are the folder above.
    if name.is_empty() || name.starts_with('.') {
        name.insert(0, '_');
    }
    if name == call_id && name.len() <= NAME_CHARS {
        return name;
    }
    name.truncate(NAME_CHARS - SUFFIX_CHARS - 1);
    format!("{name}-{}", &blake3::hash(call_id.as_bytes()).to_hex()[..SUFFIX_CHARS])
}

/// A new file for this user alone. A process that died may have left one with the same name, so some names are tried.
fn temporary(folder: &OwnedFd) -> io::Result<(String, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for _ in 0..TRIES {
        let name = format!(".{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        match fs::openat(folder, &name, flags, Mode::RUSR | Mode::WUSR) {
            Err(Errno::EXIST) => {}
            opened => return Ok((name, opened?.into())),
        }
    }
    Err(Errno::EXIST.into())
}

/// Gives the file its name, with a number where that is taken.
fn link(folder: &OwnedFd, temporary: &str, stem: &str, extension: &str) -> io::Result<String> {
    for number in 1..=TRIES {
        let name = if number == 1 { format!("{stem}.{extension}") } else { format!("{stem}-{number}.{extension}") };
        match fs::linkat(folder, temporary, folder, &name, AtFlags::empty()) {
            Err(Errno::EXIST) => {}
            linked => return Ok(linked.map(|()| name)?),
        }
    }
    Err(Errno::EXIST.into())
}

/// Removes the oldest files beyond the limits, but never `kept`. Only regular files count: nothing else was put there by a host.
/// Another process may do the same at the same time.
fn make_room(folder: &OwnedFd, kept: &str) -> io::Result<()> {
    let mut files: Vec<(CString, Stat)> = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_owned();
        match fs::statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
            // Just linked to its name by another thread, and about to go: the same file must not count twice.
            Ok(stat) if name.as_bytes().starts_with(b".") && stat.st_nlink > 1 => {}
            Ok(stat) if FileType::from_raw_mode(stat.st_mode).is_file() => files.push((name, stat)),
            Ok(_) | Err(Errno::NOENT) => {}
            Err(why) => return Err(why.into()),
        }
    }
    files.sort_by(|(name, a), (other, b)| {
        (a.st_mtime, a.st_mtime_nsec, name).cmp(&(b.st_mtime, b.st_mtime_nsec, other))
    });
    let (mut count, mut bytes) = (files.len(), files.iter().map(|(_, stat)| stat.st_size as u64).sum::<u64>());
    for (name, stat) in files.iter().filter(|(name, _)| name.as_bytes() != kept.as_bytes()) {
        if count <= FILES && bytes <= BYTES {
            break;
        }
        match fs::unlinkat(folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(why) => return Err(why.into()),
        }
        count -= 1;
        bytes -= stat.st_size as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{
        collections::HashSet,
        fs::{self, Permissions},
        os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink},
        path::Path,
        thread,
        time::{Duration, SystemTime},
    };

    use proptest::prelude::*;

    use super::*;

    fn folder() -> (tempfile::TempDir, Spill) {
        let dir = tempfile::tempdir().unwrap();
        let spill = Spill::new(dir.path().join("outer/results"));
        (dir, spill)
    }

    /// A file that is older than now by some seconds, with as many bytes as asked for and none of them on the disk.
    fn old(spill: &Spill, name: &str, seconds: u64, bytes: u64) {
        let file = File::create(spill.dir.join(name)).unwrap();
        file.set_len(bytes).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    }

    fn names(spill: &Spill) -> HashSet<String> {
        fs::read_dir(&spill.dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_text_is_kept_for_this_user_only() {
        let (_dir, spill) = folder();
        let path = spill.keep("call_1", "json", "[1]").unwrap();
        assert_eq!(path, spill.dir.join("call_1.json"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "[1]");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&spill.dir).unwrap().mode() & 0o777, 0o700);
        assert_eq!(names(&spill).len(), 1);
    }

    #[test]
    fn hostile_ids_stay_in_the_folder_and_apart() {
        let long = "x".repeat(10_000);
        let (dir, spill) = folder();
        let ids = [
            "../../x",
            "__/__/x",
            "/etc/passwd",
            "a\0b",
            "a\nb",
            &long,
            &long[1..],
            ".",
            "..",
            "",
            ".hidden",
            "con/aux",
            "ünï",
            "日本",
            " ",
        ];
        for id in ids {
            let path = spill.keep(id, "txt", id).unwrap();
            assert_eq!(path.parent().unwrap(), spill.dir, "{id:?}");
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(name.len() <= NAME_CHARS + 4 && !name.starts_with('.'), "{name:?}");
            assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b)), "{name:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), id);
        }
        assert_eq!(names(&spill).len(), ids.len());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(spill.keep("a", "../sh", "").is_err());
    }

    #[test]
    fn an_id_that_is_fit_for_a_name_is_the_name() {
        let longest = "y".repeat(NAME_CHARS);
        for id in ["call_abc-1.2", "-", &longest] {
            assert_eq!(stem(id), id);
        }
        assert_eq!(stem(&"y".repeat(NAME_CHARS + 1)).len(), NAME_CHARS);
    }

    #[test]
    fn nothing_is_overwritten() {
        let (_dir, spill) = folder();
        let outside = spill.keep("a", "txt", "first").unwrap();
        symlink(&outside, spill.dir.join("a-2.txt")).unwrap();
        assert_eq!(spill.keep("a", "txt", "second").unwrap(), spill.dir.join("a-3.txt"));
        assert_eq!(fs::read_to_string(&outside).unwrap(), "first");
    }

    #[test]
    fn parallel_texts_of_one_id_get_a_file_each() {
        let (_dir, spill) = folder();
        thread::scope(|scope| {
            for thread in 0..8 {
                let spill = &spill;
                scope.spawn(move || {
                    for n in 0..20 {
                        let text = format!("{thread} {n} {}", "x".repeat(5_000));
                        assert_eq!(fs::read_to_string(spill.keep("same", "txt", &text).unwrap()).unwrap(), text);
                    }
                });
            }
        });
        assert_eq!(names(&spill).len(), 160);
    }

    #[test]
    fn the_oldest_files_go_when_there_are_too_many() {
        let (_dir, spill) = folder();
        spill.keep("first", "txt", "").unwrap();
        (0..FILES as u64 + 10).for_each(|n| old(&spill, &format!("{n}.txt"), 10_000 - n, 0));
        fs::create_dir(spill.dir.join("folder")).unwrap();
        symlink("nowhere", spill.dir.join("link")).unwrap();
        spill.keep("new", "txt", "").unwrap();
        let names = names(&spill);
        assert_eq!(names.len(), FILES + 2);
        assert!(["folder", "link", "first.txt", "new.txt", "12.txt"].iter().all(|name| names.contains(*name)));
        assert!(!names.contains("11.txt"));
    }

    #[test]
    fn the_oldest_files_go_when_they_are_too_large() {
        let (_dir, spill) = folder();
        spill.keep("first", "txt", "").unwrap();
        old(&spill, "oldest.txt", 300, 1 << 20);
        old(&spill, "large.txt", 200, BYTES);
        old(&spill, "newer.txt", 100, 5);
        spill.keep("new", "txt", "text").unwrap();
        assert_eq!(names(&spill), ["first.txt", "newer.txt", "new.txt"].map(String::from).into());
        old(&spill, "future.txt", 0, BYTES);
        let future = File::options().write(true).open(spill.dir.join("future.txt")).unwrap();
        future.set_modified(SystemTime::now() + Duration::from_secs(100)).unwrap();
        spill.keep("last", "txt", "text").unwrap();
        assert_eq!(names(&spill), ["last.txt".to_string()].into(), "what was just kept stays");
    }

    #[test]
    fn a_file_with_two_names_for_a_moment_counts_once() {
        let (_dir, spill) = folder();
        spill.keep("first", "txt", "").unwrap();
        old(&spill, "large.txt", 100, BYTES - 10);
        fs::hard_link(spill.dir.join("large.txt"), spill.dir.join(".1-1")).unwrap();
        spill.keep("new", "txt", "text").unwrap();
        assert!(names(&spill).contains("large.txt"));
    }

    #[test]
    fn a_name_is_free_even_in_a_full_folder() {
        let (_dir, spill) = folder();
        spill.keep("a", "txt", "").unwrap();
        (2..=FILES).for_each(|n| old(&spill, &format!("a-{n}.txt"), 100, 0));
        assert_eq!(spill.keep("a", "txt", "").unwrap(), spill.dir.join(format!("a-{TRIES}.txt")));
    }

    fn refused(dir: &Path) -> String {
        Spill::new(dir.into()).keep("a", "txt", "text").unwrap_err().to_string()
    }

    #[test]
    fn folders_that_are_links_or_that_others_can_write_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let [real, link, loose, file] = ["real", "link", "loose", "file"].map(|name| dir.path().join(name));
        fs::create_dir(&real).unwrap();
        symlink(&real, &link).unwrap();
        assert!(refused(&link).contains("symbolic link"));
        fs::remove_dir(&real).unwrap();
        assert!(refused(&link).contains("symbolic link"));
        assert!(!real.exists());
        fs::write(&file, "").unwrap();
        assert!(refused(&file).contains("no folder"));
        fs::create_dir(&loose).unwrap();
        for mode in [0o770, 0o707, 0o1777] {
            fs::set_permissions(&loose, Permissions::from_mode(mode)).unwrap();
            assert!(refused(&loose).contains("other users can write"));
        }
        assert_eq!(fs::read_dir(&loose).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        // Only root can give a folder away; for all others, root's will do.
        let owned = if chown(dir.path(), Some(1), None).is_ok() { dir.path() } else { Path::new("/usr") };
        assert!(refused(owned).contains("another user"));
    }

    #[test]
    fn a_preview_ends_at_a_line_that_is_past_half() {
        assert_eq!(preview("one\ntwo\nthree", 100), "one\ntwo\nthree");
        assert_eq!(preview("one\ntwo\nthree", 13), "one\ntwo\nthree");
        assert_eq!(preview("one\ntwo\nthree", 10), "one\ntwo");
        assert_eq!(preview("a\nbcdefghijklmnop", 10), "a\nbcdefghi");
        assert_eq!(preview("ääää\nöööö", 6), "ääää");
        assert_eq!(preview("äöü", 2), "äö");
        assert_eq!(preview("x", 0), "");
    }

    proptest! {
        #[test]
        fn names_are_always_fit_and_differ_where_ids_do(a in any::<String>(), b in any::<String>()) {
            let name = stem(&a);
            prop_assert!((1..=NAME_CHARS).contains(&name.len()) && !name.starts_with('.'));
            prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b)));
            prop_assert_eq!(a == b, name == stem(&b));
        }

        #[test]
        fn a_preview_is_a_beginning_within_its_bound(text in "[a\\nä]{0,40}", chars in 0..40usize) {
            let shown = preview(&text, chars);
            prop_assert!(text.starts_with(shown) && shown.chars().count() <= chars);
            prop_assert!(shown == text || shown.chars().count() > chars / 2 || chars < 2);
        }
    }
}
