//! What is left after many calls, and what others get while some never end.

use std::{
    fs,
    net::TcpStream,
    thread::available_parallelism,
    time::{Duration, Instant},
};

use hermes_host::sandbox::limits::{COMPONENT_CALLS, CONCURRENT_CALLS};
use rustix::process::Pid;
use serde_json::{Value, json};

use super::{
    ENDLESS, PATIENCE, Serving,
    client::Client,
    guests,
    pipe::{Pipe, text, with_meta},
    post::{answered, post},
    until,
};
use crate::{cli::Place, guest};

/// How much more memory counts as none.
const NOISE: f64 = 1.1;

/// How long the good tool may take beside calls that never end.
const SOON: Duration = Duration::from_secs(10);

fn place() -> Place {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    place.drop_in("sleeps.wasm", &guests::begins("sleeps", false));
    place.drop_in("works.wasm", &guests::begins("works", true));
    place.configure(&format!("[tools.sleeps]\n{ENDLESS}\n[tools.works]\n{ENDLESS}\n"));
    place
}

fn endless() -> usize {
    2 * available_parallelism().unwrap().get()
}

/// Calls that have begun: each said so.
fn begun(pipe: &mut Pipe, tool: &str, count: usize) -> Vec<Value> {
    let params = with_meta(json!({ "name": tool }), &[("progressToken", json!("begun"))]);
    let ids = all_at_once(pipe, &params, count);
    for _ in 0..count {
        pipe.wait_for("notifications/progress");
    }
    ids
}

/// Sends a call many times, in one piece: the ids.
fn all_at_once(pipe: &mut Pipe, params: &Value, count: usize) -> Vec<Value> {
    let requests: Vec<Value> = (0..count).map(|_| pipe.prepare("tools/call", params.clone())).collect();
    pipe.raw(requests.iter().map(|request| format!("{request}\n")).collect::<String>().as_bytes());
    requests.into_iter().map(|request| request["id"].clone()).collect()
}

fn assert_all_good(pipe: &mut Pipe, count: usize) {
    for id in all_at_once(pipe, &json!({"name": "good"}), count) {
        let answer = pipe.answer(&id);
        assert_eq!(text(&answer["result"]), "ok", "{answer}");
    }
}

/// What a process holds.
#[derive(Debug)]
struct Held {
    bytes: f64,
    threads: usize,
    files: usize,
}

impl Held {
    fn by(process: Pid) -> Self {
        let folder = format!("/proc/{}", process.as_raw_nonzero());
        let status = fs::read_to_string(format!("{folder}/status")).unwrap();
        let figure = |name: &str| -> usize {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
        };
        let files = fs::read_dir(format!("{folder}/fd")).unwrap().count();
        Self { bytes: figure("VmRSS:") as f64, threads: figure("Threads:"), files }
    }

    fn assert_no_more_than(&self, before: &Self) {
        assert!(self.bytes <= NOISE * before.bytes, "{before:?} became {self:?}");
        assert!(self.threads <= before.threads, "{before:?} became {self:?}");
        assert!(self.files <= before.files, "{before:?} became {self:?}");
    }
}

#[test]
fn endless_calls_on_stdio_leave_the_server_answering() {
    let place = place();
    let mut pipe = Pipe::legacy(&place, json!({}));
    begun(&mut pipe, "works", endless());
    for _ in 0..50 {
        let start = Instant::now();
        assert_all_good(&mut pipe, 1);
        assert!(start.elapsed() < SOON, "the good tool took {:?}", start.elapsed());
        pipe.request("ping", json!({}));
        assert!(start.elapsed() < SOON, "with a ping {:?}", start.elapsed());
    }
    let start = Instant::now();
    assert!(pipe.request("tools/list", json!({}))["result"]["tools"].is_array());
    assert!(start.elapsed() < 5 * SOON, "the list took {:?}", start.elapsed());
    assert_eq!(pipe.heard, [] as [Value; 0]);
}

fn assert_good(client: &Client) {
    let start = Instant::now();
    let answer = answered(post(client, json!({}), json!({"name": "good"})));
    assert_eq!(text(&answer["result"]), "ok", "{answer}");
    assert!(start.elapsed() < SOON, "the good tool took {:?}", start.elapsed());
}

#[test]
fn endless_calls_over_http_leave_the_server_answering() {
    let place = place();
    let serving = Serving::start(&place);
    assert_good(&serving.client);
    let running: Vec<TcpStream> =
        (0..endless()).map(|_| post(&serving.client, json!({}), json!({"name": "works"}))).collect();
    serving.until("hermes_calls_running", |running| running as usize == endless());
    for _ in 0..50 {
        assert_good(&serving.client);
        let start = Instant::now();
        assert_eq!(serving.client.get("/healthz").status, 200);
        assert!(start.elapsed() < SOON, "/healthz took {:?}", start.elapsed());
    }
    // Closing a stream is how a client of this revision takes its call back.
    drop(running);
    until(PATIENCE, || serving.figure("hermes_calls_running") == 0.0);
    assert_good(&serving.client);
}

/// Begins calls in rounds, and takes each back while its guest runs.
fn cancel_all(pipe: &mut Pipe, tool: &str, count: usize) {
    // Fewer than one component may run: each must begin.
    const AT_ONCE: usize = COMPONENT_CALLS - COMPONENT_CALLS % 25;
    for _ in 0..count / AT_ONCE {
        for id in begun(pipe, tool, AT_ONCE) {
            pipe.cancel(&id);
        }
    }
    // Every permit is free, or these would wait for one.
    assert_all_good(pipe, CONCURRENT_CALLS);
}

/// What a process holds after the last of these rounds is no more than what it held after the first ones, which fill its pools and
/// the allocator's.
fn assert_settles(pipe: &mut Pipe, warming: usize, rounds: usize, round: impl Fn(&mut Pipe)) {
    let mut held = |rounds: usize| -> Vec<Held> {
        let one = |_| {
            round(pipe);
            Held::by(pipe.process())
        };
        (0..rounds).map(one).collect()
    };
    let before = held(warming).into_iter().max_by(|one, other| one.bytes.total_cmp(&other.bytes)).unwrap();
    held(rounds).last().unwrap().assert_no_more_than(&before);
}

/// Attack 26: a client that changes its mind again and again, in the middle of its calls.
#[test]
fn ten_thousand_cancelled_calls_leave_nothing_behind() {
    let place = place();
    let mut pipe = Pipe::legacy(&place, json!({}));
    assert_settles(&mut pipe, 4, 10, |pipe| {
        cancel_all(pipe, "sleeps", 900);
        cancel_all(pipe, "works", 100);
    });
    assert_eq!(pipe.heard, [] as [Value; 0]);
}

/// A client that can be asked is talked to beside its call, also where the call asks nothing.
#[test]
fn calls_that_could_ask_leave_nothing_behind_either() {
    let place = place();
    let mut pipe = Pipe::legacy(&place, json!({"elicitation": {}}));
    assert_settles(&mut pipe, 4, 10, |pipe| {
        cancel_all(pipe, "sleeps", 150);
        cancel_all(pipe, "works", 50);
        for _ in 0..10 {
            assert_all_good(pipe, 50);
        }
    });
    assert_eq!(pipe.heard, [] as [Value; 0]);
}

#[test]
fn forty_thousand_calls_leave_memory_flat() {
    let place = place();
    let mut pipe = Pipe::legacy(&place, json!({}));
    assert_settles(&mut pipe, 4, 8, |pipe| {
        for _ in 0..100 {
            assert_all_good(pipe, 50);
        }
    });
}
