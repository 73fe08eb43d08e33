//! The HTTP API: what each route answers, and what becomes of calls when a client or the server goes.

use std::{
    io::Write,
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    ENDLESS, PATIENCE, Serving, TOKEN,
    client::Reply,
    kind,
    post::{answered, post},
    until,
};
use crate::{cli::Place, guest};

#[test]
fn a_call_answers_with_the_tools_own_json() {
    let place = Place::new();
    let serving = Serving::start(&place);
    let body =
        json!({"name": "calculate", "arguments": {"expression": "0.1 + 0.2"}, "task_id": "t", "session_id": "s"});
    let reply = serving.client.post("/v1/call", &body);
    assert_eq!((reply.status, &reply.json()["result"]), (200, &json!("0.3")));
    assert_eq!(reply.header("content-type"), Some("application/json"));
}

#[test]
fn every_kind_of_end_has_its_status() {
    let place = Place::new();
    for name in ["traps", "loops_in_handle"] {
        place.drop_in(&format!("{name}.wasm"), &guest::attack(name));
    }
    place.configure("[tools.loops_in_handle]\nlimits = { timeout = \"1s\", fuel = 9_000_000_000_000_000_000 }\n");
    let serving = Serving::start(&place);
    for (body, expected) in [
        (json!({"name": "calculat"}), (404, "unknown-tool")),
        (json!({"name": "calculate", "arguments": {}}), (400, "invalid-arguments")),
        (json!({"name": "calculate", "arguments": "text"}), (400, "invalid-arguments")),
        (json!({"name": "calculate", "toolsets": ["none"]}), (403, "denied")),
        (json!({"name": "traps"}), (502, "trap")),
        (json!({"name": "loops_in_handle"}), (504, "deadline")),
        (json!({"name": "calculate", "args": {}}), (400, "bad-request")),
        (json!({"arguments": {}}), (400, "bad-request")),
        (json!({"name": "calculate", "task_id": "x".repeat(1_000)}), (400, "bad-request")),
    ] {
        let reply = serving.client.post("/v1/call", &body);
        assert_eq!(kind(&reply), (expected.0, expected.1.to_owned()), "{body}");
    }
}

#[test]
fn names_that_the_host_gives_are_nobodys_to_take() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    let serving = Serving::start(&place);
    let client = serving.client;
    answered(post(&client, json!({}), json!({"name": "good"})));
    let line = client.get("/v1/audit").json()["lines"][0].clone();
    let taken = line["call"].as_str().unwrap();
    let session = "mcp-0123456789abcdef0123456789abcdef";
    for (member, id) in [("call_id", taken), ("task_id", session), ("session_id", session), ("session_id", "mcp-")] {
        let mut call = json!({"name": "good"});
        call[member] = json!(id);
        let mut batch = json!({"calls": [{"name": "good"}]});
        match member {
            "call_id" => batch["calls"][0][member] = json!(id),
            _ => batch[member] = json!(id),
        }
        for (path, body) in [("/v1/call", call), ("/v1/batch", batch)] {
            let reply = client.post(path, &body);
            assert_eq!(kind(&reply), (400, "bad-request".to_owned()), "{path} {body}");
            assert!(reply.body.contains(&format!("{member} begins with")), "{reply:?}");
        }
    }
    let free = json!({"name": "good", "call_id": "call_1", "task_id": "task-1", "session_id": "s-mcp-"});
    assert_eq!(client.post("/v1/call", &free).status, 200);
    assert_eq!(client.get("/v1/audit").json()["lines"].as_array().unwrap().len(), 2, "nothing else ran");
}

#[test]
fn tools_come_in_the_wanted_form_and_of_the_wanted_toolsets() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    let serving = Serving::start(&place);
    let names = |path: &str, pointer: &str| -> Vec<String> {
        let reply = serving.client.get(path);
        assert_eq!(reply.status, 200, "{reply:?}");
        let tools = reply.json()["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool.pointer(pointer).unwrap().as_str().unwrap().to_owned()).collect()
    };
    assert!(names("/v1/tools", "/function/name").contains(&"calculate".to_owned()));
    assert!(names("/v1/tools?format=anthropic", "/name").contains(&"good".to_owned()));
    assert_eq!(names("/v1/tools?toolset=good&format=mcp", "/name"), ["good"]);
    let two = names("/v1/tools?toolset=good&toolset=calc&format=mcp", "/name");
    assert!(two.len() > 1 && two.contains(&"good".to_owned()), "{two:?}");
    for (path, expected) in [
        ("/v1/tools?toolset=none", (404, "not-found")),
        ("/v1/tools?format=xml", (400, "bad-request")),
        ("/v1/tools?format=mcp&format=mcp", (400, "bad-request")),
        ("/v1/tools?tolset=good", (400, "bad-request")),
    ] {
        assert_eq!(kind(&serving.client.get(path)), (expected.0, expected.1.to_owned()), "{path}");
    }
}

