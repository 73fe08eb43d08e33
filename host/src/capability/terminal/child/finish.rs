//! A command's way to its end.

use std::{future::Future, io, pin::pin};

use hermes_launch::Report;
use tokio::time::{Instant, sleep_until};

use super::{
    super::{
        Ended, Fault,
        limits::{DRAIN, PIPE_BYTES},
    },
    Child,
    supervisor::Step,
};

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) ended: Ended,
    /// Whether it was made to end.
    pub(crate) stopped: bool,
    /// Names of processes that it left.
    pub(crate) left: Vec<String>,
}

/// What a command does on its way.
pub(crate) enum Event<'a> {
    /// It runs, with this process id.
    Started(u32),
    /// It printed this.
    Printed(&'a [u8]),
}

/// Sees a command to its end: hands over what it does, and ends it with all that came of it once `stop` is there.
pub(crate) async fn finish(
    child: Child,
    stop: impl Future<Output = ()>,
    mut heard: impl FnMut(Event<'_>),
) -> Result<Finished, Fault> {
    let Child { mut hold, mut reports, mut outlet, inlet: _, mut supervisor, remarks: _, afterwards: _afterwards } =
        child;
    let mut stop = pin!(stop);
    let mut buffer = vec![0; PIPE_BYTES];
    let mut finished = Finished { ended: Ended::Lost, stopped: false, left: Vec::new() };
    let (mut printing, mut supervised) = (true, true);
    let mut step = Step::Ask;
    let mut next = Instant::now();
    while printing || supervised {
        tokio::select! {
            count = outlet.next(&mut buffer), if printing => match buffer.get(..count) {
                Some(printed) if count > 0 => heard(Event::Printed(printed)),
                _ => printing = false,
            },
            report = reports.next(), if supervised => match report {
                Some(Report::Started(pid)) => heard(Event::Started(pid)),
                Some(Report::Left(name)) => finished.left.push(name),
                Some(Report::Ended(ended)) => finished.ended = ended,
                Some(Report::Failed(why)) => {
                    return Err(Fault::Machine { what: "start the command", why: io::Error::other(why) });
                }
                Some(Report::Ready | Report::Proxy) => {}
                None => {
                    supervised = false;
                    next = Instant::now() + DRAIN;
                }
            },
            () = &mut stop, if supervised && !finished.stopped => {
                finished.stopped = true;
                next = Instant::now();
            }
            () = sleep_until(next), if supervised && finished.stopped => {
                let patience = step.patience();
                step = hold.insist(step).await;
                next = Instant::now() + patience;
            }
            // Somebody out of reach holds the pipe. All that the command printed was there before it ended.
            () = sleep_until(next), if !supervised => printing = false,
        }
    }
    // It has said its last and is about to exit. Nothing of the command is left, so its answer does not wait for that.
    tokio::spawn(async move { supervisor.wait().await });
    Ok(finished)
}
