//! Granting and revoking: the operator's file is read, changed, read again, and only then replaced.

use std::path::PathBuf;

use super::{
    Access, Config, ConfigError, ExecGrant, FolderGrant, Grant, Pin, TerminalGrant, ToolLimits, document::Document,
    file::Locked, place,
};
use crate::{
    approval::{Keep, Remembered, add_to_document, quoted, remove_from_document},
    component::Digest,
    policy::{NamePattern, PolicyAction, PolicyLayoutError, PolicyRule},
};

use toml_edit::{DocumentMut, TomlError};

/// Why the file stays as it was.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The file can't be used as it is.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// It can't be replaced.
    #[error("failed to change {}: {why}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: std::io::Error,
    },
    /// Nothing was named, and there is no grant to bind to other bytes.
    #[error("{name} has no grant in {}; name what it may use: --read PATH, --write PATH, --shell, --exec COMMAND, --ask, --memory SIZE, --timeout TIME or --fuel N", path.display())]
    NothingToPin {
        /// The component.
        name: String,
        /// The file.
        path: PathBuf,
    },
    /// What is to be taken away is not there.
    #[error("{0}")]
    NothingToRevoke(String),
    /// The policy is laid out in a way that is not understood.
    #[error("failed to change {}: {why}", path.display())]
    Policy {
        /// The file.
        path: PathBuf,
        /// Where.
        why: PolicyLayoutError,
    },
    /// Rules of the policy that stand before the entry decide otherwise.
    #[error("failed to set {pattern} to {action} in {}: another rule decides before it; move it by hand", path.display())]
    NotDecisive {
        /// The file.
        path: PathBuf,
        /// The tool.
        pattern: String,
        /// What it was to be.
        action: PolicyAction,
    },
    /// The changed text does not say what it should. The file is laid out in a way that is not understood.
    #[error("failed to change [tools.{name}] in {} as it is laid out; change it by hand", path.display())]
    Layout {
        /// The component.
        name: String,
        /// The file.
        path: PathBuf,
    },
}

/// The file with the grants, and from where relative paths in it are meant.
#[derive(Clone, Debug)]
pub struct GrantFile {
    /// The file.
    pub path: PathBuf,
    /// Whether the operator named it.
    pub named: bool,
    /// The workspace.
    pub workspace: PathBuf,
}

/// What a component is to have, beside what it has.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Folders and files.
    pub folders: Vec<FolderGrant>,
    /// Commands.
    pub commands: TerminalGrant,
    /// To ask the person at the other end of a call.
    pub ask: bool,
    /// Limits of its calls.
    pub limits: ToolLimits,
}

/// What a component is to lose. Nothing named: all that it has.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    /// Folders and files.
    pub folders: Vec<Unwanted>,
    /// Commands.
    pub commands: UnwantedCommands,
    /// To ask the person at the other end of a call.
    pub ask: bool,
}

/// What a component has after a grant.
#[derive(Clone, Debug)]
pub struct Granted {
    /// Its grant.
    pub grant: Grant,
    /// What other bytes of this name had and these were not given.
    pub left_out: Vec<FolderGrant>,
    /// The commands among that.
    pub left_out_commands: TerminalGrant,
    /// Whether they were allowed to ask.
    pub left_out_ask: bool,
}

/// What a component has after a revocation.
#[derive(Clone, Debug)]
pub struct Revoked {
    /// What it lost.
    pub removed: Vec<FolderGrant>,
    /// The commands that it lost.
    pub removed_commands: TerminalGrant,
    /// Whether it may no longer ask.
    pub removed_ask: bool,
    /// What is left.
    pub grant: Grant,
}

/// A folder to take away.
#[derive(Clone, Debug)]
pub struct Unwanted {
    /// As the operator typed it.
    pub written: PathBuf,
    /// Where that is.
    pub place: PathBuf,
    /// [`Access::Write`]: only if it may be written. [`Access::Read`]: in any case, since writing includes reading.
    pub access: Access,
}

/// Commands to take away.
#[derive(Clone, Debug, Default)]
pub struct UnwantedCommands {
    /// Command lines.
    pub shell: bool,
    /// Programs, as they were granted.
    pub exec: Vec<ExecGrant>,
    /// The network.
    pub network: bool,
}

