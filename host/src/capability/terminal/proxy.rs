//! The network of a confined command that has namespaces: a proxy on the loopback of its own network, answered by the host.
//!
//! The launcher opens the port in the command's network and hands the listener over; the host accepts there and dials from its own
//! network. A target is resolved once, and every address of it must be globally routable: neither the loopback of this machine nor
//! its private networks are in reach. Programs find the proxy through `http_proxy` and its relatives.

use std::{
    future::Future,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream, lookup_host},
    sync::Semaphore,
    task::JoinSet,
    time::timeout,
};

/// Connections of one command at once. A package manager opens some dozens.
const CONNECTIONS: usize = 64;

/// Bytes of a request's head.
const HEAD_BYTES: usize = 16 * 1024;

/// For the head of a request, and for name and connection each.
const STEP_TIMEOUT: Duration = Duration::from_secs(20);

/// After a connection that could not be accepted.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// Answers every connection until it is dropped, which ends them.
pub(crate) async fn serve(listener: std::net::TcpListener) {
    let Ok(listener) = listener.set_nonblocking(true).and_then(|()| TcpListener::from_std(listener)) else { return };
    accept(listener, is_public).await;
}

/// Whether an address is public and not one of this machine's own. A socket can be bound to the latter alone; where that can't be told,
/// the address is refused.
fn is_public(address: IpAddr) -> bool {
    let is_foreign =
        || std::net::UdpSocket::bind((address, 0)).is_err_and(|why| why.kind() == io::ErrorKind::AddrNotAvailable);
    is_global(address) && is_foreign()
}

async fn accept(listener: TcpListener, may_reach: fn(IpAddr) -> bool) {
    let permits = Arc::new(Semaphore::new(CONNECTIONS));
    let mut open = JoinSet::new();
    while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
        let Ok((client, _)) = listener.accept().await else {
            // The host is short of descriptors, or the client has gone.
            tokio::time::sleep(RETRY_DELAY).await;
            continue;
        };
        open.spawn(async move {
            // A connection that fails is the client's to notice.
            let _ = answer(client, may_reach).await;
            drop(permit);
        });
        while open.try_join_next().is_some() {}
    }
}

async fn answer(mut client: TcpStream, may_reach: fn(IpAddr) -> bool) -> io::Result<()> {
    let Some((head, rest)) = within(read_head(&mut client)).await? else {
        return refuse(&mut client, 400, "the proxy could not read the request").await;
    };
    let Some(request) = ProxyRequest::parse(&head) else {
        return refuse(&mut client, 400, "the proxy takes CONNECT and http:// alone").await;
    };
    let addresses: Vec<SocketAddr> = match within(lookup_host((request.host.as_str(), request.port))).await {
        Ok(addresses) => addresses.collect(),
        Err(why) => return refuse(&mut client, 502, &format!("{} was not found: {why}", request.host)).await,
    };
    if addresses.is_empty() || !addresses.iter().all(|address| may_reach(address.ip())) {
        let why =
            format!("{} is no public address: a confined command does not reach this machine's networks", request.host);
        return refuse(&mut client, 403, &why).await;
    }
    let mut server = match within(TcpStream::connect(&*addresses)).await {
        Ok(server) => server,
        Err(why) => return refuse(&mut client, 502, &format!("{} does not answer: {why}", request.host)).await,
    };
    match request.forwarded {
        Some(head) => server.write_all(head.as_bytes()).await?,
        None => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?,
    }
    server.write_all(&rest).await?;
    copy_bidirectional(&mut client, &mut server).await.map(drop)
}

async fn within<T>(step: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout(STEP_TIMEOUT, step).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

async fn refuse(client: &mut TcpStream, status: u16, why: &str) -> io::Result<()> {
    let body = format!("{why}\n");
    let head = format!(
        "HTTP/1.1 {status} Refused\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    client.write_all((head + &body).as_bytes()).await
}

/// The head of a request, and what came with it. Nothing, if it is too long or no text.
async fn read_head(client: &mut TcpStream) -> io::Result<Option<(String, Vec<u8>)>> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 2048];
    loop {
        if let Some(end) = memchr::memmem::find(&bytes, b"\r\n\r\n") {
            let rest = bytes.split_off(end + 4);
            return Ok(String::from_utf8(bytes).ok().map(|head| (head, rest)));
        }
        let count = client.read(&mut buffer).await?;
        if count == 0 || bytes.len() + count > HEAD_BYTES {
            return Ok(None);
        }
        bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
    }
}

/// What a command asks the proxy for.
#[derive(Debug, PartialEq, Eq)]
struct ProxyRequest {
    host: String,
    port: u16,
    /// The head as the server gets it, where the request is not for a tunnel.
    forwarded: Option<String>,
}

