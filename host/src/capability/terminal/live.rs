//! Output as it comes: whoever follows a call hears the last line that its command printed, now and then.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use super::{
    Sink,
    limits::{LIVE_BYTES, LIVE_EVERY},
};
use crate::{
    capability::fs::mask,
    sandbox::{Progress, ProgressListener},
    text::one_line,
};

/// The shortest line of encoded bytes that may be a key's. The lines of a key have 64 or 76, all but the last.
const ENCODED: usize = 40;

/// Tells a listener of output. `done` counts the bytes.
pub(super) fn told(listener: ProgressListener) -> Sink {
    let state = Mutex::new((0_u64, None::<Instant>));
    Arc::new(move |bytes: &[u8]| {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += bytes.len() as u64;
        if state.1.is_some_and(|told| told.elapsed() < LIVE_EVERY) {
            return;
        }
        state.1 = Some(Instant::now());
        listener(Progress { done: state.0, total: None, message: last_line(bytes) });
    })
}

/// The last line that says something, with its secrets masked.
fn last_line(bytes: &[u8]) -> Option<String> {
    let mut lines = bytes.rsplit(|byte| matches!(byte, b'\n' | b'\r'));
    Some(shown(lines.find(|line| !line.trim_ascii().is_empty())?))
}

/// A line by itself, with its secrets masked. One of a key's body is not told from other encoded bytes, so none of those is shown.
pub(super) fn shown(line: &[u8]) -> String {
    let encoded = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    let text = line.trim_ascii();
    if text.len() >= ENCODED && text.iter().all(encoded) {
        return "(encoded bytes)".into();
    }
    let mut line = line.to_vec();
    mask(&mut line);
    one_line(&String::from_utf8_lossy(&line), LIVE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_told_and_not_too_often() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ear = Arc::clone(&heard);
        let sink = told(Arc::new(move |progress| ear.lock().unwrap().push(progress)));
        sink(b"one\ntwo\n\n");
        sink(b"three\n");
        let heard = heard.lock().unwrap();
        assert_eq!(heard.len(), 1, "{heard:?}");
        assert_eq!((heard[0].done, heard[0].message.as_deref()), (9, Some("two")));
    }

    #[test]
    fn what_is_told_obeys_nothing_and_shows_no_key() {
        let told = last_line(b"a\x1b[2J ghp_16C7e42F292c6912E7710c838347Ae178B4a\n").unwrap();
        assert!(!told.contains('\x1b') && !told.contains("ghp_16C7e42F292c6912E7710c838347Ae178B4a"), "{told}");
    }
}
