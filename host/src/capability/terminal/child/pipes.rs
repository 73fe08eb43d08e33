//! What a command reads and prints through: two pipes, or both ends of a terminal.

use std::{
    fs::File,
    io::{self, pipe},
    os::fd::OwnedFd,
};

use rustix::{
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    pipe::fcntl_setpipe_size,
    pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt},
    termios::{LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe::{Receiver, Sender},
};

use super::super::limits::{PIPE_BYTES, PTY_SIZE};

/// What ends the input of a terminal.
const END_OF_INPUT: u8 = 4;

/// The host's ends and the command's.
pub(super) struct Ends {
    pub(super) outlet: Outlet,
    pub(super) inlet: Option<Inlet>,
    /// What the command reads.
    pub(super) reads: OwnedFd,
    /// What it writes to.
    pub(super) writes: OwnedFd,
}

/// Pipes, or `/dev/null` for a command that reads nothing.
pub(super) fn pipes(input: bool) -> io::Result<Ends> {
    let (output, writes) = pipe()?;
    // The kernel may refuse a user who has many pipes: then the usual size does.
    let _ = fcntl_setpipe_size(&output, PIPE_BYTES);
    let outlet = Outlet(Receiver::from_owned_fd(output.into())?);
    let (reads, inlet) = if input {
        let (reads, input) = pipe()?;
        (reads.into(), Some(Inlet { to: Sender::from_owned_fd(input.into())?, terminal: false }))
    } else {
        (File::open("/dev/null")?.into(), None)
    };
    Ok(Ends { outlet, inlet, reads, writes: writes.into() })
}

/// A terminal. It can always be typed on, and shows what is typed if somebody may look.
pub(super) fn terminal(echo: bool) -> io::Result<Ends> {
    let host = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&host)?;
    unlockpt(&host)?;
    let (rows, columns) = PTY_SIZE;
    tcsetwinsize(&host, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })?;
    let reads = ioctl_tiocgptpeer(&host, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    if !echo {
        let mut modes = tcgetattr(&reads)?;
        modes.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&reads, OptionalActions::Now, &modes)?;
    }
    fcntl_setfl(&host, fcntl_getfl(&host)? | OFlags::NONBLOCK)?;
    // The runtime can wait for anything that the kernel can: it only asks whether this is a pipe to be helpful.
    let inlet = Inlet { to: Sender::from_owned_fd_unchecked(host.try_clone()?)?, terminal: true };
    let outlet = Outlet(Receiver::from_owned_fd_unchecked(host)?);
    Ok(Ends { outlet, inlet: Some(inlet), writes: reads.try_clone()?, reads })
}

/// What a command prints.
#[derive(Debug)]
pub(crate) struct Outlet(Receiver);

impl Outlet {
    /// The next of it; nothing at its end.
    pub(crate) async fn next(&mut self, buffer: &mut [u8]) -> usize {
        // A terminal whose last user has gone answers with an error: that is its end.
        self.0.read(buffer).await.unwrap_or(0)
    }
}

/// What a command reads.
#[derive(Debug)]
pub(crate) struct Inlet {
    to: Sender,
    terminal: bool,
}

impl Inlet {
    /// Waits until the command's side has taken all of it.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.to.write_all(bytes).await
    }

    /// Tells the command that nothing more will come.
    pub(crate) async fn close(mut self) -> io::Result<()> {
        match self.terminal {
            true => self.to.write_all(&[END_OF_INPUT]).await,
            false => Ok(()),
        }
    }
}
