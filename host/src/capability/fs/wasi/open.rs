//! `open-at`: the same way to a file as `hermes:tool/filesystem` takes, with what WASI wants to know of it.

use std::{
    fs::File,
    io::{Read, Seek, Write},
    os::{fd::AsFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::fs::{MemfdFlags, Mode, OFlags, memfd_create, openat};
use wasmtime_wasi::{
    FsPerms, OpenMode,
    filesystem::{Descriptor, Dir, File as WasiFile},
    p2::{
        FsResult,
        bindings::filesystem::types::{DescriptorFlags, ErrorCode, OpenFlags},
    },
};

use super::{
    super::{
        beneath,
        budget::Budget,
        commit::{Applied, Target, reserve},
        fault::{Outcome, denied, fault, system},
        folders::{Folders, Place, regular},
        limits::READ_BYTES,
        permit::NO_PERMIT,
        secrets,
    },
    guarded::Found,
    written::Written,
};
use crate::{
    grant::{Access, Secrets},
    sandbox::{MemoryAccount, MemoryCharge},
    wit::latest::filesystem::{Fault, Reason},
};

/// What a guest asks for.
#[derive(Clone, Copy)]
pub(super) struct Wish {
    pub(super) how: OpenFlags,
    pub(super) flags: DescriptorFlags,
}

impl Wish {
    /// Whether it could change anything.
    pub(super) fn access(self) -> Access {
        let makes = self.how.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE | OpenFlags::EXCLUSIVE);
        let changes = self.flags.intersects(DescriptorFlags::WRITE | DescriptorFlags::MUTATE_DIRECTORY);
        if makes || changes { Access::Write } else { Access::Read }
    }

    /// How many descriptors the host holds for it: a file that is written is looked at through one of its own.
    pub(super) fn descriptors(self) -> usize {
        match self.access() {
            Access::Read => 1,
            Access::Write => 2,
        }
    }
}

/// What was opened.
pub(super) struct Opened {
    pub(super) descriptor: Descriptor,
    /// The real path of a directory.
    pub(super) directory: Option<PathBuf>,
    /// A file that may be written.
    pub(super) written: Option<Written>,
    /// The bytes of a copy in memory.
    pub(super) copy: Option<MemoryCharge>,
}

/// Opens a path. Blocks.
pub(super) fn open(found: &Found, memory: &Arc<MemoryAccount>, wish: Wish) -> FsResult<Opened> {
    let Found { folders, budget, path } = found;
    let place = folders.place(path, wish.access())?;
    let judge = |path: &Path| place.judge(path, wish.access());
    let found = match beneath::open(&place.opened.dir, &place.path, OFlags::RDONLY, judge) {
        Ok(found) => found,
        Err(refused) => {
            let why = refused.fault(&place.shown);
            if why.reason == Reason::NotFound && wish.how.contains(OpenFlags::CREATE) {
                return Ok(create(folders, budget, path, wish)?);
            }
            return Err(why.into());
        }
    };
    let metadata = found.file.metadata().map_err(|why| system(&place.shown, &why))?;
    if wish.how.contains(OpenFlags::EXCLUSIVE) {
        return Err(fault(Reason::Exists, "it exists").into());
    }
    if metadata.is_dir() {
        let mode = if wish.access() == Access::Write { OpenMode::READ | OpenMode::WRITE } else { OpenMode::READ };
        let directory = place.real(&found.path);
        let descriptor = Descriptor::Dir(Dir::new(found.file, perms(wish), mode, false));
        return Ok(Opened { descriptor, directory: Some(directory), written: None, copy: None });
    }
    if wish.how.contains(OpenFlags::DIRECTORY) {
        return Err(fault(Reason::NotDirectory, "it is not a directory").into());
    }
    regular(place.folder, &place.shown, &metadata)?;
    if wish.access() == Access::Read {
        let (file, copy) = for_reading(&place, found.file, memory)?;
        return Ok(Opened { copy, ..file_of(file, wish, None) });
    }
    let local = place.opened.local;
    if wish.flags.contains(DescriptorFlags::WRITE) && !local {
        reserve(&found.file, &place.shown, 0)?;
    }
    let written = Written::new(&found.file, &place.shown, local)?;
    Ok(file_of(for_writing(&place, &found.path, found.file, wish)?, wish, Some(written)))
}

fn perms(wish: Wish) -> FsPerms {
    if wish.access() == Access::Write { FsPerms::ReadWrite } else { FsPerms::ReadOnly }
}

fn file_of(file: File, wish: Wish, written: Option<Written>) -> Opened {
    let mut mode = OpenMode::empty();
    mode.set(OpenMode::READ, wish.flags.contains(DescriptorFlags::READ) || wish.access() == Access::Read);
    mode.set(OpenMode::WRITE, wish.flags.contains(DescriptorFlags::WRITE));
    let descriptor = Descriptor::File(WasiFile::new(file, perms(wish), mode, false));
    Opened { descriptor, directory: None, written, copy: None }
}

/// The file itself if there is no secret in it, else a copy in memory in which they are masked, charged to the call. The bytes that
/// are looked through meanwhile are not: a call does one thing at a time, and they are gone when this returns.
fn for_reading(
    place: &Place<'_>,
    mut file: File,
    memory: &Arc<MemoryAccount>,
) -> FsResult<(File, Option<MemoryCharge>)> {
    let failed = |why: std::io::Error| system(&place.shown, &why);
    if place.folder.secrets == Secrets::Shown {
        return Ok((file, None));
    }
    let size = file.metadata().map_err(failed)?.len();
    if size > READ_BYTES {
        return Err(too_large(place).into());
    }
    let mut bytes = Vec::new();
    let read = (&mut file).take(READ_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    // It may have grown meanwhile.
    if read as u64 > READ_BYTES {
        return Err(too_large(place).into());
    }
    if secrets::mask(&mut bytes) == 0 {
        file.rewind().map_err(failed)?;
        return Ok((file, None));
    }
    let charge = memory.charge(bytes.len()).ok_or(ErrorCode::InsufficientMemory)?;
    let copy = memfd_create("hermes-masked", MemfdFlags::CLOEXEC).map_err(|why| failed(why.into()))?;
    let mut masked = File::from(copy);
    masked.write_all(&bytes).and_then(|()| masked.rewind()).map_err(failed)?;
    Ok((masked, Some(charge)))
}

fn too_large(place: &Place<'_>) -> Fault {
    let why = format!(
        "is larger than {READ_BYTES} bytes, too large to look for secrets in it; the operator can grant it with secrets = \"show\""
    );
    denied(&place.shown, &why)
}

/// The file for changes in place. One with secrets in it is only written anew: bytes changed beside a secret could make it look like
/// none, and masked bytes could take its place.
fn for_writing(place: &Place<'_>, path: &Path, mut file: File, wish: Wish) -> Outcome<File> {
    let failed = |why: std::io::Error| system(&place.shown, &why);
    if !wish.how.contains(OpenFlags::TRUNCATE) && place.folder.secrets == Secrets::Masked {
        let mut bytes = Vec::new();
        let bounded = (&mut file).take(READ_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bounded as u64 > READ_BYTES || secrets::mask(&mut bytes) > 0 {
            let why = "has secrets in it, or is too large to look for them: it is written anew or not at all";
            return Err(denied(&place.shown, why));
        }
    }
    if !wish.flags.contains(DescriptorFlags::WRITE) && !wish.how.contains(OpenFlags::TRUNCATE) {
        return Ok(file);
    }
    let flags = if wish.flags.contains(DescriptorFlags::READ) { OFlags::RDWR } else { OFlags::WRONLY };
    let judge = |path: &Path| place.judge(path, Access::Write);
    let found = beneath::open(&place.opened.dir, path, flags, judge).map_err(|refused| refused.fault(&place.shown))?;
    // Another file may have taken the name meanwhile, and nobody looked for secrets in that one.
    let (looked_at, opened) = (file.metadata().map_err(failed)?, found.file.metadata().map_err(failed)?);
    if (looked_at.dev(), looked_at.ino()) != (opened.dev(), opened.ino()) {
        let message = format!("another file took the place of {}; try again", place.shown.display());
        return Err(fault(Reason::Changed, message));
    }
    regular(place.folder, &place.shown, &opened)?;
    if wish.how.contains(OpenFlags::TRUNCATE) {
        found.file.set_len(0).map_err(failed)?;
    }
    Ok(found.file)
}

/// A new file, in a directory that exists.
fn create(folders: &Folders, budget: &Budget, path: &str, wish: Wish) -> Outcome<Opened> {
    let target = Target::new(folders, path, &NO_PERMIT)?;
    if target.needs_folders() {
        return Err(fault(Reason::NotFound, "its directory does not exist"));
    }
    budget.take(0, 1)?;
    let parent = target.parent(&mut Applied::default())?;
    reserve(&parent, target.shown(), 0)?;
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(parent.as_fd(), target.name(), flags, Mode::from_bits_truncate(0o666))
        .map_err(|why| target.failed(&why.into()))?;
    let file = File::from(file);
    let written = Written::new(&file, target.shown(), target.is_local())?;
    Ok(file_of(file, wish, Some(written)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        capability::fs::{Folder, Own},
        grant::Links,
    };

    #[test]
    fn a_file_that_takes_the_place_of_the_one_that_was_looked_at_is_not_handed_out() {
        let root = tempfile::tempdir().unwrap();
        let work = root.path().canonicalize().unwrap();
        std::fs::write(work.join("clean"), "nothing to hide").unwrap();
        std::fs::write(work.join("other"), "something else").unwrap();
        let folder = Folder::new(work.clone(), Access::Write, Secrets::Masked, Links::Refused);
        let own =
            Own { home: "/nowhere".into(), config: "/nowhere".into(), components: Vec::new(), secrets: Vec::new() };
        let folders = Folders::new("test", &work, vec![folder], own, Arc::default());
        let place = folders.place("clean", Access::Write).unwrap();
        let wish = Wish { how: OpenFlags::empty(), flags: DescriptorFlags::READ | DescriptorFlags::WRITE };
        let open =
            |looked_at: &str| for_writing(&place, Path::new("clean"), File::open(work.join(looked_at)).unwrap(), wish);
        assert!(open("clean").is_ok());
        assert_eq!(open("other").unwrap_err().reason, Reason::Changed);
    }
}
