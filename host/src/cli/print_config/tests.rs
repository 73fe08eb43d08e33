//! What is printed is what clients read.

use std::{os::unix::ffi::OsStringExt, process::Command};

use proptest::prelude::*;

use serde_json::{Value, json};

use super::{entries::quoted, *};

/// All clients there are.
fn all() -> impl Iterator<Item = Client> {
    Client::value_variants().iter().copied()
}

/// Those whose file takes an address.
fn over_http_clients() -> impl Iterator<Item = Client> {
    all().filter(|client| *client != Client::ClaudeDesktop)
}

/// Spaces, quotes, backslashes, other scripts, and what would end a line or hide one.
const ODD: &str = "/home/a b/it's \"x\" \\n ü 工具 \u{1f980} #:{}[]$%&* \u{202e}\u{7f}\u{85}\u{2028}\u{e0001}\ttab";

fn launch(path: &str) -> Launch {
    Launch {
        program: PathBuf::from(format!("{path}/hermes-host")),
        workspace: path.into(),
        is_workspace_named: true,
        options: ["--tools", path, "--home", path].map(OsString::from).to_vec(),
        http: None,
    }
}

/// A server with its token in the environment.
fn over_http(address: &str) -> Launch {
    let http = Http { address: address.parse().unwrap(), token: TokenSource::Environment, allowed_hosts: Vec::new() };
    Launch { http: Some(http), ..launch("/w") }
}

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A server with its token in a file, which the operator named or which lies in the home.
fn with_file(file: impl Into<PathBuf>, is_named: bool) -> Launch {
    let mut launch = over_http("0.0.0.0:7411");
    let token = TokenSource::File { text: TOKEN.into(), path: file.into(), is_named };
    launch.http.as_mut().unwrap().token = token;
    launch
}

/// The entry of this host, as JSON, as the client's own parser reads it. YAML has its own test.
fn entry(client: Client, launch: &Launch) -> Value {
    let text = render(client, launch).unwrap().stdout;
    let whole: Value = match client {
        Client::Codex => serde_json::to_value(toml::from_str::<toml::Table>(&text).unwrap()).unwrap(),
        Client::Hermes | Client::Goose => yaml(&text),
        _ => serde_json::from_str(&text).unwrap(),
    };
    let key = match client {
        Client::ClaudeDesktop | Client::ClaudeCode | Client::Gemini | Client::Cursor | Client::Windsurf => "mcpServers",
        Client::Hermes | Client::Codex => "mcp_servers",
        Client::VsCode => "servers",
        Client::OpenCode => "mcp",
        Client::Zed => "context_servers",
        Client::Goose => "extensions",
    };
    whole[key][NAME].clone()
}

/// The program and the arguments that the client starts.
fn started(client: Client, launch: &Launch) -> Vec<String> {
    let entry = entry(client, launch);
    let words = match client {
        Client::OpenCode => entry["command"].clone(),
        _ => {
            let command = entry.get(if client == Client::Goose { "cmd" } else { "command" }).unwrap();
            let arguments = entry["args"].as_array().unwrap();
            Value::Array(std::iter::once(command).chain(arguments).cloned().collect())
        }
    };
    serde_json::from_value(words).unwrap()
}

/// The part of YAML that is printed: keys with values in quotes, numbers and booleans, and lists of them. The escapes are those of TOML.
fn yaml(text: &str) -> Value {
    let value = |quoted: &str| {
        serde_json::to_value(&toml::from_str::<toml::Table>(&format!("v = {quoted}")).unwrap()["v"]).unwrap()
    };
    let mut path: Vec<String> = Vec::new();
    let mut whole = json!({});
    for line in text.lines() {
        let (depth, rest) = (line.len() - line.trim_start().len(), line.trim_start());
        path.truncate(depth / 2);
        let at = path.iter().fold(&mut whole, |at, key| &mut at[key.as_str()]);
        match (rest.strip_prefix("- "), rest.split_once(": ")) {
            (Some(item), _) => match at {
                Value::Array(items) => items.push(value(item)),
                _ => *at = json!([value(item)]),
            },
            (None, Some((key, quoted))) => at[key] = value(quoted),
            (None, None) => {
                let key = rest.strip_suffix(':').unwrap();
                at[key] = json!({});
                path.push(key.into());
            }
        }
    }
    whole
}

