//! Granting and revoking: the operator's file is read, changed, read again, and only then replaced.

use std::path::PathBuf;

use super::{Access, Config, ConfigError, FolderGrant, Grant, document::Document, file::Locked, place};
use crate::component::Digest;

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
    #[error("{name} has no grant in {}; name folders with --read DIR or --write DIR", path.display())]
    NothingToPin {
        /// The component.
        name: String,
        /// The file.
        path: PathBuf,
    },
    /// What is to be taken away is not there.
    #[error("{0}")]
    NothingToRevoke(String),
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

/// What a component has after a grant.
#[derive(Clone, Debug)]
pub struct Granted {
    /// Its grant.
    pub grant: Grant,
    /// What other bytes of this name had and these were not given.
    pub left_out: Vec<FolderGrant>,
}

/// What a component has after a revocation.
#[derive(Clone, Debug)]
pub struct Revoked {
    /// What it lost.
    pub removed: Vec<FolderGrant>,
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

impl GrantFile {
    /// What is in it now.
    pub fn read(&self) -> Result<Config, ConfigError> {
        Config::read(&self.path, self.named)
    }

    /// Gives a component folders, beside those that it has, and binds its grant to these bytes. A folder that it has already is
    /// granted as it is named now. What other bytes had is not passed on, unless no folder is named: then it is all that is.
    pub fn grant(&self, name: &str, digest: &Digest, folders: &[FolderGrant]) -> Result<Granted, EditError> {
        let file = self.lock()?;
        let (config, mut document) = self.parse(&file, name)?;
        let before = config.tool(name);
        if before.is_none() && folders.is_empty() {
            return Err(EditError::NothingToPin { name: name.into(), path: self.path.clone() });
        }
        let mut left_out = Vec::new();
        let mut rows = before.map(|grant| grant.folders().to_vec()).unwrap_or_default();
        if !folders.is_empty() && config.of(name, digest).is_none() {
            (0..rows.len()).rev().for_each(|at| document.remove(name, at));
            left_out = std::mem::take(&mut rows);
        }
        document.pin(name, digest);
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
        let grant = self.write(&file, &document, name, &rows)?;
        Ok(Granted { grant, left_out })
    }

    /// Takes folders away from a component, or all of them where none is named: every one that is named, or nothing.
    pub fn revoke(&self, name: &str, unwanted: &[Unwanted]) -> Result<Revoked, EditError> {
        // A file that does not exist is not made for this.
        self.refuse_if_nothing(name, &self.read()?)?;
        let file = self.lock()?;
        let (config, mut document) = self.parse(&file, name)?;
        let rows = self.refuse_if_nothing(name, &config)?;
        let is_there = |one: &&Unwanted| rows.iter().any(|row| self.is_meant(row, one));
        if let Some(missing) = unwanted.iter().find(|one| !is_there(one)) {
            return Err(EditError::NothingToRevoke(not_there(name, missing, rows)));
        }
        let goes = |row: &FolderGrant| unwanted.is_empty() || unwanted.iter().any(|one| self.is_meant(row, one));
        let (mut removed, mut left) = (Vec::new(), Vec::new());
        for (at, row) in rows.iter().enumerate().rev() {
            if goes(row) {
                document.remove(name, at);
                removed.insert(0, row.clone());
            } else {
                left.insert(0, row.clone());
            }
        }
        if left.is_empty() {
            document.end_if_empty(name);
        }
        let grant = self.write(&file, &document, name, &left)?;
        Ok(Revoked { removed, grant })
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
    fn write(
        &self,
        file: &Locked,
        document: &Document,
        name: &str,
        folders: &[FolderGrant],
    ) -> Result<Grant, EditError> {
        let text = document.text();
        let grant = Config::parse(&self.path, &text).ok().map(|config| config.tool(name).cloned().unwrap_or_default());
        let Some(grant) = grant.filter(|grant| grant.folders() == folders) else {
            return Err(EditError::Layout { name: name.into(), path: self.path.clone() });
        };
        file.replace(&text).map_err(|why| EditError::Write { path: self.path.clone(), why })?;
        Ok(grant)
    }

    fn refuse_if_nothing<'a>(&self, name: &str, config: &'a Config) -> Result<&'a [FolderGrant], EditError> {
        match config.tool(name).map(Grant::folders) {
            Some(folders) if !folders.is_empty() => Ok(folders),
            _ => {
                let with_files = config.tools().filter(|(_, grant)| !grant.folders().is_empty());
                let known: Vec<&str> = with_files.map(|(name, _)| name).collect();
                let known = match known.as_slice() {
                    [] => "nobody has any".into(),
                    known => format!("those who have some: {}", known.join(", ")),
                };
                let path = self.path.display();
                Err(EditError::NothingToRevoke(format!("{name} is granted no files in {path}; {known}")))
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

fn not_there(name: &str, unwanted: &Unwanted, rows: &[FolderGrant]) -> String {
    let rows: Vec<String> = rows.iter().map(FolderGrant::to_string).collect();
    let (access, path) = (unwanted.access.name(), unwanted.written.display());
    format!("{name} is not granted to {access} {path}, so nothing was changed; it has: {}", rows.join(", "))
}

#[cfg(test)]
mod tests;
