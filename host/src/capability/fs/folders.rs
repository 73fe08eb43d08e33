//! What a component may reach: the granted folders, each behind a handle that is opened once.

use std::{
    io,
    os::{
        fd::AsFd,
        unix::{ffi::OsStrExt, fs::MetadataExt},
    },
    path::{Component, Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use cap_std::{ambient_authority, fs::Dir};
use rustix::fs::OFlags;

use super::{
    beneath::{self, Beneath},
    commit::is_draft,
    decider::ChangeDecider,
    fault::{Outcome, denied, fault, system},
    limits::{DEPTH, PATH_BYTES},
    memory::Memory,
    permit::{NO_PERMIT, Permit},
    sensitive::{Guarded, guarded},
    turns::Turns,
};
use crate::{
    grant::{Access, Links, Secrets},
    paths::{
        credentials::credential_paths_below,
        obeyed::{ObeyedRow, ToolChange},
    },
    wit::latest::filesystem::{Fault, Reason},
};

/// One folder, or one file, that was granted.
#[derive(Debug)]
pub(crate) struct Folder {
    /// Where the operator said it is: absolute, without `.` and `..`.
    path: PathBuf,
    pub(super) access: Access,
    pub(super) secrets: Secrets,
    pub(super) links: Links,
    opened: RwLock<Option<Arc<Opened>>>,
}

/// Its handle.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) dir: Dir,
    /// Where it really is.
    pub(super) real: PathBuf,
    /// The one name in it that was granted, where that is a file.
    only: Option<PathBuf>,
    /// Whether it lies on a disk that answers by itself: work there need not be handed to another thread.
    pub(super) local: bool,
}

impl Folder {
    pub(crate) fn new(path: PathBuf, access: Access, secrets: Secrets, links: Links) -> Self {
        Self { path: normal(&path), access, secrets, links, opened: RwLock::new(None) }
    }

    /// The handle. Opened when it is first needed, and again only when its directory was deleted meanwhile.
    pub(super) fn opened(&self) -> io::Result<Arc<Opened>> {
        let known = self.opened.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(opened) = known.filter(|opened| opened.still_exists()) {
            return Ok(opened);
        }
        let opened = Arc::new(Opened::new(&self.path)?);
        *self.opened.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&opened));
        Ok(opened)
    }
}

impl Opened {
    fn new(path: &Path) -> io::Result<Self> {
        let real = std::fs::canonicalize(path)?;
        let metadata = std::fs::metadata(&real)?;
        let (real, only) = match (metadata.is_dir(), real.parent(), real.file_name()) {
            (false, Some(parent), Some(name)) => (parent.to_owned(), Some(PathBuf::from(name))),
            _ => (real, None),
        };
        let dir = Dir::open_ambient_dir(&real, ambient_authority())?;
        let local = is_local(&dir);
        Ok(Self { dir, real, only, local })
    }

    /// The real path of what was granted.
    fn whole(&self) -> PathBuf {
        self.only.as_ref().map_or_else(|| self.real.clone(), |only| self.real.join(only))
    }

    fn still_exists(&self) -> bool {
        rustix::fs::fstat(self.dir.as_fd()).is_ok_and(|stat| stat.st_nlink > 0)
    }

    /// The part of a path below this folder, if it lies there.
    fn below<'a>(&self, granted: &Path, path: &'a Path) -> Option<&'a Path> {
        let Some(only) = &self.only else {
            return path.strip_prefix(granted).or_else(|_| path.strip_prefix(&self.real)).ok();
        };
        if path == granted || path == self.real.join(only) {
            return path.file_name().map(Path::new);
        }
        None
    }
}

/// Disks that answer by themselves. On others (network, FUSE) any operation may take for ever.
fn is_local(dir: &Dir) -> bool {
    /// As in the kernel's `magic.h`: ext, xfs, btrfs, tmpfs, overlay, f2fs, bcachefs, squashfs, erofs.
    const LOCAL: [u64; 9] = [
        0xef53,
        0x5846_5342,
        0x9123_683e,
        0x0102_1994,
        0x794c_7630,
        0xf2f5_2010,
        0xca45_1a4e,
        0x7371_7368,
        0xe0f5_e1e2,
    ];
    rustix::fs::fstatfs(dir.as_fd()).is_ok_and(|stat| LOCAL.contains(&(stat.f_type as u64 & 0xffff_ffff)))
}

