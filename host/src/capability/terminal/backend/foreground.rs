//! A command whose caller waits for its end.

use std::{future::pending, time::Duration};

use tokio::time::sleep;

use super::super::{
    Captured, Child, Ended, Fault, Input, Request, What,
    child::{Event, Finished, finish},
    limits::{COMMAND_BYTES, STATE_BYTES, TIMEOUT, TIMEOUT_MAX},
    output::Window,
};

/// What is wrong with a request, before anything is run.
pub(super) fn check(request: &Request) -> Result<(), Fault> {
    let words: Vec<&[u8]> = match &request.what {
        What::Shell(command) => vec![command.as_bytes()],
        What::Exec { program, arguments } => {
            [program].into_iter().chain(arguments).map(|word| word.as_encoded_bytes()).collect()
        }
    };
    let size = words.iter().map(|word| word.len()).sum();
    if size > COMMAND_BYTES {
        return Err(Fault::Command(size));
    }
    if words.iter().any(|word| word.contains(&0)) {
        return Err(Fault::Nul);
    }
    Ok(())
}

/// How long a request may take.
pub(super) fn timeout(request: &Request) -> Result<Duration, Fault> {
    match request.timeout {
        Some(asked) if asked > TIMEOUT_MAX => Err(Fault::Timeout(asked)),
        asked => Ok(asked.unwrap_or(TIMEOUT)),
    }
}

/// Feeds a child what it is to read, and takes what it prints until its end or its deadline.
pub(super) async fn to_the_end(
    mut child: Child,
    request: &Request,
    timeout: Duration,
) -> Result<(Finished, Captured), Fault> {
    let inlet = child.inlet.take();
    let feed = async {
        if let Some(mut inlet) = inlet {
            // A command need not read what it is given.
            if let Input::Bytes(bytes) = &request.input {
                let _ = inlet.write(bytes).await;
            }
            let _ = inlet.close().await;
        }
        pending::<()>().await
    };
    let mut window = Window::default();
    let heard = |event: Event<'_>| {
        if let Event::Printed(bytes) = event {
            if let Some(sink) = &request.sink {
                sink(bytes);
            }
            window.push(bytes);
        }
    };
    let mut finished = tokio::select! {
        finished = finish(child, sleep(timeout), heard) => finished?,
        // It never ends.
        () = feed => return Err(Fault::Nul),
    };
    if finished.stopped {
        finished.ended = Ended::Timeout;
    }
    Ok((finished, window.close()))
}

/// The first bytes that a small command of our own prints, if it does not fail.
pub(super) async fn bytes_of(child: Child) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let heard = |event: Event<'_>| {
        if let Event::Printed(printed) = event {
            bytes.extend_from_slice(printed);
            bytes.truncate(STATE_BYTES as usize);
        }
    };
    let finished = finish(child, sleep(TIMEOUT), heard).await.ok()?;
    (finished.ended == Ended::Exit(0)).then_some(bytes)
}
