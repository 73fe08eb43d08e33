//! Which endpoint is asked, and with what key.

use std::net::IpAddr;

use serde::Deserialize;
use ureq::http::Uri;

/// The table `[approval.reviewer]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewerConfig {
    /// The base address, to which `/chat/completions` is added. HTTPS, or HTTP to this very machine.
    pub url: String,
    /// The model's name there.
    pub model: String,
    /// The name of the environment variable that holds the key, if one is needed.
    pub key_env: Option<String>,
}

/// The reviewer can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReviewerError {
    /// The address is none.
    #[error("approval.reviewer.url {0:?} is no address; write it like \"https://models.example/v1\"")]
    NoAddress(String),
    /// Commands would go over the network in the open.
    #[error("approval.reviewer.url {0:?} must be https: commands and the key would be readable on the way")]
    NotEncrypted(String),
    /// A name and password in the address, a query or a fragment.
    #[error("approval.reviewer.url {0:?} must be a bare base address, without user, query or fragment")]
    NotBare(String),
    /// The variable is not set.
    #[error(
        "approval.reviewer.key_env names {0}, which is not set or empty; set it, or remove key_env if no key is needed"
    )]
    NoKey(String),
    /// The key can't be sent.
    #[error("the key in {0} has characters that no header can hold")]
    BadKey(String),
    /// No model.
    #[error("approval.reviewer.model is empty")]
    NoModel,
}

/// Where to ask. Holds the key, so it is never printed.
pub(super) struct Endpoint {
    pub(super) url: String,
    pub(super) model: String,
    pub(super) key: Option<String>,
}

impl Endpoint {
    pub(super) fn new(
        config: &ReviewerConfig,
        variable: impl FnOnce(&str) -> Option<String>,
    ) -> Result<Self, ReviewerError> {
        check(&config.url)?;
        if config.model.is_empty() {
            return Err(ReviewerError::NoModel);
        }
        let key = match &config.key_env {
            None => None,
            Some(name) => {
                let key = variable(name).filter(|key| !key.is_empty()).ok_or(ReviewerError::NoKey(name.clone()))?;
                if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
                    return Err(ReviewerError::BadKey(name.clone()));
                }
                Some(key)
            }
        };
        let url = format!("{}/chat/completions", config.url.trim_end_matches('/'));
        Ok(Self { url, model: config.model.clone(), key })
    }
}

/// Commands can hold secrets, and the key is one: they leave this machine encrypted or not at all.
fn check(text: &str) -> Result<(), ReviewerError> {
    let no_address = || ReviewerError::NoAddress(text.into());
    // The parser drops fragments.
    if text.contains(['#', '?', '@']) {
        return Err(ReviewerError::NotBare(text.into()));
    }
    let uri: Uri = text.parse().map_err(|_| no_address())?;
    let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(no_address)?;
    match uri.scheme_str() {
        Some("https") => Ok(()),
        Some("http") if is_loopback(host) => Ok(()),
        Some("http") => Err(ReviewerError::NotEncrypted(text.into())),
        _ => Err(no_address()),
    }
}

/// Only addresses: what a name like `localhost` leads to is for others to say.
fn is_loopback(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(url: &str, key: Option<&str>) -> Result<Endpoint, ReviewerError> {
        let config = ReviewerConfig { url: url.into(), model: "small".into(), key_env: key.map(|_| "KEY".into()) };
        Endpoint::new(&config, |_| key.map(str::to_owned))
    }

    #[test]
    fn only_this_machine_is_asked_in_the_open() {
        for url in
            ["https://models.example/v1", "https://models.example:8443/v1/", "http://127.0.0.1:80", "http://[::1]:1/v1"]
        {
            assert!(endpoint(url, None).is_ok_and(|it| it.url.ends_with("/chat/completions")), "{url}");
        }
        for url in [
            "http://models.example",
            "http://127.0.0.1.example",
            "http://localhost:1",
            "http://10.0.0.1",
            "http://[::2]",
        ] {
            assert_eq!(endpoint(url, None).err(), Some(ReviewerError::NotEncrypted(url.into())));
        }
        for url in ["", "models.example", "ftp://models.example", "/v1", "https://", "file:///etc/passwd"] {
            assert_eq!(endpoint(url, None).err(), Some(ReviewerError::NoAddress(url.into())));
        }
        for url in ["http://127.0.0.1@models.example", "https://models.example?x", "https://models.example#x"] {
            assert_eq!(endpoint(url, None).err(), Some(ReviewerError::NotBare(url.into())));
        }
    }

    #[test]
    fn a_missing_or_broken_key_is_named_by_its_variable() {
        assert!(endpoint("https://m.example", Some("sk-1")).is_ok());
        assert_eq!(endpoint("https://m.example", Some("")).err(), Some(ReviewerError::NoKey("KEY".into())));
        assert_eq!(endpoint("https://m.example", Some("a\r\nb: c")).err(), Some(ReviewerError::BadKey("KEY".into())));
    }
}