/// What a grant is to say once it is written.
struct Meant<'a> {
    folders: &'a [FolderGrant],
    terminal: &'a TerminalGrant,
    asks: bool,
    limits: ToolLimits,
}

impl GrantFile {
    /// What is in it now.
    pub fn read(&self) -> Result<Config, ConfigError> {
        Config::read(&self.path, self.named)
    }

    /// Gives a component folders, beside those that it has, and binds its grant to these bytes. A folder that it has already is
    /// granted as it is named now. What other bytes had is not passed on, unless no folder is named: then it is all that is.
    pub fn grant(&self, name: &str, digest: &Digest, folders: &[FolderGrant]) -> Result<Granted, EditError> {
        self.grant_all(name, Pin::Bytes(digest), &Wanted { folders: folders.to_vec(), ..Wanted::default() })
    }

    /// The same with all that can be granted, and for whatever bytes a file has.
    pub fn grant_all(&self, name: &str, pin: Pin<'_>, wanted: &Wanted) -> Result<Granted, EditError> {
        let Wanted { folders, commands, ask, limits } = wanted;
        let file = self.lock()?;
        let (config, mut document) = self.parse(&file, name)?;
        let before = config.tool(name);
        let names_no_capability = folders.is_empty() && commands.is_empty() && !ask;
        let names_limits = *limits != ToolLimits::default();
        let names_nothing = names_no_capability && !names_limits;
        if before.is_none() && names_nothing {
            return Err(EditError::NothingToPin { name: name.into(), path: self.path.clone() });
        }
        let mut left_out = Vec::new();
        let mut rows = before.map(|grant| grant.folders().to_vec()).unwrap_or_default();
        let mut terminal = before.map(|grant| grant.terminal().clone()).unwrap_or_default();
        let had_ask = before.is_some_and(Grant::ask);
        let mut asks = had_ask;
        let mut left_out_commands = TerminalGrant::default();
        if !names_nothing && !before.is_none_or(|grant| grant.is_for(pin)) {
            (0..rows.len()).rev().for_each(|at| document.remove(name, at));
            left_out = std::mem::take(&mut rows);
            left_out_commands = std::mem::take(&mut terminal);
            asks = false;
        }
        asks |= ask;
        // Limits are for a name, as long as nothing else is granted: they hold for the next build of the same tool, too.
        if names_no_capability && names_limits && before.is_none_or(|grant| grant.digest.is_none()) {
            document.begin_section(name);
        } else {
            document.pin(name, pin);
        }
        document.set_limits(name, limits);
        let limits = limits.or(before.map(|grant| grant.limits).unwrap_or_default());
        terminal.add(commands);
        if before.map(Grant::terminal) != Some(&terminal) {
            document.set_terminal(name, &terminal);
        }
        if had_ask != asks {
            document.set_ask(name, asks);
        }
        left_out_commands.remove(&UnwantedCommands {
            shell: terminal.shell,
            exec: terminal.exec.clone(),
            network: false,
        });
        for folder in folders {
            let is_same = |(at, row): (usize, &FolderGrant)| self.is_same(row, folder).then_some(at);
            let same: Vec<usize> = rows.iter().enumerate().filter_map(is_same).collect();
            // Each is the place of a row, and the last are taken out first.
            for at in same.iter().skip(1).rev() {
                document.remove(name, *at);
                rows.remove(*at);
            }
            match same.first().and_then(|at| rows.get_mut(*at).map(|row| (*at, row))) {
                Some((at, row)) => {
                    document.replace(name, at, folder);
                    row.clone_from(folder);
                }
                None => {
                    document.push(name, folder);
                    rows.push(folder.clone());
                }
            }
        }
        left_out.retain(|old| !rows.contains(old));
        let grant = self.write(&file, &document, name, &Meant { folders: &rows, terminal: &terminal, asks, limits })?;
        Ok(Granted { grant, left_out, left_out_commands, left_out_ask: had_ask && !asks })
    }

    /// Takes folders away from a component, or all that it has where none is named: every one that is named, or nothing.
    pub fn revoke(&self, name: &str, unwanted: &[Unwanted]) -> Result<Revoked, EditError> {
        self.revoke_all(name, &Taken { folders: unwanted.to_vec(), ..Taken::default() })
    }

