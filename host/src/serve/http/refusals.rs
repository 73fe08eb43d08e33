//! The log of clients that did not know the token: an operator should see somebody who tries, and a log is not flooded by one.

use std::{
    net::SocketAddr,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use super::limits::REFUSAL_LOG_INTERVAL;

/// Where a request comes from. The server puts it into each.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerAddress(pub(super) SocketAddr);

/// At most one line in [`REFUSAL_LOG_INTERVAL`]. The next one says how many clients came between.
#[derive(Debug, Default)]
pub(super) struct TokenRefusals(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    last: Option<Instant>,
    /// Refused since the last line.
    unsaid: u64,
}

impl TokenRefusals {
    /// A client was refused: logs it, or counts it.
    pub(super) fn note(&self, client: Option<PeerAddress>, why: &str) {
        if let Some(line) = self.line(Instant::now(), client, why) {
            tracing::warn!("{line}");
        }
    }

    fn line(&self, now: Instant, client: Option<PeerAddress>, why: &str) -> Option<String> {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.last.is_some_and(|last| now.saturating_duration_since(last) < REFUSAL_LOG_INTERVAL) {
            noted.unsaid += 1;
            return None;
        }
        let before = match std::mem::take(&mut noted.unsaid) {
            0 => String::new(),
            1 => "; 1 other request was refused since the last such line".to_owned(),
            more => format!("; {more} other requests were refused since the last such line"),
        };
        noted.last = Some(now);
        let client = client.map_or_else(|| "an unknown address".to_owned(), |PeerAddress(address)| address.to_string());
        Some(format!("refused a request from {client}: {why}{before}"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn one_line_names_the_client_and_a_flood_is_counted() {
        let (refusals, start) = (TokenRefusals::default(), Instant::now());
        let client = Some(PeerAddress("127.0.0.1:9".parse().unwrap()));
        let line = |after| refusals.line(start + after, client, "wrong token");
        let short = REFUSAL_LOG_INTERVAL / 10;
        assert_eq!(line(Duration::ZERO).unwrap(), "refused a request from 127.0.0.1:9: wrong token");
        assert_eq!([line(short), line(short * 2), line(short * 9)], [None, None, None]);
        assert!(
            line(REFUSAL_LOG_INTERVAL).unwrap().ends_with("; 3 other requests were refused since the last such line")
        );
        assert_eq!(line(REFUSAL_LOG_INTERVAL + short), None);
        assert!(line(REFUSAL_LOG_INTERVAL * 3).unwrap().contains("1 other request was"));
    }
}
