//! The line to the supervisor.

use std::{
    io::{self, Cursor, IoSliceMut},
    mem::MaybeUninit,
    net::TcpListener,
    time::Duration,
};

use hermes_launch::{END, Report, TERMINATE, tree};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Chain, Interest, Lines},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
};
use tokio_util::task::AbortOnDropHandle;

use super::super::{limits, proxy};

/// What the supervisor says.
#[derive(Debug)]
pub(super) struct Reports {
    source: ReportSource,
    /// The proxy that the command has, until it is dropped.
    proxy: Option<AbortOnDropHandle<()>>,
}

#[derive(Debug)]
enum ReportSource {
    /// The listener of the proxy comes before the first line.
    Proxied(OwnedReadHalf),
    Lines(Lines<BufReader<Chain<Cursor<Vec<u8>>, OwnedReadHalf>>>),
    /// The line broke.
    Closed,
}

impl Reports {
    /// The next report; nothing when the supervisor has gone.
    pub(super) async fn next(&mut self) -> Option<Report> {
        loop {
            match &mut self.source {
                ReportSource::Closed => return None,
                ReportSource::Lines(lines) => return Report::read(&lines.next_line().await.ok()??),
                ReportSource::Proxied(half) => {
                    // A dropped future has read nothing: the message is taken in one piece.
                    let received = receive(half).await;
                    let source = std::mem::replace(&mut self.source, ReportSource::Closed);
                    let (Ok((bytes, listener)), ReportSource::Proxied(half)) = (received, source) else { return None };
                    self.proxy = listener.map(|listener| AbortOnDropHandle::new(tokio::spawn(proxy::serve(listener))));
                    self.source = lines(bytes, half);
                }
            }
        }
    }
}

fn lines(first: Vec<u8>, half: OwnedReadHalf) -> ReportSource {
    ReportSource::Lines(BufReader::new(Cursor::new(first).chain(half)).lines())
}

/// The first bytes, and the listener that came with them.
async fn receive(half: &OwnedReadHalf) -> io::Result<(Vec<u8>, Option<TcpListener>)> {
    let stream: &UnixStream = half.as_ref();
    loop {
        stream.readable().await?;
        let taken = stream.try_io(Interest::READABLE, || {
            let mut bytes = vec![0; Report::Proxy.line().len()];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut ancillary = RecvAncillaryBuffer::new(&mut space);
            let into = &mut [IoSliceMut::new(&mut bytes)];
            let count = recvmsg(stream, into, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?.bytes;
            bytes.truncate(count);
            let descriptors = ancillary.drain().filter_map(|message| match message {
                RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
                _ => None,
            });
            Ok((bytes, descriptors.flatten().next().map(TcpListener::from)))
        });
        match taken {
            Err(why) if why.kind() == io::ErrorKind::WouldBlock => {}
            taken => return taken,
        }
    }
}

/// Holds a command in this world: when it is dropped, the supervisor ends everything at once.
#[derive(Debug)]
pub(crate) struct Hold {
    orders: OwnedWriteHalf,
    supervisor: i32,
}

/// Both directions of one line.
pub(super) fn line(stream: UnixStream, supervisor: u32, has_proxy: bool) -> (Hold, Reports) {
    let (read, orders) = stream.into_split();
    let source = if has_proxy { ReportSource::Proxied(read) } else { lines(Vec::new(), read) };
    (Hold { orders, supervisor: supervisor as i32 }, Reports { source, proxy: None })
}

/// The line breaks, and a supervisor that was stopped goes on to notice it.
impl Drop for Hold {
    fn drop(&mut self) {
        tree::wake(self.supervisor);
    }
}

impl Hold {
    /// Asks every process of the command to end.
    pub(crate) async fn terminate(&mut self) -> io::Result<()> {
        self.orders.write_all(&[TERMINATE]).await
    }

    /// Ends every process of the command.
    pub(crate) async fn end(&mut self) -> io::Result<()> {
        self.orders.write_all(&[END]).await
    }

    /// Ends them without the supervisor, which does not answer: the command may have stopped it.
    pub(super) async fn end_without(&self) {
        let supervisor = self.supervisor;
        let work = move || {
            tree::end(supervisor, limits::STUCK);
            tree::kill(supervisor);
        };
        let _ = tokio::task::spawn_blocking(work).await;
    }

    /// Asks, then insists, then does it itself: whatever the command does, this comes to an end.
    pub(super) async fn insist(&mut self, step: Step) -> Step {
        // A line that broke has ended everything already.
        let _ = match step {
            Step::Ask => self.terminate().await,
            Step::Insist => self.end().await,
            Step::Force => {
                self.end_without().await;
                Ok(())
            }
        };
        match step {
            Step::Ask => Step::Insist,
            Step::Insist | Step::Force => Step::Force,
        }
    }
}

/// How a command is ended, mildly at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Ask,
    Insist,
    Force,
}

impl Step {
    /// How long it is given before the next.
    pub(super) const fn patience(self) -> Duration {
        match self {
            Self::Ask => limits::GRACE,
            Self::Insist | Self::Force => limits::STUCK,
        }
    }
}
