//! Names of servers as clients write them: `Host` headers, the places that pages come from, and what the operator allows.
//!
//! One strict reader for all of them. What could be read in two ways is not read at all.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The longest name that DNS has.
const NAME_BYTES: usize = 253;

/// A server's name or address, in one spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Address(IpAddr),
    /// In lower case, without a dot at the end.
    Word(String),
}

impl Name {
    /// Reads `example.com`, `EXAMPLE.com.`, `127.0.0.1` or `[::1]`. Short and octal forms of addresses are no addresses here.
    fn parse(text: &str) -> Option<Self> {
        if let Some(inner) = text.strip_prefix('[') {
            let address: Ipv6Addr = inner.strip_suffix(']')?.parse().ok()?;
            return Some(Self::Address(IpAddr::V6(address).to_canonical()));
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Some(Self::Address(IpAddr::V4(address)));
        }
        let word = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let plain = |label: &str| {
            !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        };
        // A last label of digits is how the short forms of addresses begin: `127.1`, `2130706433`, `0x7f.1`.
        let last = word.rsplit('.').next()?;
        let number = last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x");
        (word.len() <= NAME_BYTES && word.split('.').all(plain) && !number).then_some(Self::Word(word))
    }

    /// Whether it can mean nothing but this machine.
    pub(super) fn is_loopback(&self) -> bool {
        match self {
            Self::Address(address) => address.is_loopback(),
            Self::Word(word) => word == "localhost",
        }
    }
}

/// A name and perhaps a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Authority {
    pub(super) name: Name,
    pub(super) port: Option<u16>,
}

impl Authority {
    /// Reads `name` or `name:port`. No user, no path, no spaces, no empty port.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, Some(parse_port(port)?)),
            _ => (text, None),
        };
        Some(Self { name: Name::parse(name)?, port })
    }
}

impl From<IpAddr> for Authority {
    fn from(address: IpAddr) -> Self {
        Self { name: Name::Address(address.to_canonical()), port: None }
    }
}

/// Where a page that sends a request comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) authority: Authority,
    /// The port of its scheme.
    default_port: u16,
}

impl Origin {
    /// Reads `http://name:port` and `https://name:port`. Everything else is no origin, `null` above all.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let default_port = match scheme {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        Some(Self { authority: Authority::parse(authority)?, default_port })
    }

    /// The port that it is at, written or not.
    pub(super) fn port(&self) -> u16 {
        self.authority.port.unwrap_or(self.default_port)
    }

    pub(super) fn is_at_default_port(&self) -> bool {
        self.port() == self.default_port
    }

    /// Whether the page comes from the very server that the request is for.
    pub(super) fn is_of(&self, host: &Authority) -> bool {
        self.authority.name == host.name && host.port.map_or(self.is_at_default_port(), |port| port == self.port())
    }
}

fn parse_port(text: &str) -> Option<u16> {
    let plain = !text.is_empty() && text.len() <= 5 && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok())?.filter(|port| *port != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        let Authority { name, port } = Authority::parse(text)?;
        let name = match name {
            Name::Address(address) => format!("<{address}>"),
            Name::Word(word) => word,
        };
        Some(format!("{name} {}", port.unwrap_or_default()))
    }

    #[test]
    fn names_and_addresses_have_one_spelling() {
        for (text, expected) in [
            ("localhost", "localhost 0"),
            ("LOCALHOST:7411", "localhost 7411"),
            ("localhost.:7411", "localhost 7411"),
            ("127.0.0.1:7411", "<127.0.0.1> 7411"),
            ("[::1]:7411", "<::1> 7411"),
            ("[::1]", "<::1> 0"),
            ("[0:0:0:0:0:0:0:1]", "<::1> 0"),
            ("[::FFFF:127.0.0.1]:80", "<127.0.0.1> 80"),
            ("tools.example.com", "tools.example.com 0"),
            ("my_box:00080", "my_box 80"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_not_read() {
        let long = "a".repeat(300);
        for text in [
            "",
            ":",
            ":80",
            ".",
            "localhost..",
            "a..b",
            "localhost:",
            "localhost:0",
            "localhost:65536",
            "localhost:+80",
            "localhost:80:80",
            "user@localhost",
            "user:pw@localhost:80",
            "localhost/",
            "localhost#",
            "localhost?x",
            "localhost ",
            " localhost",
            "local host",
            "localhost\t",
            "localhost,evil.com",
            "::1",
            "[::1",
            "::1]",
            "[::1]x",
            "[::1]:",
            "[fe80::1%25eth0]",
            "[127.0.0.1]",
            "127.1",
            "127.0.0.1.",
            "2130706433",
            "0x7f.0.0.1",
            "0x7f000001",
            "0177.0.0.1",
            "127.0.0.01",
            "1.2.3.4.5",
            "ⓛocalhost",
            "xn--\u{e4}",
            "%6cocalhost",
            "localhost%00",
            "\\",
            &long,
        ] {
            assert_eq!(shown(text), None, "{text:?}");
        }
    }

    #[test]
    fn only_pages_of_servers_have_an_origin() {
        for text in
            ["null", "", "file://", "http://", "https:///", "ftp://a", "HTTP://a", "http:a", "http://a/", "http://a b"]
        {
            assert_eq!(Origin::parse(text), None, "{text:?}");
        }
        let is_of = |origin: &str, host: &str| Origin::parse(origin).unwrap().is_of(&Authority::parse(host).unwrap());
        for (origin, host) in [
            ("http://localhost:7411", "localhost:7411"),
            ("http://localhost:7411", "LocalHost.:7411"),
            ("https://a.example", "a.example"),
            ("https://a.example", "a.example:443"),
            ("https://a.example:443", "a.example"),
            ("http://a.example", "a.example:80"),
        ] {
            assert!(is_of(origin, host), "{origin} {host}");
        }
        for (origin, host) in [
            ("http://localhost:3000", "localhost:7411"),
            ("http://localhost", "localhost:7411"),
            ("http://127.0.0.1:7411", "localhost:7411"),
            ("https://a.example", "a.example:80"),
            ("https://a.example:80", "a.example"),
            ("http://evil.example", "a.example"),
        ] {
            assert!(!is_of(origin, host), "{origin} {host}");
        }
    }
}