    /// The same with all that can be granted.
    pub fn revoke_all(&self, name: &str, taken: &Taken) -> Result<Revoked, EditError> {
        let Taken { folders: unwanted, commands: unwanted_commands, ask } = taken;
        // A file that does not exist is not made for this.
        self.refuse_if_nothing(name, &self.read()?)?;
        let file = self.lock()?;
        let (config, mut document) = self.parse(&file, name)?;
        let before = self.refuse_if_nothing(name, &config)?;
        let (rows, mut terminal) = (before.folders(), before.terminal().clone());
        let is_all = unwanted.is_empty() && unwanted_commands.is_empty() && !ask;
        let is_there = |one: &&Unwanted| rows.iter().any(|row| self.is_meant(row, one));
        if let Some(missing) = unwanted.iter().find(|one| !is_there(one)) {
            return Err(EditError::NothingToRevoke(not_there(name, missing, rows)));
        }
        let removed_commands = match is_all {
            true => std::mem::take(&mut terminal),
            false => terminal.remove(unwanted_commands),
        };
        if let Some(missing) = unwanted_commands.missing_in(&removed_commands).filter(|_| !is_all) {
            let why = format!("{name} is not granted {missing}, so nothing was changed; see hermes-host list --json");
            return Err(EditError::NothingToRevoke(why));
        }
        if *ask && !before.ask() {
            let why = format!("{name} is not granted to ask, so nothing was changed; see hermes-host list --json");
            return Err(EditError::NothingToRevoke(why));
        }
        let asks = before.ask() && !is_all && !ask;
        if terminal != *before.terminal() {
            document.set_terminal(name, &terminal);
        }
        if before.ask() && !asks {
            document.set_ask(name, false);
        }
        let goes = |row: &FolderGrant| is_all || unwanted.iter().any(|one| self.is_meant(row, one));
        let (mut removed, mut left) = (Vec::new(), Vec::new());
        for (at, row) in rows.iter().enumerate().rev() {
            if goes(row) {
                document.remove(name, at);
                removed.insert(0, row.clone());
            } else {
                left.insert(0, row.clone());
            }
        }
        if left.is_empty() && terminal.is_empty() && !asks {
            document.end_if_empty(name);
        }
        let removed_ask = before.ask() && !asks;
        let limits = before.limits;
        let grant = self.write(&file, &document, name, &Meant { folders: &left, terminal: &terminal, asks, limits })?;
        Ok(Revoked { removed, removed_commands, removed_ask, grant })
    }

    /// Sets what happens to calls of a tool, or of all that a pattern names, where no condition says otherwise.
    pub fn set_policy(&self, pattern: &NamePattern, action: PolicyAction) -> Result<(), EditError> {
        let file = self.lock()?;
        let path = || self.path.clone();
        let (_, mut document) = self.parse(&file, pattern.as_str())?;
        document.set_policy(pattern, action).map_err(|why| EditError::Policy { path: path(), why })?;
        let text = document.text();
        let policy = Config::parse(&self.path, &text)?.policy;
        // What holds for a call that meets no condition. Patterns are not tried: they stand for many tools.
        let decided =
            policy.rules().iter().find(|rule| rule.is_unconditional() && rule.pattern().matches(pattern.as_str()));
        if pattern.is_exact() && decided.map(PolicyRule::action) != Some(action) {
            return Err(EditError::NotDecisive { path: path(), pattern: pattern.as_str().into(), action });
        }
        file.replace(&text).map_err(|why| EditError::Write { path: path(), why })
    }

    fn lock(&self) -> Result<Locked, EditError> {
        let fail = |why| ConfigError::Read { path: self.path.clone(), why };
        Ok(Locked::open(&self.path, self.named).map_err(fail)?)
    }

    /// As it is understood, and as it is written.
    fn parse(&self, file: &Locked, name: &str) -> Result<(Config, Document), EditError> {
        let config = Config::parse(&self.path, file.text())?;
        // What one parser of the format takes, the other does too; if not, nothing is changed either.
        let layout = |_| EditError::Layout { name: name.into(), path: self.path.clone() };
        Ok((config, Document::parse(file.text()).map_err(layout)?))
    }