impl ProxyRequest {
    fn parse(head: &str) -> Option<Self> {
        let (first, headers) = head.split_once("\r\n")?;
        let mut words = first.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if method == "CONNECT" {
            let (host, port) = authority(target, None)?;
            return Some(Self { host, port, forwarded: None });
        }
        let rest = target.strip_prefix("http://")?;
        let (place, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
        let (host, port) = authority(place, Some(80))?;
        // One request for a connection: the next one may be for another host.
        let kept = headers.split("\r\n").filter(|line| {
            let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
            !line.is_empty() && !name.starts_with("proxy-") && name != "connection"
        });
        let kept: String = kept.map(|line| format!("{line}\r\n")).collect();
        let forwarded = Some(format!("{method} {path} {version}\r\n{kept}Connection: close\r\n\r\n"));
        Some(Self { host, port, forwarded })
    }
}

fn authority(text: &str, default: Option<u16>) -> Option<(String, u16)> {
    if text.contains('@') {
        return None;
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port.parse().ok()?)),
        _ => (text, None),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    (!host.is_empty()).then_some((host.to_owned(), port.or(default)?))
}

/// Networks of IPv4 that lead to no public host, by IANA's registry of special-purpose addresses.
const SPECIAL_V4: [(Ipv4Addr, u32); 15] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// The same of the global unicast range of IPv6; everything outside that range is special.
const SPECIAL_V6: [(Ipv6Addr, u32); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// The global unicast range of IPv6.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Whether an address leads to a public host.
fn is_global(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let bits = u32::from(address);
            !SPECIAL_V4.iter().any(|(net, length)| (bits ^ u32::from(*net)) >> (32 - length) == 0)
        }
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => is_global(IpAddr::V4(address)),
            None => {
                let bits = u128::from(address);
                let lies_in = |(net, length): &(Ipv6Addr, u32)| (bits ^ u128::from(*net)) >> (128 - length) == 0;
                lies_in(&GLOBAL_V6) && !SPECIAL_V6.iter().any(lies_in)
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_reached() {
        for address in ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1"] {
            assert!(is_global(address.parse().unwrap()), "{address}");
        }
        for address in [
            "127.0.0.1",
            "0.0.0.0",
            "10.1.2.3",
            "172.31.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.100.100.200",
            "192.0.0.192",
            "198.19.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:0:1::",
            "fd00::1",
            "fe80::1",
            "fec0::1",
            "2001:db8::1",
        ] {
            assert!(!is_global(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn a_request_names_its_host_and_loses_what_is_the_proxys() {
        let parse = |head: &str| ProxyRequest::parse(head);
        let tunnel = parse("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n").unwrap();
        assert_eq!(tunnel, ProxyRequest { host: "a.example".into(), port: 443, forwarded: None });
        let plain = parse("GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\nProxy-Connection: x\r\n\r\n").unwrap();
        let forwarded = "GET /x HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n".to_owned();
        assert_eq!(plain, ProxyRequest { host: "a.example".into(), port: 80, forwarded: Some(forwarded) });
        assert_eq!(parse("CONNECT [::1]:443 HTTP/1.1\r\n\r\n").unwrap().host, "::1");
        for bad in
            ["GET / HTTP/1.1\r\n\r\n", "CONNECT a HTTP/1.1\r\n\r\n", "CONNECT u@a:1 HTTP/1.1\r\n\r\n", "x\r\n\r\n"]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    async fn exchange(may_reach: fn(IpAddr) -> bool, connect: bool) -> (String, bool) {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = server.local_addr().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let proxy = tokio::spawn(accept(listener, may_reach));
        let served = tokio::spawn(async move {
            let (mut stream, _) = server.accept().await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").await.unwrap();
        });
        let mut client = TcpStream::connect(at).await.unwrap();
        let request = match connect {
            true => format!("CONNECT {target} HTTP/1.1\r\n\r\n"),
            false => format!("GET http://{target}/ HTTP/1.1\r\n\r\n"),
        };
        client.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        client.read_to_string(&mut text).await.unwrap();
        let reached = served.is_finished();
        served.abort();
        proxy.abort();
        (text, reached)
    }

    #[tokio::test]
    async fn the_loopback_of_the_machine_is_refused_before_a_connection() {
        for connect in [true, false] {
            let (text, reached) = exchange(is_global, connect).await;
            assert!(text.starts_with("HTTP/1.1 403") && text.contains("no public address"), "{text}");
            assert!(!reached);
        }
    }

    #[tokio::test]
    async fn what_may_be_reached_is_passed_on_both_ways() {
        let (text, _) = exchange(|_| true, true).await;
        assert!(text.starts_with("HTTP/1.1 200 Connection established") && text.ends_with("hi"), "{text}");
        let (text, _) = exchange(|_| true, false).await;
        assert!(text.ends_with("hi"), "{text}");
    }
}