/// Everything that one component was granted.
#[derive(Debug)]
pub(crate) struct Folders {
    /// Its name, for messages.
    component: String,
    /// What relative paths start from.
    workspace: PathBuf,
    /// The most special ones first.
    folders: Vec<Folder>,
    own: Own,
    /// The user's home, as it really is.
    user: Option<PathBuf>,
    shared: Arc<Shared>,
    /// Why a grant that is written for the component does not hold.
    stale: Option<Arc<str>>,
}

/// The host's own files: what no grant covers, since it decides what others may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Own {
    /// Where it keeps its files.
    pub(crate) home: PathBuf,
    /// The operator's file.
    pub(crate) config: PathBuf,
    /// Where components come from: none is put there by a tool.
    pub(crate) components: Vec<PathBuf>,
    /// What only the program around the host may know: its server's token.
    pub(crate) secrets: Vec<PathBuf>,
}

impl Own {
    /// With all paths as they really are.
    fn real(self) -> Self {
        let real = |path: PathBuf| super::real(&path).unwrap_or(path);
        Self {
            home: real(self.home),
            config: real(self.config),
            components: self.components.into_iter().map(real).collect(),
            secrets: self.secrets.into_iter().map(real).collect(),
        }
    }

    /// Whether a real path in a granted folder, given by its real path too, belongs to the host.
    fn has(&self, path: &Path, granted: &Path, wanted: Access) -> bool {
        // A folder in the home that was granted by itself is the operator's will, but compiled code is trusted blindly.
        let willed =
            || granted != self.home && granted.starts_with(&self.home) && !granted.starts_with(self.home.join("cache"));
        let component = || {
            path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("wasm"))
                && self.components.iter().any(|folder| path.starts_with(folder))
        };
        path == self.config
            || self.secrets.iter().any(|secret| path == secret)
            || (path.starts_with(&self.home) && !willed())
            || (wanted == Access::Write && component())
    }
}

/// What all components share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) memory: Memory,
    pub(super) turns: Turns,
    /// What decides about files that other programs obey. None: they are not changed.
    decider: Option<Arc<dyn ChangeDecider>>,
}

impl Shared {
    /// With what decides about files that other programs obey.
    pub(crate) fn with_decider(decider: Arc<dyn ChangeDecider>) -> Self {
        Self { decider: Some(decider), ..Self::default() }
    }
}

/// A place in a granted folder.
pub(super) struct Place<'a> {
    pub(super) folder: &'a Folder,
    pub(super) opened: Arc<Opened>,
    /// Below the folder.
    pub(super) path: PathBuf,
    /// The whole path, for messages.
    pub(super) shown: PathBuf,
    own: &'a Own,
    user: Option<&'a Path>,
    permit: &'a Permit,
}

