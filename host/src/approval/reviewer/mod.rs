//! A model that looks at commands before a person does. It may let one run pass; it may refuse nothing for good, and whatever
//! goes wrong with it leaves the question to a person.

mod config;
mod exchange;
mod prompt;
#[cfg(test)]
pub(super) mod tests;

use std::{fmt, sync::Arc, time::Duration};

use tokio::sync::Semaphore;

pub use config::{ReviewerConfig, ReviewerError};

use super::shell::Category;
use config::Endpoint;

/// How long a review may take, all of it. A person waits behind it.
const TIMEOUT: Duration = Duration::from_secs(20);

/// How many reviews run at once. Each holds a thread until it ends; those beyond wait, and their time runs.
const CONCURRENT: usize = 4;

/// What the reviewer said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {
    /// Let it run, this once.
    Approve,
    /// Do not. A person may still decide otherwise.
    Deny,
    /// A person decides: the reviewer said so, said something else, or said nothing.
    Escalate,
}

/// Somebody at an OpenAI-compatible endpoint.
#[derive(Clone)]
pub struct Reviewer {
    endpoint: Arc<Endpoint>,
    places: Arc<Semaphore>,
    timeout: Duration,
}

/// Without the key.
impl fmt::Debug for Reviewer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reviewer").field("url", &self.endpoint.url).field("model", &self.endpoint.model).finish()
    }
}

impl Reviewer {
    /// A reviewer as configured. `variable` reads an environment variable: the key never stands in the file.
    pub fn new(config: &ReviewerConfig, variable: impl FnOnce(&str) -> Option<String>) -> Result<Self, ReviewerError> {
        let endpoint = Arc::new(Endpoint::new(config, variable)?);
        Ok(Self { endpoint, places: Arc::new(Semaphore::new(CONCURRENT)), timeout: TIMEOUT })
    }

    /// The same, in less patience.
    #[cfg(test)]
    pub(super) fn within(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Asks about one command. Never fails: what goes wrong escalates.
    pub(super) async fn review(&self, command: &str, directory: Option<&str>, categories: &[Category]) -> Review {
        let Ok(messages) = prompt::messages(command, directory, categories) else { return Review::Escalate };
        let (endpoint, places, timeout) = (Arc::clone(&self.endpoint), Arc::clone(&self.places), self.timeout);
        let asked = async move {
            let place = places.acquire_owned().await.ok()?;
            let exchange = move || {
                // The place is held as long as the thread is, even if nobody waits for it any more.
                let _place = place;
                exchange::ask(&endpoint, &messages, timeout)
            };
            tokio::task::spawn_blocking(exchange).await.ok()?
        };
        match tokio::time::timeout(self.timeout, asked).await {
            Ok(Some(said)) => prompt::understand(&said),
            Ok(None) | Err(_) => Review::Escalate,
        }
    }
}
