//! Files that hold the server's token: the one that the operator names, and the one that the host makes in its home.

use std::{
    fs::{DirBuilder, File, Metadata, OpenOptions, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use rustix::{fs::OFlags, io::Errno};

use super::{
    limits::{MADE_TOKEN_BYTES, TOKEN_CHARS, TOKEN_FILE_BYTES},
    token::Token,
};

/// The name of the host's own token file in its home.
const NAME: &str = "token";

/// Why a token can't be used. Never says what stands in it.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// Too short to be safe.
    #[error("the token has {0} characters and needs at least {TOKEN_CHARS}; make one with: openssl rand -hex 32")]
    Short(usize),
    /// It could not be sent as a header.
    #[error("the token may have letters, digits and punctuation alone; make one with: openssl rand -hex 32")]
    Characters,
    /// The file can't be read or made.
    #[error("failed to read the token from {}: {why}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: io::Error,
    },
    /// Others could have read or written it, or what it holds is no token.
    #[error("refused to use the token in {}: {why}", path.display())]
    Unsafe {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        why: String,
    },
}

/// A file that holds a token.
#[derive(Clone, Debug)]
pub struct TokenFile {
    path: PathBuf,
    is_own: bool,
}

impl TokenFile {
    /// The operator's file. Symlinks are followed: service managers mount secrets through them.
    pub fn named(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), is_own: false }
    }

    /// The host's own file in its home, with a new random token where there is none. Of several hosts that start at the same time
    /// one makes it, and all of them use it.
    pub fn in_home(home: &Path) -> Result<Self, TokenError> {
        let file = Self { path: home.join(NAME), is_own: true };
        match file.make(home) {
            Err(why) if why.kind() != io::ErrorKind::AlreadyExists => Err(TokenError::Io { path: file.path, why }),
            _ => Ok(file),
        }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The token in it.
    pub fn token(&self) -> Result<Token, TokenError> {
        self.read().and_then(|text| Token::new(&text).map_err(|why| self.refused(&why.to_string())))
    }

    /// The text of the token, for a client of the same user. White space around it does not count.
    pub fn text(&self) -> Result<String, TokenError> {
        self.token()?;
        self.read()
    }

    /// Writes the whole token to a file beside it, which then gets the name, unless the name is taken: no reader sees half a token.
    fn make(&self, home: &Path) -> io::Result<()> {
        if self.path.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        DirBuilder::new().recursive(true).mode(0o700).create(home)?;
        let mut random = [0; MADE_TOKEN_BYTES];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let mut file = tempfile::Builder::new().permissions(Permissions::from_mode(0o600)).tempfile_in(home)?;
        writeln!(file, "{}", BASE64_URL_SAFE_NO_PAD.encode(random))?;
        file.as_file().sync_all()?;
        file.persist_noclobber(&self.path).map(drop).map_err(|why| why.error)
    }

    fn read(&self) -> Result<String, TokenError> {
        let io = |why| TokenError::Io { path: self.path.clone(), why };
        let (file, metadata) = self.open()?;
        if let Some(flaw) = self.flaw(&metadata) {
            return Err(self.refused(flaw));
        }
        let mut text = String::new();
        // Bounded again: it may have grown since.
        file.take(TOKEN_FILE_BYTES as u64).read_to_string(&mut text).map_err(io)?;
        Ok(text.trim().to_owned())
    }

    fn open(&self) -> Result<(File, Metadata), TokenError> {
        // Without waiting: what stands there may be a FIFO without a writer.
        let follow = if self.is_own { OFlags::NOFOLLOW } else { OFlags::empty() };
        let flags = (OFlags::NONBLOCK | OFlags::CLOEXEC | follow).bits().cast_signed();
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(&self.path);
        opened.and_then(|file| Ok((file.try_clone()?, file.metadata()?))).map_err(|why| {
            match Errno::from_io_error(&why) == Some(Errno::LOOP) && self.is_own {
                true => self.refused("it is a symbolic link; remove it, and the next start makes a new token"),
                false => TokenError::Io { path: self.path.clone(), why },
            }
        })
    }

    /// What is wrong with the open file, and what to do.
    fn flaw(&self, metadata: &Metadata) -> Option<&'static str> {
        let (owner, user) = (metadata.uid(), rustix::process::geteuid().as_raw());
        if !metadata.is_file() {
            Some("it is not a regular file")
        } else if owner != user && (self.is_own || owner != 0) {
            Some(
                "it belongs to another user; name a file of your own with --token-file FILE, or another home with --home DIR",
            )
        } else if metadata.mode() & 0o077 != 0 {
            Some(
                "others may read or write it; run chmod 600 on it, and write another token into it if they could have \
                 read this one",
            )
        } else if metadata.len() > TOKEN_FILE_BYTES as u64 {
            Some("it is too large for a token; write nothing but the token into it")
        } else {
            None
        }
    }

    fn refused(&self, why: &str) -> TokenError {
        TokenError::Unsafe { path: self.path.clone(), why: why.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, Permissions},
        os::unix::fs::{PermissionsExt, symlink},
        thread,
    };

    use super::*;

    const GOOD: &str = "0123456789abcdef0123456789abcdef";

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn a_file_is_used_only_if_others_can_not_read_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        fs::write(&path, format!("{GOOD}\n")).unwrap();
        for (mode, works) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o622, false)] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            for file in [TokenFile::named(&path), TokenFile::in_home(dir.path()).unwrap()] {
                let token = file.token();
                assert_eq!(token.is_ok(), works, "{mode:o}");
                match token {
                    Ok(token) => assert!(token.matches(GOOD.as_bytes())),
                    Err(why) => assert!(why.to_string().contains("chmod 600"), "{why}"),
                }
            }
        }
    }

    #[test]
    fn a_file_that_holds_no_token_is_refused_with_a_reason() {
        let dir = tempfile::tempdir().unwrap();
        let token = |path: &Path| TokenFile::named(path).token().unwrap_err().to_string();
        let private = |name: &str, text: &[u8]| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
            token(&path)
        };
        assert!(private("empty", b"").contains("0 characters"));
        let short = private("short", b"0123456789");
        assert!(short.contains("10 characters") && short.contains("/short"), "{short}");
        assert!(private("huge", &vec![b'a'; TOKEN_FILE_BYTES + 1]).contains("too large"));
        assert!(private("binary", &[0xff; 40]).contains("failed to read"));
        assert!(token(dir.path()).contains("not a regular file"));
        assert!(token(&dir.path().join("none")).contains("none"));
        let pipe = dir.path().join("pipe");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
        assert!(token(&pipe).contains("not a regular file"));
    }

    #[test]
    fn a_token_is_made_once_for_this_user_alone() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("not/yet/there");
        let files: Vec<TokenFile> = thread::scope(|scope| {
            let makers: Vec<_> = (0..8).map(|_| scope.spawn(|| TokenFile::in_home(&home).unwrap())).collect();
            makers.into_iter().map(|maker| maker.join().unwrap()).collect()
        });
        let text = files[0].text().unwrap();
        assert!(files.iter().all(|file| file.text().unwrap() == text), "one token for all");
        assert_eq!(BASE64_URL_SAFE_NO_PAD.decode(&text).unwrap().len(), MADE_TOKEN_BYTES);
        assert_eq!((mode(files[0].path()), mode(&home)), (0o600, 0o700));
        assert_eq!(fs::read_dir(&home).unwrap().count(), 1, "nothing else is left");
        let other = TokenFile::in_home(&dir.path().join("other")).unwrap();
        assert_ne!(other.text().unwrap(), text);
    }

    #[test]
    fn a_symlink_in_the_home_is_refused_and_never_written_through() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("target");
        symlink(&target, dir.path().join("token")).unwrap();
        let file = TokenFile::in_home(dir.path()).unwrap();
        assert!(file.token().unwrap_err().to_string().contains("symbolic link"));
        assert!(!target.exists());
        fs::write(&target, GOOD).unwrap();
        fs::set_permissions(&target, Permissions::from_mode(0o600)).unwrap();
        assert!(file.token().unwrap_err().to_string().contains("symbolic link"));
        // The operator's own file may be one.
        assert!(TokenFile::named(dir.path().join("token")).token().is_ok());
    }
}