impl Folders {
    pub(crate) fn new(
        component: &str,
        workspace: &Path,
        mut folders: Vec<Folder>,
        own: Own,
        shared: Arc<Shared>,
    ) -> Self {
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.path.as_os_str().len()));
        let user = std::env::home_dir().map(|home| super::real(&home).unwrap_or(home));
        let (component, workspace) = (component.to_owned(), normal(workspace));
        Self { component, workspace, folders, own: own.real(), user, shared, stale: None }
    }

    /// With the reason why a grant that is written for the component does not hold.
    pub(crate) fn with_stale(self, stale: Option<Arc<str>>) -> Self {
        Self { stale, ..self }
    }

    pub(crate) fn component(&self) -> &str {
        &self.component
    }

    /// Whether a path lies in a folder that is known to be on a disk that answers by itself. One that was never opened is not known.
    pub(super) fn is_local(&self, path: &str) -> bool {
        let known =
            |folder: &Folder| folder.opened.read().is_ok_and(|opened| opened.as_ref().is_some_and(|it| it.local));
        self.absolute(path)
            .is_ok_and(|path| self.folders.iter().find(|folder| path.starts_with(&folder.path)).is_some_and(known))
    }

    /// What decides about files that other programs obey.
    pub(super) fn decider(&self) -> Option<Arc<dyn ChangeDecider>> {
        self.shared.decider.clone()
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.shared.memory
    }

    pub(super) fn turns(&self) -> &Turns {
        &self.shared.turns
    }

    /// The folders as directories for WASI: their real path, the name that a guest knows them by, and what may be done there. The
    /// workspace is also the current directory.
    pub(super) fn preopens(&self) -> Vec<(PathBuf, String, Access)> {
        let mut directories = Vec::new();
        for folder in &self.folders {
            let Ok(opened) = folder.opened() else { continue };
            let Some(name) = opened.real.to_str() else { continue };
            // A directory would show what lies beside the one file.
            if opened.only.is_some() {
                continue;
            }
            if folder.path == self.workspace {
                directories.push((opened.real.clone(), ".".to_owned(), folder.access));
            }
            directories.push((opened.real.clone(), name.to_owned(), folder.access));
        }
        directories
    }

    /// A path as a guest reads it best: from the workspace where it lies there.
    pub(super) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.workspace).unwrap_or(path).display().to_string()
    }

    /// Whether something holds for a granted folder below a directory.
    pub(super) fn any_below(&self, directory: &Path, holds: impl Fn(&Folder) -> bool) -> bool {
        let lies_below = |path: PathBuf| path != directory && path.starts_with(directory);
        let below = |folder: &Folder| folder.opened().is_ok_and(|opened| lies_below(opened.whole()));
        self.folders.iter().any(|folder| holds(folder) && below(folder))
    }

    /// The host's own files below a directory and the credentials that are known by their place alone, from there.
    pub(super) fn untouchable_below(&self, directory: &Path) -> Vec<PathBuf> {
        let own = [&self.own.home, &self.own.config].into_iter().chain(&self.own.secrets).cloned();
        let all = own.chain(credential_paths_below(directory, self.user.as_deref()));
        all.filter_map(|path| path.strip_prefix(directory).ok().map(Path::to_owned)).collect()
    }

    /// A handle of its own for a granted folder.
    pub(super) fn directory(&self, real: &Path) -> io::Result<std::fs::File> {
        let opened = self.folders.iter().filter_map(|folder| folder.opened().ok()).find(|opened| opened.real == real);
        let opened = opened.ok_or(io::ErrorKind::NotFound)?;
        Ok(opened.dir.try_clone()?.into_std_file())
    }

    /// Whether any of them may be changed.
    pub(crate) fn can_write_anywhere(&self) -> bool {
        self.folders.iter().any(|folder| folder.access == Access::Write)
    }

    /// Whether both were granted the same.
    pub(crate) fn grants_as(&self, other: &Self) -> bool {
        let same = |(one, other): (&Folder, &Folder)| {
            (&one.path, one.access, one.secrets, one.links) == (&other.path, other.access, other.secrets, other.links)
        };
        (&self.component, &self.workspace, &self.own, &self.stale)
            == (&other.component, &other.workspace, &other.own, &other.stale)
            && self.folders.len() == other.folders.len()
            && self.folders.iter().zip(&other.folders).all(same)
    }

    /// Where a path lies. Grants add up: one that allows what is wanted is enough.
    pub(super) fn place(&self, path: &str, wanted: Access) -> Outcome<Place<'_>> {
        let shown = self.absolute(path)?;
        let mut refusal = None;
        // Folders that the path names come first; any of the others may be the same by another name.
        let names = |folder: &&Folder| shown.starts_with(&folder.path);
        let others = self.folders.iter().filter(|folder| !names(folder));
        for folder in self.folders.iter().filter(names).chain(others) {
            let opened = match folder.opened() {
                Ok(opened) => opened,
                // A grant that can't be opened matters only to those who ask for something in it.
                Err(why) if shown.starts_with(&folder.path) => {
                    let why = system(&folder.path, &why).message;
                    refusal.get_or_insert(fault(Reason::NotFound, format!("the granted folder can't be used: {why}")));
                    continue;
                }
                Err(_) => continue,
            };
            let Some(below) = opened.below(&folder.path, &shown) else { continue };
            if wanted == Access::Write && folder.access == Access::Read {
                refusal = Some(denied(&shown, &format!("was granted for reading only; {}", self.advice("write"))));
                continue;
            }
            let path = below.to_owned();
            return Ok(Place {
                folder,
                opened,
                path,
                shown,
                own: &self.own,
                user: self.user.as_deref(),
                permit: &NO_PERMIT,
            });
        }
        Err(refusal.unwrap_or_else(|| self.outside(&shown, wanted)))
    }

    fn outside(&self, path: &Path, wanted: Access) -> Fault {
        // Who writes looks first: the refusal of the look is what they hear.
        let advice = self.advice(if wanted == Access::Write { "write" } else { "read PATH or --write" });
        if let Some(stale) = &self.stale {
            return denied(path, &format!("can't be reached: {stale}"));
        }
        if self.folders.is_empty() {
            return denied(path, &format!("can't be reached: no folder was granted; {advice}"));
        }
        let granted: Vec<String> = self.folders.iter().map(|folder| folder.path.display().to_string()).collect();
        denied(path, &format!("lies outside the granted folders ({}); {advice}", granted.join(", ")))
    }

    fn advice(&self, access: &str) -> String {
        format!("the operator can change that: hermes-host grant {} --{access} PATH", self.component)
    }

    /// The path as one from the root, by its text alone: `..` takes back the name before it, whether or not that is a link.
    fn absolute(&self, path: &str) -> Outcome<PathBuf> {
        if path.is_empty() || path.contains('\0') || path.len() > PATH_BYTES {
            let shown = crate::text::one_line(path, 100);
            return Err(fault(Reason::Invalid, format!("{shown:?} is not a usable path")));
        }
        let home = || std::env::home_dir().unwrap_or_default();
        Ok(normal(&match path.strip_prefix('~') {
            Some("") => home(),
            Some(rest) if rest.starts_with('/') => home().join(rest.trim_start_matches('/')),
            _ => self.workspace.join(path),
        }))
    }
}

