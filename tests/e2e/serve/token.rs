//! The token of a server: made at the first start, kept for this user alone, and asked for on every path.

use std::{
    fs::{self, Permissions},
    io::{BufRead, BufReader},
    os::unix::fs::{PermissionsExt, symlink},
    path::PathBuf,
    process::{Command, Stdio},
    thread,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{Serving, client::Client, kind};
use crate::{
    cli::{Place, assert_wrong, parse, stderr},
    guest,
};

/// A server whose operator says nothing of a token, with these options.
fn run(place: &Place, options: &[&str]) -> Command {
    let mut command = place.command(&[&["run", "--http", "127.0.0.1:0"], options].concat());
    command.env_remove("HERMES_HOST_TOKEN");
    command
}

fn file(place: &Place) -> PathBuf {
    place.home().join("token")
}

fn mode(file: &PathBuf) -> u32 {
    fs::symlink_metadata(file).unwrap().permissions().mode() & 0o7777
}

/// The token that a host made, for as long as the tests run.
fn made(place: &Place) -> &'static str {
    fs::read_to_string(file(place)).unwrap().trim().to_owned().leak()
}

#[test]
fn a_token_is_made_at_the_first_start_and_kept() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    let mut tokens = Vec::new();
    for _ in 0..2 {
        let serving = Serving::spawn(&mut run(&place, &[]));
        assert_eq!(kind(&serving.call("good")), (401, "unauthorized".to_owned()));
        let client = Client { token: Some(made(&place)), ..serving.client };
        assert_eq!(client.post("/v1/call", &json!({"name": "good"})).body, "\"ok\"");
        assert_eq!(mode(&file(&place)), 0o600);
        tokens.push(made(&place));
    }
    assert_eq!(tokens[0], tokens[1]);
    assert!(tokens[0].len() >= 43, "256 bits in base64url");
}