#[test]
fn every_client_starts_the_host_with_the_paths_as_they_are() {
    for path in ["/plain", ODD] {
        for client in all() {
            // It would replace what stands after a dollar.
            if client == Client::Gemini && path.contains('$') {
                continue;
            }
            let program = format!("{path}/hermes-host");
            let words = [&program, "run", "--stdio", "--workspace", path, "--tools", path, "--home", path];
            assert_eq!(started(client, &launch(path)), words, "{client:?}");
        }
    }
}

#[test]
fn a_workspace_that_was_not_named_is_the_project_where_the_client_says_which() {
    let launch = Launch { is_workspace_named: false, ..launch("/w") };
    for client in all() {
        let words = started(client, &launch);
        let expected: &[&str] = match client {
            Client::ClaudeCode | Client::Codex | Client::Gemini | Client::OpenCode => &[],
            Client::VsCode | Client::Cursor => &["--workspace", "${workspaceFolder}"],
            _ => &["--workspace", "/w"],
        };
        let (before, after) = (["/w/hermes-host", "run", "--stdio"], ["--tools", "/w", "--home", "/w"]);
        assert_eq!(words, [&before[..], expected, &after[..]].concat(), "{client:?}");
        let hint = render(client, &launch).unwrap().hint;
        assert_eq!(hint.contains("in the folder that the client is started in"), expected.is_empty(), "{hint}");
    }
    // A server that is started by hand is in no project.
    let by_hand = Launch { is_workspace_named: false, ..with_file("/token", false) };
    for client in over_http_clients() {
        assert!(render(client, &by_hand).unwrap().hint.contains(" --workspace /w "), "{client:?}");
    }
}

/// Zed and Goose are not known to read variables, so a token in the environment can't reach them.
#[test]
fn a_token_in_the_environment_is_named_and_never_printed() {
    for client in over_http_clients() {
        if [Client::Zed, Client::Goose].contains(&client) {
            let why = render(client, &over_http("0.0.0.0:7411")).unwrap_err().to_string();
            assert!(why.contains(TOKEN_ENV) && why.contains(client.title()), "{why}");
            continue;
        }
        let entry = entry(client, &over_http("0.0.0.0:7411"));
        assert_eq!(entry[url_key(client)], "http://127.0.0.1:7411/mcp", "{client:?}");
        let header = match client {
            Client::Codex => &entry["bearer_token_env_var"],
            _ => &entry["headers"]["Authorization"],
        };
        let expected = match client {
            Client::Codex => TOKEN_ENV,
            Client::VsCode => "Bearer ${input:hermes-host-token}",
            Client::OpenCode => "Bearer {env:HERMES_HOST_TOKEN}",
            Client::Cursor | Client::Windsurf => "Bearer ${env:HERMES_HOST_TOKEN}",
            _ => "Bearer ${HERMES_HOST_TOKEN}",
        };
        assert_eq!(header, expected, "{client:?}");
        let hint = render(client, &over_http("127.0.0.1:7411")).unwrap().hint;
        assert!(hint.contains("run --http 127.0.0.1:7411 --workspace /w") && hint.contains(TOKEN_ENV), "{hint}");
    }
    let error = render(Client::ClaudeDesktop, &over_http("127.0.0.1:7411")).unwrap_err().to_string();
    assert!(error.contains("leave --http out"), "{error}");
    assert_eq!(entry(Client::Codex, &over_http("[::]:80"))["url"], "http://[::1]:80/mcp");
    assert!(render(Client::Codex, &over_http("127.0.0.1:0")).unwrap_err().to_string().contains("name one"));
}

fn url_key(client: Client) -> &'static str {
    match client {
        Client::Gemini => "httpUrl",
        Client::Windsurf => "serverUrl",
        Client::Goose => "uri",
        _ => "url",
    }
}