impl<'a> Place<'a> {
    /// The same place for a commit that may change some files that other programs obey.
    pub(super) fn permitting(self, permit: &'a Permit) -> Self {
        Self { permit, ..self }
    }

    /// Opens what is there, for reading or as a mere handle.
    pub(super) fn open(&self, flags: OFlags) -> Outcome<Beneath> {
        beneath::open(&self.opened.dir, &self.path, flags, |path| self.judge(path, Access::Read))
            .map_err(|refused| refused.fault(&self.shown))
    }

    /// Whether a path in this folder may be touched. It has no links in it, or will be judged again.
    pub(super) fn judge(&self, path: &Path, wanted: Access) -> Outcome<()> {
        if path.components().count() > DEPTH {
            let message = format!("{} lies more than {DEPTH} directories deep", self.shown.display());
            return Err(fault(Reason::TooLarge, message));
        }
        // Secrets come into a draft after it was made: whoever had it open by then could read them.
        if path.file_name().is_some_and(|name| is_draft(name.as_bytes())) {
            return Err(fault(Reason::NotFound, format!("{} is a draft of the host's", self.shown.display())));
        }
        let whole = self.real(path);
        if self.opened.only.as_deref() == Some(path) {
            return self.judge_own(&whole, wanted);
        }
        if self.opened.only.is_some() {
            return Err(denied(&self.shown, "leads to another file than the one that was granted"));
        }
        match guarded(&self.opened.real, path, self.user) {
            Some(Guarded::Hidden) => {
                let why = "holds keys or credentials: it is only handed out where it is granted by its own name";
                Err(denied(&self.shown, why))
            }
            Some(Guarded::Obeyed(row)) if wanted == Access::Write => {
                // What is the host's own is refused whatever a person would say.
                self.judge_own(&whole, wanted)?;
                match row.tools == ToolChange::Asked && self.permit.admits(&whole, row) {
                    true => Ok(()),
                    false => Err(self.obeyed(row)),
                }
            }
            _ => self.judge_own(&whole, wanted),
        }
    }

    fn obeyed(&self, row: &ObeyedRow) -> Fault {
        let why = format!(
            "is obeyed by {} ({}): it is only changed where a person allows it or it is granted by its own name",
            row.program, row.why
        );
        denied(&self.shown, &why)
    }

    fn judge_own(&self, whole: &Path, wanted: Access) -> Outcome<()> {
        match self.own.has(whole, &self.opened.real, wanted) {
            true => Err(denied(&self.shown, "belongs to hermes-host itself: no tool touches it")),
            false => Ok(()),
        }
    }

    /// The real path of something in this folder.
    pub(super) fn real(&self, path: &Path) -> PathBuf {
        self.opened.real.join(path)
    }
}

/// Without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

/// Whether a regular file may be handed out: one that has a second name may lie outside by it.
pub(super) fn regular(folder: &Folder, shown: &Path, metadata: &std::fs::Metadata) -> Outcome<()> {
    if metadata.is_dir() {
        return Err(fault(Reason::IsDirectory, format!("{} is a directory", shown.display())));
    }
    if !metadata.is_file() {
        return Err(fault(Reason::NotRegular, format!("{} is not a regular file", shown.display())));
    }
    if metadata.nlink() > 1 && folder.links == Links::Refused {
        let why = format!(
            "has {} names (hard links), and one of them may lie outside the grant; the operator can allow it with hard_links = \"allow\"",
            metadata.nlink()
        );
        return Err(denied(shown, &why));
    }
    Ok(())
}