#[test]
fn a_batch_answers_in_the_order_of_its_calls() {
    let place = Place::new();
    let serving = Serving::start(&place);
    let calls = json!([
        {"name": "calculate", "arguments": {"expression": "1+1"}},
        {"name": "none"},
        {"name": "calculate", "arguments": {"expression": "2+2"}, "call_id": "mine"},
    ]);
    let reply = serving.client.post("/v1/batch", &json!({"calls": calls, "timeout": 20.5}));
    let results = reply.json()["results"].clone();
    let statuses: Vec<&Value> = results.as_array().unwrap().iter().map(|result| &result["status"]).collect();
    assert_eq!(statuses, [&json!(200), &json!(404), &json!(200)]);
    assert_eq!((&results[0]["body"]["result"], &results[2]["body"]["result"]), (&json!("2"), &json!("4")));
    assert_eq!(results[1]["body"]["kind"], "unknown-tool");
    for wrong in [json!({"calls": [], "timeout": 0}), json!({"calls": {}}), json!({})] {
        assert_eq!(kind(&serving.client.post("/v1/batch", &wrong)).0, 400, "{wrong}");
    }
}

#[test]
fn every_error_is_json() {
    let place = Place::new();
    let serving = Serving::start(&place);
    let client = serving.client;
    let json = |body: &str| client.raw(&client.post_text("/v1/call", body));
    let plain = format!("{}{{}}", client.head("POST", "/v1/call", "Content-Type: text/plain\r\nContent-Length: 2\r\n"));
    for (reply, expected) in [
        (client.get("/none"), (404, "not-found")),
        (client.get("/"), (404, "not-found")),
        (client.get("/v1/call"), (405, "method-not-allowed")),
        (client.raw(&client.head("DELETE", "/healthz", "")), (405, "method-not-allowed")),
        (json("{"), (400, "bad-request")),
        (json("[]"), (400, "bad-request")),
        (json(""), (400, "bad-request")),
        (client.raw(&plain), (415, "unsupported-media-type")),
        (client.get("/v1/audit?limit=many"), (400, "bad-request")),
        (client.get("/v1/approvals?wait=31"), (400, "bad-request")),
    ] {
        assert_eq!(kind(&reply), (expected.0, expected.1.to_owned()));
        assert_eq!(reply.header("content-type"), Some("application/json"));
    }
}

#[test]
fn a_token_is_needed_everywhere_but_at_healthz() {
    let place = Place::new();
    let serving = Serving::start(&place);
    assert_eq!(serving.client.get("/v1/tools").status, 200);
    for token in [None, Some("0123456789abcdef0123456789abcdeF"), Some("short")] {
        let client = super::client::Client { token, ..serving.client };
        for path in ["/v1/tools", "/v1/audit", "/v1/approvals", "/metrics", "/openapi.json", "/none", "/healthz/x"] {
            let reply = client.get(path);
            assert_eq!(kind(&reply), (401, "unauthorized".to_owned()), "{path}");
            assert_eq!(reply.header("www-authenticate"), Some("bearer"));
        }
        assert_eq!(kind(&client.post("/v1/call", &json!({"name": "calculate"}))).0, 401);
        assert_eq!(client.get("/healthz").json(), json!({"status": "ok"}));
    }
}

/// A host that asks about every call of the tool `good`.
fn asking() -> Place {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    place.configure("[policy]\ngood = \"ask\"\n[approval]\ntimeout = \"20s\"\n");
    place
}