/// Files of a project are read by tools and committed by people.
#[test]
fn a_token_in_a_file_is_printed_for_files_of_the_home_alone() {
    let launch = with_file("/home/a b/token", false);
    for client in over_http_clients() {
        let (entry, Printed { stdout, hint }) = (entry(client, &launch), render(client, &launch).unwrap());
        let holds_token = !matches!(client, Client::ClaudeCode | Client::VsCode | Client::OpenCode);
        assert_eq!(stdout.contains(TOKEN), holds_token, "{stdout}");
        assert!(!hint.contains(TOKEN) && hint.contains("/home/a b/token"), "{hint}");
        let bearer = format!("Bearer {TOKEN}");
        match client {
            Client::Codex => assert_eq!(entry["http_headers"]["Authorization"], bearer),
            Client::VsCode => assert_eq!(entry["headers"]["Authorization"], "Bearer ${input:hermes-host-token}"),
            Client::OpenCode => assert_eq!(entry["headers"]["Authorization"], "Bearer {file:/home/a b/token}"),
            Client::ClaudeCode => {
                assert!(entry["headersHelper"].as_str().unwrap().contains("/home/a b/token"), "{entry}");
                let header = "--header \"Authorization: Bearer $(cat '/home/a b/token')\"\n";
                assert!(
                    hint.contains("--transport http hermes-host http://127.0.0.1:7411/mcp ") && hint.contains(header)
                );
            }
            _ => assert_eq!(entry["headers"]["Authorization"], bearer, "{client:?}"),
        }
    }
    assert!(!format!("{launch:?}").contains(TOKEN));
}

#[test]
fn the_helper_of_claude_code_prints_the_header_of_the_file() {
    let dir = tempfile::Builder::new().prefix("it's \"a b").tempdir().unwrap();
    let file = dir.path().join("token");
    std::fs::write(&file, format!("{TOKEN}\n")).unwrap();
    let helper = entry(Client::ClaudeCode, &with_file(&file, false))["headersHelper"].as_str().unwrap().to_owned();
    let output = Command::new("sh").arg("-c").arg(helper).output().unwrap().stdout;
    let headers: Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(headers, json!({ "Authorization": format!("Bearer {TOKEN}") }));
}

#[test]
fn the_start_over_http_has_the_token_file_and_the_names_of_the_server() {
    for (is_named, option) in [(true, "--token-file '/keys/a b' "), (false, "")] {
        let mut launch = with_file("/keys/a b", is_named);
        launch.http.as_mut().unwrap().allowed_hosts = ["tools.example", "b.example:80"].map(str::to_owned).to_vec();
        let expected = format!(
            "/w/hermes-host run --http 0.0.0.0:7411 {option}--allow-host tools.example --allow-host b.example:80 \
             --workspace /w --tools /w --home /w"
        );
        for client in over_http_clients() {
            let Printed { stdout, hint } = render(client, &launch).unwrap();
            let start = hint.split_once("# start the host yourself:\n").unwrap().1;
            assert_eq!(start.lines().next(), Some(&*expected), "{client:?}");
            assert!(!hint.contains(TOKEN_ENV), "{hint}");
            assert!(stdout.contains("http://127.0.0.1:7411/mcp"), "{stdout}");
        }
    }
}

/// Codex refuses calls of servers that it may not call unasked where nobody is there to be asked.
#[test]
fn codex_leaves_the_asking_to_the_host() {
    for launch in [launch("/w"), over_http("127.0.0.1:7411"), with_file("/token", false)] {
        assert_eq!(entry(Client::Codex, &launch)["default_tools_approval_mode"], "approve");
    }
}

#[test]
fn vs_code_is_told_what_to_ask_for() {
    let text = render(Client::VsCode, &over_http("127.0.0.1:7411")).unwrap().stdout;
    let whole: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(whole["inputs"][0]["id"], "hermes-host-token");
    assert_eq!(whole["inputs"][0]["password"], true);
}

