//! The line to the supervisor.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
};

use super::super::{
    launch::{END, Report, TERMINATE, tree},
    limits,
};

/// What the supervisor says.
#[derive(Debug)]
pub(super) struct Reports(Lines<BufReader<OwnedReadHalf>>);

impl Reports {
    /// The next report; nothing when the supervisor has gone.
    pub(super) async fn next(&mut self) -> Option<Report> {
        Report::read(&self.0.next_line().await.ok()??)
    }
}

/// Holds a command in this world: when it is dropped, the supervisor ends everything at once.
#[derive(Debug)]
pub(crate) struct Hold {
    orders: OwnedWriteHalf,
    supervisor: i32,
}

/// Both directions of one line.
pub(super) fn line(stream: UnixStream, supervisor: u32) -> (Hold, Reports) {
    let (read, orders) = stream.into_split();
    (Hold { orders, supervisor: supervisor as i32 }, Reports(BufReader::new(read).lines()))
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
