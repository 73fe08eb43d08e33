//! What the options of `run` do: who is let in, what is printed to be pasted, and what signals end.

use std::{
    fs::{self, Permissions},
    io::{BufRead, BufReader},
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Instant,
};

use serde_json::{Value, json};

use super::{
    ENDLESS, PATIENCE, Serving, TOKEN,
    client::{Client, Reply},
    kind,
    pipe::{LEGACY, result, text},
    post::{answered, post, post_legacy},
    until,
};
use crate::{
    cli::{Place, assert_wrong, parse, stderr},
    guest,
};

/// A token that is not [`TOKEN`].
const OTHER: &str = "fedcba9876543210fedcba9876543210";

/// A place with a good tool.
fn good() -> Place {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    place
}

/// `run` with these options, and no token in its environment.
fn run(place: &Place, options: &[&str]) -> Command {
    let mut command = place.command(&[&["run"], options].concat());
    command.env_remove("HERMES_HOST_TOKEN");
    command
}

/// A file with [`TOKEN`], which whoever the mode says can read.
fn token_file(place: &Place, mode: u32) -> PathBuf {
    let file = place.root.path().join("token");
    fs::write(&file, format!("{TOKEN}\n")).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
    file
}

/// Asks for the tools of the server by this name.
fn tools_of(client: &Client, name: &str) -> Reply {
    let own = format!("Host: 127.0.0.1:{}\r\n", client.port);
    client.raw(&client.head("GET", "/v1/tools", "").replace(&own, &format!("Host: {name}\r\n")))
}

#[test]
fn clients_need_the_token_of_the_file() {
    let place = good();
    let mut command = run(&place, &["--http", "127.0.0.1:0"]);
    // The file counts, whatever the variable says.
    let command = command.arg("--token-file").arg(token_file(&place, 0o600)).env("HERMES_HOST_TOKEN", OTHER);
    let mut serving = Serving::spawn(command);
    for token in [None, Some(OTHER)] {
        serving.client.token = token;
        assert_eq!(kind(&serving.call("good")), (401, "unauthorized".to_owned()), "{token:?}");
    }
    serving.client.token = Some(TOKEN);
    let reply = serving.call("good");
    assert_eq!((reply.status, reply.body.as_str()), (200, "\"ok\""));
}

/// Whoever knows the token may approve.
#[test]
fn the_token_file_is_shown_to_no_tool_and_to_no_command_in_the_sandbox() {
    let place = good();
    place.configure("[terminal]\nbackend = \"sandbox\"\n");
    let file = token_file(&place, 0o600);
    let work = place.root.path().join("work");
    fs::create_dir_all(&work).unwrap();
    let serve = |workspace: &std::path::Path| {
        let mut command = run(&place, &["--http", "127.0.0.1:0"]);
        let command = command.arg("--workspace").arg(workspace).arg("--token-file").arg(&file);
        let mut serving = Serving::spawn(command);
        serving.client.token = Some(TOKEN);
        serving
    };
    let call = |serving: &Serving, name: &str, arguments: Value| {
        let reply = serving.client.post("/v1/call", &json!({"name": name, "arguments": arguments}));
        assert!(!reply.body.contains(TOKEN), "{name}: {}", reply.body);
        reply.body
    };
    let around = serve(place.root.path());
    let read = call(&around, "read_file", json!({"path": "token"}));
    assert!(read.contains("error"), "{read}");
    let found = call(&around, "search_files", json!({"pattern": TOKEN}));
    assert!(found.contains("\"total_count\":0"), "{found}");
    drop(around);
    let beside = serve(&work);
    let shown = call(&beside, "terminal", json!({"command": format!("cat {}", file.display())}));
    assert!(shown.contains("\"exit_code\":1"), "{shown}");
}

#[test]
fn a_token_file_that_others_can_read_is_refused() {
    let place = Place::bare();
    for mode in [0o644, 0o640, 0o604] {
        let file = token_file(&place, mode);
        let output = run(&place, &["--http", "127.0.0.1:0"]).arg("--token-file").arg(&file).output().unwrap();
        let name = file.display().to_string();
        assert_wrong(&output, &[name.as_str(), "others may read or write it", "chmod 600"]);
        assert!(!stderr(&output).contains(TOKEN), "{output:?}");
    }
}