    /// Replaces the file, if its new text says what is meant.
    fn write(&self, file: &Locked, document: &Document, name: &str, meant: &Meant<'_>) -> Result<Grant, EditError> {
        let text = document.text();
        let grant = Config::parse(&self.path, &text).ok().map(|config| config.tool(name).cloned().unwrap_or_default());
        let is_meant = |grant: &Grant| {
            let Meant { folders, terminal, asks, limits } = meant;
            grant.folders() == *folders
                && grant.terminal() == *terminal
                && grant.ask() == *asks
                && grant.limits == *limits
        };
        let Some(grant) = grant.filter(is_meant) else {
            return Err(EditError::Layout { name: name.into(), path: self.path.clone() });
        };
        file.replace(&text).map_err(|why| EditError::Write { path: self.path.clone(), why })?;
        Ok(grant)
    }

    fn refuse_if_nothing<'a>(&self, name: &str, config: &'a Config) -> Result<&'a Grant, EditError> {
        match config.tool(name) {
            Some(grant) if grant.needs_digest() => Ok(grant),
            _ => {
                let with_some = config.tools().filter(|(_, grant)| grant.needs_digest());
                let known: Vec<&str> = with_some.map(|(name, _)| name).collect();
                let known = match known.as_slice() {
                    [] => "nobody has any".into(),
                    known => format!("those who have some: {}", known.join(", ")),
                };
                let path = self.path.display();
                Err(EditError::NothingToRevoke(format!("{name} is granted nothing in {path}; {known}")))
            }
        }
    }

    fn is_same(&self, one: &FolderGrant, other: &FolderGrant) -> bool {
        let place = |folder: &FolderGrant| folder.located(&self.workspace);
        one.path == other.path
            || place(one).is_ok_and(|one| place(other).is_ok_and(|other| place::is_same(&one, &other)))
    }

    fn is_meant(&self, row: &FolderGrant, unwanted: &Unwanted) -> bool {
        let is_there = || row.located(&self.workspace).is_ok_and(|place| place::is_same(&place, &unwanted.place));
        (unwanted.access == Access::Read || row.access == Access::Write) && (row.path == unwanted.written || is_there())
    }
}

/// A decision that holds for good becomes part of the operator's file.
impl Keep for GrantFile {
    fn keep(&self, remembered: &Remembered) -> Result<(), String> {
        let file = self.lock().map_err(|why| why.to_string())?;
        let mut document: DocumentMut = file.text().parse().map_err(|why: TomlError| why.to_string())?;
        if !add_to_document(&mut document, remembered).map_err(|why| why.to_string())? {
            return Ok(());
        }
        let text = document.to_string();
        let config = Config::parse(&self.path, &text).map_err(|why| why.to_string())?;
        if !config.approval.allow.contains(remembered) {
            return Err(format!("{} is laid out in a way that is not understood", self.path.display()));
        }
        file.replace(&text).map_err(|why| format!("failed to change {}: {why}", self.path.display()))
    }

    fn options(&self) -> String {
        let default = crate::default_home().map(|home| home.join("hermes.toml"));
        match default.is_ok_and(|default| default == self.path) {
            true => String::new(),
            false => format!(" --config {}", quoted(&self.path.to_string_lossy())),
        }
    }
}

impl GrantFile {
    /// Takes an entry of `[[approval.allow]]` away, by its place from 0, and answers it. Nothing where there is none.
    pub fn forget_approval(&self, at: usize) -> Result<Option<Remembered>, String> {
        let file = self.lock().map_err(|why| why.to_string())?;
        let config = Config::parse(&self.path, file.text()).map_err(|why| why.to_string())?;
        let Some(gone) = config.approval.allow.get(at) else { return Ok(None) };
        let mut document: DocumentMut = file.text().parse().map_err(|why: TomlError| why.to_string())?;
        remove_from_document(&mut document, at).map_err(|why| why.to_string())?;
        let text = document.to_string();
        let left = Config::parse(&self.path, &text).map_err(|why| why.to_string())?.approval.allow;
        if left.len() + 1 != config.approval.allow.len() {
            return Err(format!("{} is laid out in a way that is not understood", self.path.display()));
        }
        file.replace(&text).map_err(|why| format!("failed to change {}: {why}", self.path.display()))?;
        Ok(Some(gone.clone()))
    }
}

fn not_there(name: &str, unwanted: &Unwanted, rows: &[FolderGrant]) -> String {
    let rows: Vec<String> = rows.iter().map(FolderGrant::to_string).collect();
    let (access, path) = (unwanted.access.name(), unwanted.written.display());
    format!("{name} is not granted to {access} {path}, so nothing was changed; it has: {}", rows.join(", "))
}

#[cfg(test)]
mod tests;
