//! What is left after many calls, and what others get while some never end.

use std::{net::TcpStream, thread::available_parallelism, time::Instant};

use hermes_host::sandbox::limits::{COMPONENT_CALLS, CONCURRENT_CALLS};
use serde_json::{Value, json};

use super::{
    ENDLESS, PATIENCE, Serving,
    client::Client,
    guests,
    inside::{Held, Inside, assert_flat},
    pipe::{LEGACY, Pipe, text, with_meta},
    post::{answered, post},
    until,
};
use crate::{cli::Place, guest};

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

#[test]
fn endless_calls_on_stdio_leave_the_server_answering() {
    let place = place();
    let mut pipe = Pipe::legacy(&place, json!({}));
    begun(&mut pipe, "works", endless());
    for _ in 0..50 {
        let start = Instant::now();
        assert_all_good(&mut pipe, 1);
        assert!(start.elapsed() < PATIENCE, "the good tool took {:?}", start.elapsed());
        pipe.request("ping", json!({}));
        assert!(start.elapsed() < PATIENCE, "with a ping {:?}", start.elapsed());
    }
    let start = Instant::now();
    assert!(pipe.request("tools/list", json!({}))["result"]["tools"].is_array());
    assert!(start.elapsed() < PATIENCE, "the list took {:?}", start.elapsed());
    assert_eq!(pipe.heard, [] as [Value; 0]);
}

fn assert_good(client: &Client) {
    let start = Instant::now();
    let answer = answered(post(client, json!({}), json!({"name": "good"})));
    assert_eq!(text(&answer["result"]), "ok", "{answer}");
    assert!(start.elapsed() < PATIENCE, "the good tool took {:?}", start.elapsed());
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
        assert!(start.elapsed() < PATIENCE, "/healthz took {:?}", start.elapsed());
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

/// What the process holds does not grow with the rounds. The first ones fill pools and caches.
fn assert_settles(capabilities: Value, rounds: usize, round: impl Fn(&mut Pipe)) {
    const WARMING: usize = 2;
    let place = place();
    let inside = Inside::start(&place);
    let mut pipe = inside.pipe();
    pipe.initialize(LEGACY, capabilities);
    let held = |_| {
        round(&mut pipe);
        inside.held()
    };
    let held: Vec<Held> = (0..WARMING + rounds).map(held).collect();
    assert_flat(&held[WARMING..]);
    assert_eq!(pipe.heard, [] as [Value; 0]);
}

/// Attack 26: a client that changes its mind again and again, in the middle of its calls.
#[test]
fn ten_thousand_cancelled_calls_leave_nothing_behind() {
    assert_settles(json!({}), 10, |pipe| {
        cancel_all(pipe, "sleeps", 900);
        cancel_all(pipe, "works", 100);
    });
}

/// A client that can be asked is talked to beside its call, also where the call asks nothing.
#[test]
fn calls_that_could_ask_leave_nothing_behind_either() {
    assert_settles(json!({"elicitation": {}}), 10, |pipe| {
        cancel_all(pipe, "sleeps", 150);
        cancel_all(pipe, "works", 50);
        for _ in 0..10 {
            assert_all_good(pipe, 50);
        }
    });
}

#[test]
fn forty_thousand_calls_leave_memory_flat() {
    assert_settles(json!({}), 8, |pipe| {
        for _ in 0..100 {
            assert_all_good(pipe, 50);
        }
    });
}
