//! Clients that mean harm, or do it: each is refused or bounded, and others are served meanwhile.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use hermes_host::serve::http::limits::{
    BODIES_BYTES, BODY_BYTES, BODY_WAIT, CONNECTIONS, DISCARD_BYTES, HEADER_WAIT, SMALL_BODY_BYTES, WRITE_WAIT,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use super::{ENDLESS, PATIENCE, Serving, TOKEN, client::Reply, inside::Inside, kind, openapi::assert_described, until};
use crate::{cli::Place, guest, heap};

/// How far past its time a connection may be.
const GRACE: Duration = PATIENCE;

/// A server with a good tool.
fn good() -> (Place, Serving) {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    let serving = Serving::start(&place);
    (place, serving)
}

/// Another client is served, and soon.
fn assert_served(serving: &Serving) {
    let start = Instant::now();
    let reply = serving.call("good");
    assert_eq!((reply.status, reply.body.as_str()), (200, "\"ok\""));
    assert_eq!(serving.client.get("/healthz").status, 200);
    assert!(start.elapsed() < GRACE, "{:?}", start.elapsed());
}

#[test]
fn a_page_of_another_site_calls_nothing() {
    let (_place, serving) = good();
    let body = r#"{"name": "good"}"#;
    let send = |origin: &str| {
        let more = format!("Content-Type: application/json\r\nContent-Length: {}\r\n{origin}\r\n", body.len());
        serving.client.raw(&format!("{}{body}", serving.client.head("POST", "/v1/call", &more)))
    };
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "https://localhost.evil.example", "file://"] {
        let reply = send(&format!("Origin: {origin}"));
        assert_eq!(kind(&reply), (403, "forbidden-origin".to_owned()), "{origin}");
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
    assert_eq!(kind(&send("Sec-Fetch-Site: cross-site")).1, "forbidden-origin");
    assert_eq!(send(&format!("Origin: http://127.0.0.1:{}", serving.client.port)).status, 200);
    assert_eq!(serving.figure(r#"hermes_calls_total{tool="good",outcome="ok"}"#), 1.0);
}

#[test]
fn a_name_that_points_here_is_not_a_name_of_this_server() {
    let (_place, serving) = good();
    let port = serving.client.port;
    let send = |target: &str, hosts: &str| {
        let token = format!("Authorization: Bearer {TOKEN}\r\n");
        serving.client.raw(&format!("GET {target} HTTP/1.1\r\n{hosts}{token}Connection: close\r\n\r\n"))
    };
    for (target, hosts) in [
        ("/v1/tools", format!("Host: evil.example:{port}\r\n")),
        ("/healthz", "Host: evil.example\r\n".to_owned()),
        ("/mcp", "Host: evil.example\r\n".to_owned()),
        ("/v1/tools", format!("Host: 0.0.0.0:{port}\r\n")),
        ("/v1/tools", format!("Host: localhost.evil.example:{port}\r\n")),
        ("/v1/tools", format!("Host: user@127.0.0.1:{port}\r\n")),
        ("/v1/tools", format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n")),
        ("/v1/tools", String::new()),
        ("http://evil.example/v1/tools", format!("Host: 127.0.0.1:{port}\r\n")),
    ] {
        assert_eq!(kind(&send(target, &hosts)), (403, "forbidden-host".to_owned()), "{target} {hosts}");
    }
    for host in ["localhost", "LOCALHOST.", "127.0.0.1", "[::1]"] {
        assert_eq!(send("/v1/tools", &format!("Host: {host}:{port}\r\n")).status, 200, "{host}");
    }
}

#[test]
fn a_body_of_5_mb_is_refused_however_it_is_sent() {
    let (_place, serving) = good();
    let client = serving.client;
    let body = format!(r#"{{"name": "good", "arguments": {{"x": "{}"}}}}"#, "x".repeat(5_000_000));
    let whole = client.post_text("/v1/call", &body);
    let chunked = client.head("POST", "/v1/call", "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n");
    let chunked = format!("{chunked}{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let waiting = "Content-Type: application/json\r\nContent-Length: 5000000\r\nExpect: 100-continue\r\n";
    for request in [whole, chunked, client.head("POST", "/v1/call", waiting)] {
        assert_eq!(kind(&client.raw(&request)), (413, "too-large".to_owned()), "{:.300}", request);
    }
    // One that says so and never ends is not read to its end.
    let endless = client.head("POST", "/v1/call", "Content-Type: application/json\r\nContent-Length: 99999999999\r\n");
    let mut stream = client.connect();
    stream.write_all(endless.as_bytes()).unwrap();
    let mut written = 0;
    while stream.write_all(&[b'x'; 65_536]).is_ok() {
        written += 65_536;
        // What the server reads, and what the system holds for both ends of a connection.
        assert!(written < 4 * (BODY_BYTES + DISCARD_BYTES), "it reads for ever");
    }
    assert_served(&serving);
}

#[test]
fn bytes_that_come_one_by_one_take_no_more_memory_than_others() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    let inside = Inside::start(&place);
    let client = inside.http();
    assert_eq!(client.post("/v1/call", &json!({"name": "good"})).status, 200);
    let sender = thread::spawn(move || {
        let mut stream = client.connect();
        let more = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
        stream.write_all(client.head("POST", "/v1/call", more).as_bytes()).unwrap();
        // White space before the call. Each byte that is kept by itself takes 32.
        for _ in 0..2_000 {
            stream.write_all(&b"1\r\n \r\n".repeat(1_000)).unwrap();
        }
        let call = r#"{"name": "good"}"#;
        stream.write_all(format!("{:x}\r\n{call}\r\n0\r\n\r\n", call.len()).as_bytes()).unwrap();
        Reply::read(&mut stream).unwrap()
    });
    let before = heap::live_bytes();
    let mut most = before;
    while !sender.is_finished() {
        most = most.max(heap::live_bytes());
        thread::sleep(Duration::from_millis(1));
    }
    let reply = sender.join().unwrap();
    assert_eq!((reply.status, reply.body.as_str()), (200, "\"ok\""));
    assert!(most - before < 30_000_000, "{before} grew to {most}");
}

#[test]
fn who_takes_all_the_room_for_bodies_keeps_no_small_one_out_and_leaves_it_by_going() {
    let (_place, serving) = good();
    let client = serving.client;
    assert_served(&serving);
    let more = format!("Content-Type: application/json\r\nContent-Length: {BODY_BYTES}\r\n");
    let begin = |_| {
        let mut stream = client.connect();
        stream.write_all(client.head("POST", "/v1/call", &more).as_bytes()).unwrap();
        stream.write_all(&[b' '; 2 * SMALL_BODY_BYTES]).unwrap();
        stream
    };
    // Twice as many as there is room for: half of them wait for it.
    let holders: Vec<TcpStream> = (0..2 * BODIES_BYTES / BODY_BYTES).map(begin).collect();
    for _ in 0..20 {
        assert_served(&serving);
    }
    let mut large = client.connect();
    let body = format!("{}{}", " ".repeat(2 * SMALL_BODY_BYTES), r#"{"name": "good"}"#);
    large.write_all(client.post_text("/v1/call", &body).as_bytes()).unwrap();
    drop(holders);
    let start = Instant::now();
    let reply = Reply::read(&mut large).unwrap();
    assert_eq!((reply.status, reply.body.as_str()), (200, "\"ok\""));
    assert!(start.elapsed() < GRACE, "{:?}", start.elapsed());
}

#[test]
fn a_batch_of_10_000_runs_nothing() {
    let (_place, serving) = good();
    let before = serving.figure("hermes_instances_total");
    let calls = vec![json!({"name": "good"}); 10_000];
    let reply = serving.client.post("/v1/batch", &json!({ "calls": calls }));
    assert_eq!(kind(&reply), (413, "too-large".to_owned()));
    assert!(reply.body.contains("10000 calls"), "{reply:?}");
    assert_eq!(serving.figure("hermes_instances_total"), before);
    assert_served(&serving);
}

#[test]
fn heads_have_bounds() {
    let (_place, serving) = good();
    let many: String = (0..1_000).map(|n| format!("X-{n}: x\r\n")).collect();
    let long = format!("X: {}\r\n", "x".repeat(1 << 20));
    for more in [many, long] {
        assert_eq!(serving.client.raw(&serving.client.head("GET", "/healthz", &more)).status, 431);
    }
    assert_served(&serving);
}

/// Sends a byte now and then until the server has had enough. Says what it answered, if it did.
fn drip(stream: &mut TcpStream, patience: Duration) -> Option<Reply> {
    let start = Instant::now();
    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let mut bytes = [0; 1];
    loop {
        assert!(start.elapsed() < patience, "it waits for ever");
        let gone = stream.write_all(b"x").is_err();
        match stream.peek(&mut bytes) {
            Err(why) if !gone && matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            _ => return Reply::read(stream),
        }
    }
}

#[test]
fn who_sends_a_byte_now_and_then_is_given_up() {
    let (_place, serving) = good();
    let client = serving.client;
    let document = client.get("/openapi.json").json();
    let silent = client.connect();
    let slow_head = thread::spawn(move || {
        let mut stream = client.connect();
        stream.write_all(b"GET /healthz HTTP/1.1\r\nX-").unwrap();
        drip(&mut stream, HEADER_WAIT + GRACE).map(|reply| reply.status)
    });
    let slow_body = thread::spawn(move || {
        let mut stream = client.connect();
        let more = "Content-Type: application/json\r\nContent-Length: 1000000\r\n";
        stream.write_all(client.head("POST", "/v1/call", more).as_bytes()).unwrap();
        drip(&mut stream, BODY_WAIT + GRACE).unwrap()
    });
    assert_served(&serving);
    let head = slow_head.join().unwrap();
    assert!(head.is_none_or(|status| status == 408), "{head:?}");
    let body = slow_body.join().unwrap();
    assert_eq!(kind(&body), (408, "timeout".to_owned()));
    assert_described(&document, "post", "/v1/call", &body);
    // The one that never said a word is gone, too.
    let mut silent = silent;
    silent.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    assert!(!matches!(silent.read(&mut [0; 1]), Ok(1..)) && silent.peek(&mut [0; 1]).is_ok_and(|read| read == 0));
}

#[test]
fn who_never_reads_is_given_up() {
    let (_place, serving) = good();
    let client = serving.client;
    let mut stream = client.connect();
    let open = serving.figure("hermes_connections_open");
    // One response fits into the kernel's buffers; those to thousands of requests do not.
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    let request = format!("GET /openapi.json HTTP/1.1\r\nHost: localhost:{}\r\n{token}\r\n", client.port);
    stream.write_all(request.repeat(5_000).as_bytes()).unwrap();
    assert_served(&serving);
    until(WRITE_WAIT + GRACE, || serving.figure("hermes_connections_open") < open);
    assert_served(&serving);
}

/// As many files as this process may have, at most as many as wanted.
fn raise_files(wanted: u64) -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(wanted).min(wanted);
    if limit.current.is_some_and(|current| current < most) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum: limit.maximum }).unwrap();
    }
    getrlimit(Resource::Nofile).current.unwrap_or(wanted).min(wanted)
}

#[test]
fn ten_thousand_idle_connections_lock_nobody_out() {
    let (_place, serving) = good();
    let files = raise_files(10_500);
    let count = 10_000.min(files.saturating_sub(500));
    assert!(count as usize > 2 * CONNECTIONS, "only {files} files: too few to attack with");
    let mut idle = Vec::new();
    for n in 0..count {
        let mut stream = serving.client.connect();
        // Some are silent, some begin a request.
        if n % 2 == 0 {
            let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\n");
        }
        idle.push(stream);
        // Whoever is answered came after all the others: the kernel's own queue stays short, too.
        if n % 50 == 49 {
            assert_served(&serving);
        }
    }
    assert_served(&serving);
    assert!(serving.figure("hermes_connections_open") <= (CONNECTIONS + 64) as f64);
    drop(idle);
    until(GRACE, || serving.figure("hermes_connections_open") <= 2.0);
}

#[test]
fn who_comes_when_all_places_are_at_work_is_told_so_at_once() {
    let (_place, serving) = good();
    let document = serving.client.get("/openapi.json").json();
    raise_files(4_096);
    let wait = || {
        let mut stream = serving.client.connect();
        stream.write_all(serving.client.head("GET", "/v1/approvals?wait=30", "").as_bytes()).unwrap();
        stream
    };
    let ask = || {
        let mut stream = serving.client.connect();
        let _ = stream.write_all(serving.client.head("GET", "/healthz", "").as_bytes());
        Reply::read(&mut stream)
    };
    let mut waiting: Vec<TcpStream> = (0..CONNECTIONS).map(|_| wait()).collect();
    // Who asks before all of them are at work takes the place of one that is not yet.
    let start = Instant::now();
    let refused = loop {
        match ask() {
            Some(reply) if reply.status == 503 => break reply,
            _ => assert!(start.elapsed() < GRACE, "all of them were let in"),
        }
        waiting.push(wait());
    };
    assert_eq!(kind(&refused), (503, "busy".to_owned()));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_described(&document, "get", "/healthz", &refused);
    drop(waiting);
    until(GRACE, || ask().is_some_and(|reply| reply.status == 200));
}

#[test]
fn endless_calls_twice_as_many_as_cores_leave_the_server_answering_others() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    place.drop_in("loops_in_handle.wasm", &guest::attack("loops_in_handle"));
    place.configure(&format!("[tools.loops_in_handle]\n{ENDLESS}\n"));
    let serving = Serving::start(&place);
    serving.call("good");
    let count = 2 * thread::available_parallelism().unwrap().get();
    let calls: Vec<TcpStream> = (0..count)
        .map(|_| {
            let mut stream = serving.client.connect();
            let text = serving.client.post_text("/v1/call", r#"{"name": "loops_in_handle"}"#);
            stream.write_all(text.as_bytes()).unwrap();
            stream
        })
        .collect();
    serving.until("hermes_calls_running", |running| running as usize == count);
    for _ in 0..20 {
        assert_served(&serving);
    }
    drop(calls);
    serving.until("hermes_calls_running", |running| running == 0.0);
}
