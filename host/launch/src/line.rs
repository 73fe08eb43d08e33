//! A launch on its way: from the host to the supervisor, and from there to the stage that starts the command.
//!
//! Three descriptors travel in one message: what the command reads, what it writes to, and a file in memory that holds the launch. No
//! part of the launch is an argument or a variable of the launcher, so no loader obeys a variable of the command before the command
//! starts.

use std::{
    fs::File,
    io::{self, IoSlice, IoSliceMut, Write},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::FileExt,
    },
};

use rustix::{
    fs::{MemfdFlags, memfd_create},
    io::{Errno, retry_on_intr},
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
        recvmsg, sendmsg,
    },
};

use crate::Launch;

/// The byte that carries the descriptors.
const LAUNCH: u8 = b'l';

/// Descriptors of one message, at most: those of a launch.
const DESCRIPTORS: usize = 3;

/// A launch with the ends of its pipes or of its terminal.
#[derive(Debug)]
pub struct LaunchMessage {
    reads: OwnedFd,
    writes: OwnedFd,
    launch: File,
}

impl LaunchMessage {
    /// A message for a command that reads and writes here.
    pub fn new(launch: &Launch, reads: OwnedFd, writes: OwnedFd) -> io::Result<Self> {
        let mut file = File::from(memfd_create(c"launch", MemfdFlags::CLOEXEC)?);
        file.write_all(&serde_json::to_vec(launch)?)?;
        Ok(Self { reads, writes, launch: file })
    }

    /// Sends it. The line holds one message without a reader.
    pub fn send(&self, line: impl AsFd) -> io::Result<()> {
        let descriptors = [self.reads.as_fd(), self.writes.as_fd(), self.launch.as_fd()];
        send_with_descriptors(line, &[LAUNCH], &descriptors)
    }

    /// Waits for one. Nothing, if the other side has gone.
    pub(crate) fn receive(line: impl AsFd) -> io::Result<Option<Self>> {
        let mut byte = [0];
        let (count, descriptors) = receive_with_descriptors(line, &mut byte)?;
        let mut descriptors = descriptors.into_iter();
        match (count, byte, descriptors.next(), descriptors.next(), descriptors.next()) {
            (0, ..) => Ok(None),
            (_, [LAUNCH], Some(reads), Some(writes), Some(launch)) => {
                Ok(Some(Self { reads, writes, launch: launch.into() }))
            }
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, "the message holds no launch")),
        }
    }

    /// What the command reads, what it writes to, and the launch.
    pub(crate) fn open(self) -> io::Result<(OwnedFd, OwnedFd, Launch)> {
        let size = self.launch.metadata()?.len();
        let mut bytes = vec![0; usize::try_from(size).map_err(io::Error::other)?];
        // The position of the file belongs to its writer, too.
        self.launch.read_exact_at(&mut bytes, 0)?;
        Ok((self.reads, self.writes, serde_json::from_slice(&bytes)?))
    }
}

/// Waits for bytes, and gives their number and the descriptors that came with them. No bytes mean that the other side has gone.
pub(crate) fn receive_with_descriptors(line: impl AsFd, bytes: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        match recvmsg(&line, &mut [IoSliceMut::new(bytes)], &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            // The other side went with messages unread.
            Err(Errno::CONNRESET) => return Ok((0, Vec::new())),
            received => break received?,
        }
    };
    let descriptors = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    Ok((received.bytes, descriptors.flatten().collect()))
}

/// Sends bytes, and with their first these descriptors.
pub(crate) fn send_with_descriptors(line: impl AsFd, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
    // A reader that has gone is an error here, not a signal.
    retry_on_intr(|| sendmsg(&line, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::Stage;

    fn null() -> OwnedFd {
        File::options().read(true).write(true).open("/dev/null").unwrap().into()
    }

    #[test]
    fn a_launch_passes_two_lines_and_stays_what_it_was() {
        let launch = Launch {
            words: vec!["echo".into(), "a\nb".into()],
            variables: vec![("A".into(), "x".repeat(300_000).into())],
            cwd: "/tmp".into(),
            stage: Stage::default(),
        };
        let ((host, supervisor), (above, stage)) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
        LaunchMessage::new(&launch, null(), null()).unwrap().send(&host).unwrap();
        LaunchMessage::receive(&supervisor).unwrap().unwrap().send(&above).unwrap();
        let (_, _, read) = LaunchMessage::receive(&stage).unwrap().unwrap().open().unwrap();
        assert_eq!((read.words, read.variables), (launch.words, launch.variables));
    }

    #[test]
    fn a_line_that_ends_brings_no_launch_and_a_bare_byte_is_refused() {
        let (ours, its) = UnixStream::pair().unwrap();
        (&ours).write_all(b"l").unwrap();
        assert!(LaunchMessage::receive(&its).is_err());
        drop(ours);
        assert!(LaunchMessage::receive(&its).unwrap().is_none());
    }
}