#[test]
fn a_name_that_was_allowed_is_let_in_and_no_other() {
    let place = Place::new();
    let options = ["--http", "127.0.0.1:0", "--allow-host", "tools.example"];
    let serving = Serving::with_token(&mut run(&place, &options));
    let port = serving.client.port;
    for name in ["tools.example".to_owned(), format!("tools.example:{port}"), format!("127.0.0.1:{port}")] {
        assert_eq!(tools_of(&serving.client, &name).status, 200, "{name}");
    }
    for name in ["other.example", "a.tools.example", "tools.example.other", "x@tools.example", "192.0.2.1", "0.0.0.0"] {
        let reply = tools_of(&serving.client, name);
        assert_eq!(kind(&reply), (403, "forbidden-host".to_owned()), "{name}");
    }
}

/// A host on all addresses of this machine, whose clients need [`TOKEN`]. It names none that a client could use.
fn on_all_addresses(place: &Place) -> Serving {
    let mut command = run(place, &["--http", "0.0.0.0:0"]);
    command.env("HERMES_HOST_TOKEN", TOKEN).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut serving = Serving { child, client: Client { port: 0, token: Some(TOKEN) } };
    let (sender, ports) = mpsc::channel();
    // Reads on to the end: a full pipe would stop the host.
    thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let said = line.split_once("http://0.0.0.0:").and_then(|(_, rest)| rest.split_once('/'));
            if let Some((port, _)) = said {
                let _ = sender.send(port.parse::<u16>().unwrap());
            }
        }
    });
    serving.client.port = ports.recv_timeout(PATIENCE).expect("the host says where it listens");
    serving
}

#[test]
fn a_server_on_all_addresses_answers_here_to_those_with_the_token() {
    let place = good();
    let mut serving = on_all_addresses(&place);
    let reply = serving.call("good");
    assert_eq!((reply.status, reply.body.as_str()), (200, "\"ok\""));
    serving.client.token = None;
    assert_eq!(kind(&serving.call("good")), (401, "unauthorized".to_owned()));
}

#[test]
fn what_is_to_be_pasted_for_a_server_is_its_address() {
    let place = Place::bare();
    for (options, address) in [
        (&["--http", "127.0.0.1:7500"][..], "127.0.0.1:7500"),
        // For HTTP alone, so it is meant.
        (&["--allow-host", "tools.example"], "127.0.0.1:7411"),
    ] {
        let output = run(&place, &[&["--print-config", "claude-code"], options].concat()).output().unwrap();
        let entry = parse(&output)["mcpServers"]["hermes-host"].clone();
        assert_eq!((&entry["type"], &entry["url"]), (&json!("http"), &json!(format!("http://{address}/mcp"))));
        assert!(stderr(&output).contains(&format!("run --http {address} ")), "{output:?}");
    }
}

#[test]
fn the_printed_line_starts_a_server_with_the_same_token_and_names() {
    let place = good();
    token_file(&place, 0o600);
    // The path is the printing program's own, and whoever starts the host is elsewhere.
    let options = ["--http", "127.0.0.1:7500", "--token-file", "token", "--allow-host", "tools.example"];
    let mut command = run(&place, &[&["--print-config", "codex"], &options[..]].concat());
    let output = command.current_dir(place.root.path()).output().unwrap();
    let said = stderr(&output);
    let (_, line) = said.split_once("# start the host yourself:\n").unwrap_or_else(|| panic!("{output:?}"));
    // But for the port, which may be taken here.
    let line = line.lines().next().unwrap().replace("127.0.0.1:7500", "127.0.0.1:0");
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec {line}")]).env_remove("HERMES_HOST_TOKEN");
    let mut serving = Serving::spawn(&mut shell);
    for (token, name, status) in [
        (Some(TOKEN), "tools.example", 200),
        (Some(OTHER), "tools.example", 401),
        (None, "tools.example", 401),
        (Some(TOKEN), "other.example", 403),
    ] {
        serving.client.token = token;
        assert_eq!(tools_of(&serving.client, name).status, status, "{token:?} {name}");
    }
}

#[test]
fn what_could_not_be_started_is_not_printed() {
    let place = Place::bare();
    let file = token_file(&place, 0o644).display().to_string();
    for options in [
        &["--http", "127.0.0.1:7500", "--allow-host", "http://tools.example"][..],
        &["--http", "127.0.0.1:7500", "--token-file", &file],
        &["--token-file", &file],
    ] {
        let started = run(&place, options).output().unwrap();
        let printed = run(&place, &[options, &["--print-config", "claude-code"]].concat()).output().unwrap();
        assert_wrong(&started, &["error: "]);
        assert_wrong(&printed, &["error: "]);
        assert_eq!(stderr(&printed), stderr(&started), "{options:?}");
    }
}