#[test]
fn the_first_lines_say_where_the_token_lies_and_not_what_it_is() {
    let place = Place::new();
    let mut child = run(&place, &[]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let said = super::until_said(&mut child, "Press Ctrl-C");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(said.contains(&file(&place).display().to_string()), "{said}");
    assert!(!said.contains(made(&place)), "{said}");
}

#[test]
fn no_route_but_healthz_answers_without_the_token() {
    let place = Place::new();
    let serving = Serving::start(&place);
    let document = serving.client.get("/openapi.json").json();
    let described = document["paths"].as_object().unwrap().iter();
    let routes: Vec<(String, String)> = described
        .flat_map(|(path, operations)| {
            let methods = operations.as_object().unwrap().keys();
            methods.map(|method| (method.to_ascii_uppercase(), path.replace("{id}", "none"))).collect::<Vec<_>>()
        })
        .chain(["GET", "POST", "DELETE", "OPTIONS"].map(|method| (method.to_owned(), "/mcp".to_owned())))
        .collect();
    assert!(routes.len() > 12, "{routes:?}");
    for (method, path) in routes {
        for token in [None, Some("fedcba9876543210fedcba9876543210")] {
            let client = Client { token, ..serving.client };
            let reply = client.raw(&client.head(&method, &path, "Content-Length: 0\r\n"));
            let expected = if path == "/healthz" { 200 } else { 401 };
            assert_eq!(reply.status, expected, "{method} {path} {token:?}");
        }
    }
    assert_eq!(document["security"], json!([{"bearer": []}]), "the document asks for it on every path");
    assert_eq!(document["paths"]["/healthz"]["get"]["security"], json!([{}]));
}

#[test]
fn a_token_file_in_the_home_that_others_can_read_is_refused() {
    let place = Place::new();
    drop(Serving::spawn(&mut run(&place, &[])));
    let (file, token) = (file(&place), made(&place));
    let name = file.display().to_string();
    for mode in [0o644, 0o640, 0o602] {
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        for options in [&[][..], &["--print-config", "codex"]] {
            let output = run(&place, options).output().unwrap();
            assert_wrong(&output, &[name.as_str(), "others may read or write it", "chmod 600"]);
            assert!(!stderr(&output).contains(token), "{output:?}");
        }
    }
}

#[test]
fn a_token_file_in_the_home_that_is_a_link_or_too_short_is_refused() {
    let place = Place::new();
    fs::create_dir_all(place.home()).unwrap();
    let name = file(&place).display().to_string();
    fs::write(file(&place), "short").unwrap();
    fs::set_permissions(file(&place), Permissions::from_mode(0o600)).unwrap();
    assert_wrong(&run(&place, &[]).output().unwrap(), &[&name, "5 characters"]);
    fs::rename(file(&place), place.home().join("elsewhere")).unwrap();
    symlink(place.home().join("elsewhere"), file(&place)).unwrap();
    assert_wrong(&run(&place, &[]).output().unwrap(), &[&name, "symbolic link"]);
}

#[test]
fn what_is_to_be_pasted_lets_its_client_in() {
    let place = Place::new();
    let print = |client: &str| {
        let mut command = place.command(&["run", "--print-config", client, "--http", "127.0.0.1:7500"]);
        let output = command.env_remove("HERMES_HOST_TOKEN").output().unwrap();
        assert!(!stderr(&output).contains(made(&place)), "{output:?}");
        output
    };
    // Before the first start: the host finds the same token then.
    let codex = print("codex");
    let codex: toml::Table = toml::from_str(&String::from_utf8(codex.stdout).unwrap()).unwrap();
    let header = codex["mcp_servers"]["hermes-host"]["http_headers"]["Authorization"].as_str().unwrap().to_owned();
    let claude = parse(&print("claude-code"));
    assert!(!claude.to_string().contains(made(&place)), "a project's file holds no token: {claude}");
    let helper = claude["mcpServers"]["hermes-host"]["headersHelper"].as_str().unwrap().to_owned();
    let printed = Command::new("sh").args(["-c", &helper]).output().unwrap().stdout;
    let printed: serde_json::Value = serde_json::from_slice(&printed).unwrap();
    assert_eq!(printed["Authorization"], header);
    let serving = Serving::spawn(&mut run(&place, &[]));
    let client = serving.client;
    let reply = client.raw(&client.head("GET", "/v1/tools", &format!("Authorization: {header}\r\n")));
    assert_eq!(reply.status, 200, "{reply:?}");
}

/// Attack 54: it is a program of this machine like any other, and could call tools past every approval.
#[test]
fn a_command_of_the_terminal_gets_nothing_of_the_api() {
    let place = Place::new();
    place.configure("[terminal]\nbackend = \"local\"\n");
    let serving = Serving::spawn(&mut run(&place, &[]));
    let client = Client { token: Some(made(&place)), ..serving.client };
    for (method, path) in [("POST", "/v1/call"), ("POST", "/mcp"), ("GET", "/v1/approvals")] {
        let body = r#"{\"name\": \"calculate\"}"#;
        let head = format!("{method} {path} HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nConnection: close\\r\\n");
        let head = format!("{head}Content-Type: application/json\\r\\nContent-Length: 21\\r\\n\\r\\n");
        let port = client.port;
        let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; printf \"{head}{body}\" >&3; cat <&3");
        let call = json!({"name": "terminal", "arguments": {"command": format!("bash -c '{script}'")}});
        // A person is there, who approves whatever is asked.
        client.get("/v1/approvals");
        let call = thread::spawn(move || client.post("/v1/call", &call));
        while !call.is_finished() {
            for question in client.get("/v1/approvals?wait=1").json()["questions"].as_array().unwrap() {
                client.post(&format!("/v1/approvals/{}", question["id"].as_str().unwrap()), &json!({"answer": "once"}));
            }
        }
        let said = call.join().unwrap().body;
        assert!(said.contains("401 Unauthorized") && said.contains("a token is needed"), "{method} {path}: {said}");
    }
}

#[test]
fn a_client_with_a_wrong_token_is_in_the_log_once_with_its_address() {
    let place = Place::new();
    let mut child = run(&place, &[]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let ready = lines.find(|line| line.contains("http://127.0.0.1:")).unwrap();
    let port = ready.split("127.0.0.1:").nth(1).unwrap().chars().take_while(char::is_ascii_digit).collect::<String>();
    let wrong = Client { port: port.parse().unwrap(), token: Some("0123456789abcdef0123456789abcdeX") };
    for _ in 0..20 {
        assert_eq!(wrong.get("/v1/tools").status, 401);
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let said: Vec<String> = lines.filter(|line| line.contains("refused a request")).collect();
    child.wait().unwrap();
    let [line] = said.as_slice() else { panic!("{said:?}") };
    assert!(line.contains("from 127.0.0.1:") && line.contains("the token is not the one of this server"), "{line}");
    assert!(!line.contains("abcdeX"), "{line}");
}
