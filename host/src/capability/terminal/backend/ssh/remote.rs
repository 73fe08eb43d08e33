//! What runs on the other side: text for its shell.
//!
//! Nothing of ours is installed there, so a process is known by a variable that its command was started with. The sentry is a loop
//! that lives as long as the connection; it ends what it is told to, and everything when the connection is lost.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::Path,
};

use super::super::super::{environment::Variables, quote};

/// The variable that every process of a command has.
pub(super) const MARK: &str = "TERMINAL_MARK";

/// What a command has of the other machine's variables.
pub(super) const OWN: &[&str] = &["PATH", "HOME", "USER", "SHELL"];

/// Ends every process whose mark begins with this: asks, gives a second, insists.
const SWEEP: &str = r#"
marked() { grep -lsz "^TERMINAL_MARK=$1" /proc/[0-9]*/environ | sed 's|/proc/||;s|/environ||'; }
sweep() {
  p=$(marked "$1"); [ -n "$p" ] || return 0
  kill -TERM $p 2>/dev/null
  for i in 1 2 3 4 5; do [ -n "$(marked "$1")" ] || return 0; sleep 0.2 2>/dev/null || sleep 1; done
  for i in 1 2 3 4 5; do p=$(marked "$1"); [ -n "$p" ] || return 0; kill -KILL $p 2>/dev/null; done
}
"#;

/// What the connection itself runs.
pub(super) fn sentry(connection: &str) -> OsString {
    let script = format!(
        r#"trap '' PIPE HUP
umask 077
{SWEEP}
room=$(mktemp -d /tmp/terminal-XXXXXX) || exit 1
printf 'ready %s\n%s\n%s\n' {connection} "$room" "$PWD"
while read -r mark; do sweep "$mark"; printf 'done %s\n' "$mark"; done
sweep {connection}
rm -rf "$room"
"#
    );
    in_sh(script.as_bytes())
}

/// What one command runs as.
pub(super) struct Call<'a> {
    pub(super) mark: &'a str,
    pub(super) cwd: &'a Path,
    pub(super) variables: &'a Variables,
    /// Words for the shell that runs it.
    pub(super) command: Vec<u8>,
}

impl Call<'_> {
    /// It sees what a command on this machine would see, with the values from there. What it leaves is ended with it.
    pub(super) fn text(&self) -> OsString {
        let mut script = SWEEP.as_bytes().to_vec();
        script.extend_from_slice(b"cd -- ");
        script.extend(quote::word(self.cwd));
        script.extend_from_slice(b" || exit 126\nshell=$(command -v bash || echo /bin/sh)\n");
        script.extend_from_slice(b"env -i");
        for name in OWN {
            script.extend_from_slice(format!(" {name}=\"${name}\"").as_bytes());
        }
        for (name, value) in self.variables {
            script.push(b' ');
            script.extend_from_slice(name.as_bytes());
            script.push(b'=');
            script.extend(quote::word(value));
        }
        script.push(b' ');
        script.extend_from_slice(&self.command);
        script.extend_from_slice(format!("\ncode=$?\nsweep {}\nexit $code\n", self.mark).as_bytes());
        in_sh(&script)
    }
}

/// Reads a file there and removes it.
pub(super) fn take(file: &Path) -> OsString {
    let file = quote::word(file);
    in_sh(&[b"cat -- ", &*file, b" 2>/dev/null; rm -f -- ", &*file].concat())
}

/// Whatever shell the user has there, this one reads the script.
fn in_sh(script: &[u8]) -> OsString {
    OsString::from_vec([b"exec sh -c ", &*quote::word(OsStr::from_bytes(script))].concat())
}