#[test]
fn a_question_is_shown_and_answered_over_http() {
    let place = asking();
    let serving = Serving::start(&place);
    let client = serving.client;
    assert_eq!(client.get("/v1/approvals").json(), json!({"questions": []}));
    for (answer, status) in [(json!({"answer": "once"}), 200), (json!({"answer": "deny", "reason": "not today"}), 403)]
    {
        let call = thread::spawn(move || client.post("/v1/call", &json!({"name": "good"})));
        let questions = client.get("/v1/approvals?wait=20").json()["questions"].clone();
        assert_eq!((&questions[0]["tool"], questions.as_array().unwrap().len()), (&json!("good"), 1));
        let path = format!("/v1/approvals/{}", questions[0]["id"].as_str().unwrap());
        assert_eq!(kind(&client.post(&path, &json!({"answer": "yes"}))).0, 400);
        assert_eq!(kind(&client.post(&path, &json!({"answer": "once", "reason": "why not"}))).0, 400);
        assert_eq!(client.post(&path, &answer).status, 200);
        let reply: Reply = call.join().unwrap();
        assert_eq!(reply.status, status, "{reply:?}");
        assert!(status == 200 || reply.body.contains("not today"), "{reply:?}");
        assert_eq!(kind(&client.post(&path, &answer)), (409, "conflict".to_owned()));
    }
    assert_eq!(kind(&client.post("/v1/approvals/none", &json!({"answer": "once"}))).0, 404);
}

