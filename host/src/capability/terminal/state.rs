//! What a command line leaves for the next: its working directory and exported variables, which the shell writes down at its end.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::Read,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use rustix::fs::{Mode, OFlags, open};

use super::{environment::Variables, limits::STATE_BYTES, quote};

/// The last of what is written: without it, the shell was ended on its way.
const WHOLE: &[u8] = b"\0end";

/// What a shell left.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) cwd: PathBuf,
    pub(crate) variables: Variables,
}

/// A script that runs a command line and then writes down what it leaves, however it ends. Its exit code is the command's.
pub(crate) fn script(command: &str, file: &Path) -> OsString {
    let write =
        [b"{ pwd -P && printf '\\0' && command -p env -0 && printf '\\0end'; } 2>/dev/null >|", &*quote::word(file)];
    let script = [
        b"trap ",
        &*quote::word(OsStr::from_bytes(&write.concat())),
        b" EXIT\neval ",
        // With the blank, no command is taken for an option of `eval`.
        &*quote::word(format!(" {command}")),
    ];
    OsString::from_vec(script.concat())
}

/// What was left in a file. Nothing, if it is not whole: the command may have replaced it by anything.
pub(crate) fn read(file: &Path) -> Option<Left> {
    // Neither a link to somebody's keys nor a pipe that nobody writes to.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(open(file, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(STATE_BYTES).read_to_end(&mut bytes).ok()?;
    parse(&bytes)
}

/// What was left, from the bytes that the shell wrote.
pub(crate) fn parse(bytes: &[u8]) -> Option<Left> {
    let mut parts = bytes.strip_suffix(WHOLE)?.split(|byte| *byte == 0);
    let cwd = parts.next()?.strip_suffix(b"\n")?;
    let variables = parts.filter_map(|part| {
        let equals = part.iter().position(|byte| *byte == b'=')?;
        let (name, value) = part.split_at(equals);
        Some((OsString::from_vec(name.to_vec()), OsString::from_vec(value.get(1..)?.to_vec())))
    });
    Some(Left { cwd: PathBuf::from(OsStr::from_bytes(cwd)), variables: variables.collect() })
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Output};

    use proptest::prelude::*;

    use super::*;

    fn run(shell: &str, command: &str) -> (Output, Option<Left>) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("it's a file");
        let mut shell = Command::new(shell);
        shell.arg("-c").arg(script(command, &file)).env_clear().env("PATH", "/usr/bin:/bin").current_dir("/usr");
        (shell.output().unwrap(), read(&file))
    }

    #[test]
    fn where_a_command_ends_and_what_it_exports_is_left() {
        for shell in ["bash", "dash"] {
            let (output, left) = run(shell, "cd share; export A='two\nlines'; local=1; exit 3");
            let left = left.unwrap();
            assert_eq!(output.status.code(), Some(3), "{shell}");
            assert_eq!(left.cwd, Path::new("/usr/share"));
            assert_eq!(left.variables.get(OsStr::new("A")).unwrap(), "two\nlines");
            assert!(!left.variables.contains_key(OsStr::new("local")));
        }
    }

    #[test]
    fn quotes_options_and_bad_syntax_do_no_harm() {
        for shell in ["bash", "dash"] {
            let (output, left) = run(shell, "echo \"it's\" 'fine' # a comment");
            assert_eq!((output.stdout, left.is_some()), (b"it's fine\n".to_vec(), true), "{shell}");
            let (output, _) = run(shell, "echo 'no end");
            assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{shell}");
            let (output, left) = run(shell, "set -eu; PATH=/nowhere; cd /; false; echo never");
            assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{shell}");
            assert_eq!(left.unwrap().cwd, Path::new("/"), "{shell}");
        }
    }

    #[test]
    fn a_command_line_sees_no_argument_of_ours() {
        let (output, _) = run("bash", "echo $# $0; trap; set -x; true");
        assert!(output.stdout.starts_with(b"0 bash\n"), "{output:?}");
        assert_eq!(output.stderr, b"++ true\n");
    }

    #[test]
    fn a_link_a_pipe_and_a_half_are_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("whole"), "/usr\n\0A=1\0\0end").unwrap();
        assert!(read(&at("whole")).is_some());
        std::os::unix::fs::symlink("whole", at("link")).unwrap();
        assert_eq!(read(&at("link")), None);
        assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        assert_eq!(read(&at("pipe")), None);
        std::fs::write(at("half"), "/usr\n\0A=1").unwrap();
        assert_eq!(read(&at("half")), None);
        assert_eq!(read(&at("absent")), None);
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = parse(&[&bytes, WHOLE].concat());
        }
    }
}