/// Sends a call in a session of its own, as clients before 2026-07-28 do.
fn in_session(client: &Client, params: Value) -> TcpStream {
    let who = json!({"name": "post", "version": "1"});
    let hello = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": who});
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello});
    let mut greeted = post_legacy(client, None, &hello);
    let greeting = Reply::read(&mut greeted).expect("a reply");
    let session = greeting.header("mcp-session-id").unwrap_or_else(|| panic!("no session: {greeting:?}"));
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let mut told = post_legacy(client, Some(session), &ready);
    assert_eq!(Reply::read(&mut told).expect("a reply").status, 202);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    post_legacy(client, Some(session), &call)
}

/// Asks the host to end, and waits until it lets nobody in any more.
fn stop(serving: &Serving) {
    serving.terminate();
    until(PATIENCE, || TcpStream::connect(("127.0.0.1", serving.client.port)).is_err());
}

#[test]
fn a_server_that_stops_answers_a_running_call_over_mcp() {
    for is_current in [false, true] {
        let place = Place::new();
        place.drop_in("works_slowly.wasm", &guest::attack("works_slowly"));
        let mut serving = Serving::start(&place);
        let (client, params) = (serving.client, json!({"name": "works_slowly"}));
        let call = if is_current { post(&client, json!({}), params) } else { in_session(&client, params) };
        serving.until("hermes_calls_running", |running| running == 1.0);
        stop(&serving);
        assert_eq!(text(&result(answered(call))), "ok", "{is_current}");
        assert_eq!(serving.ended(), Some(0), "{is_current}");
    }
}

#[test]
fn a_second_signal_ends_a_host_at_once() {
    let place = Place::new();
    place.drop_in("loops_in_handle.wasm", &guest::attack("loops_in_handle"));
    place.configure(&format!("[tools.loops_in_handle]\n{ENDLESS}\n"));
    let mut serving = Serving::start(&place);
    let _call = post(&serving.client, json!({}), json!({"name": "loops_in_handle"}));
    serving.until("hermes_calls_running", |running| running == 1.0);
    stop(&serving);
    assert_eq!(serving.child.try_wait().unwrap(), None, "it waits for the call");
    let start = Instant::now();
    serving.terminate();
    assert_eq!(serving.ended(), Some(130));
    assert!(start.elapsed() < super::PATIENCE, "{:?}", start.elapsed());
}

#[test]
fn a_port_alone_is_one_of_loopback_and_one_that_is_taken_names_its_owner() {
    let place = good();
    let serving = Serving::with_token(&mut place.command(&["run", "--http", "0"]));
    assert_eq!(serving.call("good").status, 200);
    let port = serving.client.port.to_string();
    let owner = format!("hermes-host (process {}) listens there", serving.child.id());
    let taken = run(&place, &["--http", &port]).output().unwrap();
    assert_wrong(&taken, &[&format!("failed to listen on 127.0.0.1:{port}"), &owner, "--http PORT"]);
    let wrong = run(&place, &["--http", "localhost"]).output().unwrap();
    assert_wrong(&wrong, &["write a port, such as 7411"]);
}

/// An editor, a terminal and a service each start a host, and all have the same home.
#[test]
fn hosts_with_one_home_serve_and_audit_together() {
    let place = good();
    let hosts: Vec<Serving> = (0..3).map(|_| Serving::start(&place)).collect();
    thread::scope(|scope| {
        for host in &hosts {
            scope.spawn(move || {
                for _ in 0..30 {
                    assert_eq!(host.call("good").body, "\"ok\"");
                }
            });
        }
    });
    // A grant that is changed from outside reaches all of them, and so does a file.
    place.drop_in("more.wasm", &guest::good("more"));
    for host in &hosts {
        until(PATIENCE, || host.call("more").body == "\"ok\"");
    }
    let audit = parse(&place.run(&["audit", "--verify", "--json"]));
    assert_eq!(audit["faults"], json!([]), "{audit}");
    assert!(audit["lines"].as_u64().unwrap() >= 93, "{audit}");
}