#[test]
fn what_no_client_can_hold_is_an_error() {
    let strange = OsString::from_vec(b"/home/\xff".to_vec());
    let by_option = Launch { options: vec!["--tools".into(), strange.clone()], ..launch("/w") };
    let by_program = Launch { program: strange.clone().into(), ..launch("/w") };
    let by_workspace = Launch { workspace: strange.clone().into(), ..launch("/w") };
    let by_file = with_file(strange, true);
    for launch in [by_option, by_program, by_workspace, by_file] {
        for client in all() {
            let error = render(client, &launch).unwrap_err().to_string();
            assert!(error.contains("is not UTF-8"), "{error}");
        }
    }
}

#[test]
fn a_path_that_the_client_would_change_is_an_error() {
    for client in all() {
        let path = if client == Client::OpenCode { "/home/{env:HOME}" } else { "/home/${HOME}" };
        let expands = !matches!(client, Client::ClaudeDesktop | Client::Codex | Client::Zed | Client::Goose);
        assert_eq!(render(client, &launch(path)).is_err(), expands, "{client:?}");
    }
    assert!(render(Client::ClaudeCode, &with_file("/home/${HOME}/token", false)).is_err());
}

#[test]
fn clients_have_names_and_other_names_and_the_error_lists_them() {
    for (name, client) in [
        ("claude-desktop", Client::ClaudeDesktop),
        ("claude-code", Client::ClaudeCode),
        ("claude", Client::ClaudeCode),
        ("hermes", Client::Hermes),
        ("vscode", Client::VsCode),
        ("vs-code", Client::VsCode),
        ("codex", Client::Codex),
        ("gemini", Client::Gemini),
        ("opencode", Client::OpenCode),
        ("cursor", Client::Cursor),
        ("zed", Client::Zed),
        ("goose", Client::Goose),
        ("windsurf", Client::Windsurf),
    ] {
        assert_eq!(Client::from_str(name, true), Ok(client));
    }
    #[derive(clap::Parser)]
    struct Cli {
        #[arg(long)]
        print_config: Option<Client>,
    }
    let result = <Cli as clap::Parser>::try_parse_from(["hermes-host", "--print-config", "emacs"]);
    let error = result.map(|cli| cli.print_config).unwrap_err().to_string();
    assert!(
        error.contains(
            "claude-desktop, claude-code, hermes, vscode, codex, gemini, opencode, cursor, zed, goose, windsurf"
        ),
        "{error}"
    );
}

#[test]
fn the_commands_of_the_hint_reach_a_shell_as_they_are() {
    for client in [Client::ClaudeCode, Client::Codex, Client::VsCode] {
        let hint = render(client, &launch(ODD)).unwrap().hint;
        let command = hint.split_once("# or run:\n").unwrap().1.split_once("\n# then: ").unwrap().0;
        // Everything after the client's own name, as the shell hands it over.
        let script = format!("{}() {{ printf '%s\\0' \"$@\"; }}; {command}", command.split(' ').next().unwrap());
        let output = Command::new("sh").arg("-c").arg(script).output().unwrap().stdout;
        let words: Vec<&str> = std::str::from_utf8(&output).unwrap().split_terminator('\0').collect();
        if client == Client::VsCode {
            let named: Value = serde_json::from_str(words[1]).unwrap();
            assert_eq!((&named["name"], &named["args"][3]), (&json!(NAME), &json!(ODD)));
        } else {
            let at = words.iter().position(|word| *word == "--").unwrap();
            assert_eq!(words[at + 1], format!("{ODD}/hermes-host"));
            assert_eq!(words[at + 2..at + 6], ["run", "--stdio", "--workspace", ODD]);
        }
    }
}

proptest! {
    #[test]
    fn any_text_comes_back_from_its_quotes(text in any::<String>()) {
        let quoted = quoted(&text);
        prop_assert!(!quoted.contains('\n'));
        let table: toml::Table = toml::from_str(&format!("v = {quoted}")).unwrap();
        prop_assert_eq!(table["v"].as_str(), Some(&*text));
    }
}
