//! Where the server listens, and whom it lets in.

use std::net::SocketAddr;

use super::{
    authority::{Authority, Name, Origin},
    token::Token,
};
use crate::text::one_line;

/// Bytes of a name that an error repeats.
const SHOWN: usize = 80;

/// Where the server listens, what clients may call it, and what they must know.
#[derive(Clone, Debug)]
pub struct Settings {
    address: SocketAddr,
    token: Token,
    named: Vec<Authority>,
}

/// Why a server can't be started like this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// Not a name of a server.
    #[error("{0:?} is no name of a server; write name or name:port, without http:// and without a path")]
    BadHost(String),
}

impl Settings {
    /// A server on this address. `allowed_hosts` are names beside the address's own and those of loopback: `tools.lan` at any port, or
    /// `tools.lan:8080`.
    pub fn new(address: SocketAddr, token: Token, allowed_hosts: &[String]) -> Result<Self, SettingsError> {
        let named = allowed_hosts
            .iter()
            .map(|text| Authority::parse(text).ok_or_else(|| SettingsError::BadHost(one_line(text, SHOWN))));
        Ok(Self { address, token, named: named.collect::<Result<_, _>>()? })
    }

    /// Where to listen.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What clients must know.
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// Whether a client may call the server so. The name decides: a page that had its own name point here still says that name. The
    /// port may be another one where a tunnel ends.
    pub(super) fn allows_host(&self, host: &Authority) -> bool {
        let own = || {
            let ip = self.address.ip();
            !ip.is_unspecified() && host.name == Name::Address(ip.to_canonical())
        };
        let named = |one: &Authority| one.name == host.name && one.port.is_none_or(|port| host.port == Some(port));
        host.name.is_loopback() || own() || self.named.iter().any(named)
    }

    /// Whether a page from there may send requests to this host: one that the server itself gave out, or one of a name that the operator
    /// named. Another server on this machine, at another port, is somebody else.
    pub(super) fn allows_origin(&self, origin: &Origin, host: &Authority) -> bool {
        let named = |one: &Authority| {
            let at = one.port.map_or(origin.is_at_default_port(), |port| port == origin.port());
            one.name == origin.authority.name && at
        };
        origin.is_of(host) || self.named.iter().any(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(address: &str, named: &[&str]) -> Result<Settings, SettingsError> {
        let named: Vec<String> = named.iter().map(|&name| name.to_owned()).collect();
        Settings::new(address.parse().unwrap(), Token::new("0123456789abcdef").unwrap(), &named)
    }

    #[test]
    fn a_name_that_is_none_is_refused() {
        for name in ["", "http://a", "a/", "*", "*.example.com", "a b", "user@a"] {
            let why = settings("127.0.0.1:1", &[name]).unwrap_err().to_string();
            assert!(why.contains("is no name of a server"), "{why}");
        }
    }

    #[test]
    fn hosts_are_loopback_the_own_address_and_what_was_named() {
        let allows = |bound: &str, named: &[&str], host: &str| {
            settings(bound, named).unwrap().allows_host(&Authority::parse(host).unwrap())
        };
        for (bound, named, host, expected) in [
            ("127.0.0.1:7411", &[][..], "localhost:7411", true),
            ("127.0.0.1:7411", &[], "127.0.0.1:7411", true),
            ("127.0.0.1:7411", &[], "[::1]:7411", true),
            ("127.0.0.1:7411", &[], "localhost:9000", true),
            ("127.0.0.1:7411", &[], "evil.example:7411", false),
            ("127.0.0.1:7411", &[], "localhost.evil.example", false),
            ("127.0.0.1:7411", &[], "0.0.0.0:7411", false),
            ("127.0.0.1:7411", &[], "192.168.1.5:7411", false),
            ("0.0.0.0:7411", &[], "0.0.0.0:7411", false),
            ("0.0.0.0:7411", &[], "192.168.1.5:7411", false),
            ("192.168.1.5:7411", &[], "192.168.1.5:7411", true),
            ("0.0.0.0:7411", &["tools.lan"], "tools.lan:7411", true),
            ("0.0.0.0:7411", &["tools.lan"], "TOOLS.lan.", true),
            ("0.0.0.0:7411", &["tools.lan:80"], "tools.lan:7411", false),
            ("0.0.0.0:7411", &["tools.lan:7411"], "tools.lan:7411", true),
            ("0.0.0.0:7411", &["tools.lan"], "a.tools.lan", false),
        ] {
            assert_eq!(allows(bound, named, host), expected, "{bound} {named:?} {host}");
        }
    }

    #[test]
    fn pages_are_the_servers_own_or_of_a_named_server() {
        let allows = |named: &[&str], origin: &str| {
            let host = Authority::parse("localhost:7411").unwrap();
            settings("127.0.0.1:7411", named).unwrap().allows_origin(&Origin::parse(origin).unwrap(), &host)
        };
        for (named, origin, expected) in [
            (&[][..], "http://localhost:7411", true),
            (&[], "http://localhost:3000", false),
            (&[], "http://127.0.0.1:7411", false),
            (&[], "http://evil.example", false),
            (&["localhost:3000"], "http://localhost:3000", true),
            (&["localhost:3000"], "http://localhost:3001", false),
            (&["app.example"], "https://app.example", true),
            (&["app.example"], "https://app.example:8443", false),
            (&["app.example"], "https://app.example.evil", false),
        ] {
            assert_eq!(allows(named, origin), expected, "{named:?} {origin}");
        }
    }
}