#[test]
fn a_wait_for_questions_ends_when_one_that_the_client_knows_is_gone() {
    let place = asking();
    let serving = Serving::start(&place);
    let client = serving.client;
    client.get("/v1/approvals");
    let mut call = client.connect();
    call.write_all(client.post_text("/v1/call", r#"{"name": "good"}"#).as_bytes()).unwrap();
    let questions = client.get("/v1/approvals?wait=20").json()["questions"].clone();
    let path = format!("/v1/approvals?wait=20&seen={}", questions[0]["id"].as_str().unwrap());
    let waiting = thread::spawn(move || client.get(&path).json());
    // Whoever asked goes away, and with it the question.
    drop(call);
    assert_eq!(waiting.join().unwrap()["questions"], json!([]));
}

#[test]
fn with_nobody_there_a_question_is_refused_at_once() {
    let place = asking();
    let serving = Serving::start(&place);
    let reply = serving.call("good");
    assert_eq!(kind(&reply), (403, "denied".to_owned()));
    // A question that waited would say that nobody answered in time.
    assert!(reply.body.contains("nobody to ask"), "{reply:?}");
}

/// A command that the agent runs reaches this port as well.
#[test]
fn without_the_token_nobody_can_answer_or_count_as_being_there() {
    let place = asking();
    let serving = Serving::start(&place);
    let stranger = super::client::Client { token: None, ..serving.client };
    assert_eq!(kind(&stranger.get("/v1/approvals")).0, 401);
    assert!(serving.call("good").body.contains("nobody to ask"));
    assert_eq!(kind(&stranger.post("/v1/approvals/none", &json!({"answer": "always"}))).0, 401);
}

#[test]
fn the_audit_shows_the_last_calls() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    let serving = Serving::start(&place);
    for task in ["a", "b", "c"] {
        serving.client.post("/v1/call", &json!({"name": "good", "task_id": task}));
    }
    serving.call("none");
    let lines = serving.client.get("/v1/audit?tool=good&limit=2&since=1h").json()["lines"].clone();
    let tasks: Vec<&Value> = lines.as_array().unwrap().iter().map(|line| &line["task"]).collect();
    assert_eq!(tasks, [&json!("b"), &json!("c")]);
    assert_eq!((&lines[0]["seq"], &lines[0]["outcome"]), (&json!(2), &json!("ok")));
    assert_eq!(serving.client.get("/v1/audit").json()["lines"].as_array().unwrap().len(), 4);
}

#[test]
fn metrics_count_calls_by_tool_and_never_by_a_name_that_a_client_made_up() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    let serving = Serving::start(&place);
    serving.call("good");
    serving.call("good");
    for n in 0..20 {
        serving.call(&format!("made_up_{n}\"\n"));
    }
    assert_eq!(serving.figure(r#"hermes_calls_total{tool="good",outcome="ok"}"#), 2.0);
    assert_eq!(serving.figure(r#"hermes_calls_total{tool="(unknown)",outcome="unknown-tool"}"#), 20.0);
    assert_eq!(serving.figure("hermes_call_duration_seconds_count"), 22.0);
    assert!(serving.figure("hermes_tools_loaded") > 1.0);
    assert!(serving.figure("hermes_resident_memory_bytes") > 1e6);
    assert!(serving.figure("hermes_instances_total") >= 2.0);
    assert!(serving.figure("hermes_connections_open") >= 1.0);
    assert!(!serving.client.get("/metrics").body.contains("made_up"));
}

/// Starts a call and waits until its guest runs.
fn running(serving: &Serving, name: &str) -> TcpStream {
    let mut stream = serving.client.connect();
    let text = serving.client.post_text("/v1/call", &json!({ "name": name }).to_string());
    stream.write_all(text.as_bytes()).unwrap();
    serving.until("hermes_calls_running", |running| running == 1.0);
    stream
}

#[test]
fn a_server_that_stops_lets_a_running_call_finish() {
    let place = Place::new();
    place.drop_in("works_slowly.wasm", &guest::attack("works_slowly"));
    let mut serving = Serving::start(&place);
    let idle = serving.client.connect();
    let mut call = running(&serving, "works_slowly");
    serving.terminate();
    let reply = Reply::read(&mut call).expect("the call is answered");
    assert_eq!((reply.status, reply.body.as_str()), (200, "\"ok\""));
    assert_eq!(serving.ended(), Some(0), "an idle connection does not hold it up");
    drop(idle);
    assert!(TcpStream::connect(("127.0.0.1", serving.client.port)).is_err());
}

#[test]
fn a_server_that_stops_ends_what_only_waits() {
    let place = asking();
    let mut serving = Serving::start(&place);
    let client = serving.client;
    let waiting = thread::spawn(move || client.get("/v1/approvals?wait=30").status);
    // Whoever waits for questions is there to answer them.
    serving.until("hermes_approvals_attended", |attended| attended == 1.0);
    let start = Instant::now();
    serving.terminate();
    assert_eq!(serving.ended(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(30), "the wait was not cut short: {:?}", start.elapsed());
    assert_eq!(waiting.join().unwrap(), 200);
}

#[test]
fn a_client_that_goes_ends_its_call() {
    let place = Place::new();
    place.drop_in("loops_in_handle.wasm", &guest::attack("loops_in_handle"));
    place.configure(&format!("[tools.loops_in_handle]\n{ENDLESS}\n"));
    let serving = Serving::start(&place);
    drop(running(&serving, "loops_in_handle"));
    serving.until("hermes_calls_running", |running| running == 0.0);
    until(PATIENCE, || {
        let lines = serving.client.get("/v1/audit").json()["lines"].clone();
        lines[0]["outcome"] == "dropped"
    });
    assert_eq!(serving.figure(r#"hermes_calls_total{tool="loops_in_handle",outcome="cancelled"}"#), 1.0);
}

#[test]
fn a_client_that_goes_ends_its_batch_and_every_call_of_it_is_counted_once() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    place.drop_in("loops_in_handle.wasm", &guest::attack("loops_in_handle"));
    place.configure(&format!("[tools.loops_in_handle]\n{ENDLESS}\n"));
    let serving = Serving::start(&place);
    let client = serving.client;
    let counted = |tool: &str, outcome: &str, count: usize| {
        let line = format!("hermes_calls_total{{tool=\"{tool}\",outcome=\"{outcome}\"}} {count}\n");
        client.get("/metrics").body.contains(&line)
    };
    client.post("/v1/batch", &json!({"calls": vec![json!({"name": "good"}); 3]}));
    assert!(counted("good", "ok", 3));
    assert_eq!(kind(&client.post("/v1/batch", &json!({"calls": vec![json!({"name": "good"}); 1_001]}))).0, 413);
    let mut batch = client.connect();
    let calls = vec![json!({"name": "loops_in_handle"}); 2];
    batch.write_all(client.post_text("/v1/batch", &json!({ "calls": calls }).to_string()).as_bytes()).unwrap();
    serving.until("hermes_calls_running", |running| running >= 1.0);
    drop(batch);
    until(PATIENCE, || counted("loops_in_handle", "cancelled", 2));
    assert_eq!(serving.figure("hermes_call_duration_seconds_count"), 5.0);
}

#[test]
fn a_connection_serves_many_requests() {
    let place = Place::new();
    let serving = Serving::start(&place);
    let mut stream = serving.client.connect();
    let one = format!("GET /healthz HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", serving.client.port);
    let last = serving.client.head("GET", "/healthz", "");
    stream.write_all(format!("{one}{one}{last}").as_bytes()).unwrap();
    let reply = Reply::read(&mut stream).unwrap();
    assert_eq!(reply.body.matches("HTTP/1.1 200 OK").count(), 2, "{reply:?}");
}

#[test]
fn the_token_is_nowhere_in_what_the_server_says() {
    let place = Place::new();
    let serving = Serving::start(&place);
    for path in ["/v1/tools", "/v1/audit", "/metrics", "/openapi.json", "/none"] {
        assert!(!serving.client.get(path).body.contains(TOKEN), "{path}");
    }
}
