//! What each client's file holds for one server.

use anyhow::{Result, bail, ensure};
use serde_json::{Value, json};

use super::{
    Client, NAME,
    server::{Remote, Server},
};
use hermes_host::{is_hidden, serve::http::TOKEN_ENV};

/// What a client's file holds.
pub(super) struct Entry {
    /// The text to paste.
    pub(super) text: String,
    /// A command line that does the same, for a shell.
    pub(super) command: Option<String>,
    /// Whether the text holds the token.
    pub(super) holds_token: bool,
}

impl Entry {
    fn new(text: String, command: Option<String>) -> Self {
        Self { text, command, holds_token: false }
    }

    /// The same for a file that holds the token where the server's lies in a file.
    fn with_token_of(self, server: &Server) -> Self {
        let holds_token = server.remote.as_ref().is_some_and(|remote| remote.token.is_some());
        Self { holds_token, ..self }
    }
}

pub(super) fn entry(client: Client, server: &Server) -> Result<Entry> {
    match client {
        Client::ClaudeDesktop => claude_desktop(server),
        Client::ClaudeCode => claude_code(server),
        Client::Hermes => Ok(Entry::new(hermes(server), None).with_token_of(server)),
        Client::VsCode => vs_code(server),
        Client::Codex => Ok(codex(server).with_token_of(server)),
        Client::Gemini => gemini(server),
        Client::OpenCode => opencode(server),
        Client::Cursor => servers(server, "url", Some(&format!("${{env:{TOKEN_ENV}}}")), "mcpServers", client),
        Client::Windsurf => servers(server, "serverUrl", Some(&format!("${{env:{TOKEN_ENV}}}")), "mcpServers", client),
        Client::Zed => servers(server, "url", None, "context_servers", client),
        Client::Goose => Ok(Entry::new(goose(server)?, None).with_token_of(server)),
    }
}

/// JSON with a map of servers: a command and its arguments, or an address and headers. `variable`: what the client puts the token in the
/// place of, where it does that.
fn servers(server: &Server, url: &str, variable: Option<&str>, key: &str, client: Client) -> Result<Entry> {
    let entry = match &server.remote {
        None => json!({ "command": server.program, "args": server.arguments }),
        Some(remote) => json!({ url: remote.url, "headers": { "Authorization": bearer(remote, variable, client)? } }),
    };
    Ok(Entry::new(pretty(&json!({ key: { NAME: entry } }))?, None).with_token_of(server))
}

fn bearer(remote: &Remote, variable: Option<&str>, client: Client) -> Result<String> {
    match (variable, &remote.token) {
        (None, None) => bail!(
            "{} reads no variable in its file, so {TOKEN_ENV} can't be named there; unset it, and the token is in a file \
             that is printed",
            client.title()
        ),
        (variable, _) => Ok(remote.bearer(variable.unwrap_or_default())),
    }
}

fn claude_desktop(server: &Server) -> Result<Entry> {
    ensure!(
        server.remote.is_none(),
        "Claude Desktop's file takes no URL; leave --http out (--token-file and --allow-host, too), and it starts \
         the host itself"
    );
    servers(server, "url", None, "mcpServers", Client::ClaudeDesktop)
}

fn claude_code(server: &Server) -> Result<Entry> {
    let (entry, command) = match &server.remote {
        None => {
            let entry = json!({ "type": "stdio", "command": server.program, "args": server.arguments });
            let add = words(&["claude", "mcp", "add", "--scope", "user", NAME, "--"]);
            (entry, shell(&[add, server.command_line()].concat()))
        }
        Some(remote) => {
            let mut entry = json!({ "type": "http", "url": remote.url });
            let add = ["claude", "mcp", "add", "--scope", "user", "--transport", "http", NAME, &remote.url, "--header"];
            let add = shell(&words(&add));
            // The file lies in a project, where tools read it and people commit it: it says where the token is, and nothing more. The
            // command writes to a file in the home, and the shell reads the token.
            let header = match &remote.token_file {
                Some(file) => {
                    entry["headersHelper"] = json!(headers_helper(file));
                    format!("\"Authorization: Bearer $({})\"", shell(&words(&["cat", file])))
                }
                None => {
                    let bearer = remote.bearer(&format!("${{{TOKEN_ENV}}}"));
                    entry["headers"] = json!({ "Authorization": bearer });
                    shell(&[format!("Authorization: {bearer}")])
                }
            };
            (entry, format!("{add} {header}"))
        }
    };
    Ok(Entry::new(pretty(&json!({ "mcpServers": { NAME: entry } }))?, Some(command)))
}

/// The command that Claude Code runs for the headers of a connection: it prints them as JSON.
fn headers_helper(token_file: &str) -> String {
    let read = shell(&words(&["cat", token_file]));
    format!(r#"printf '{{"Authorization":"Bearer %s"}}' "$({read})""#)
}

fn vs_code(server: &Server) -> Result<Entry> {
    let mut whole = json!({ "servers": {} });
    let (entry, command) = match &server.remote {
        None => {
            let named = json!({ "name": NAME, "type": "stdio", "command": server.program, "args": server.arguments });
            let entry = json!({ "type": "stdio", "command": server.program, "args": server.arguments });
            (entry, Some(shell(&words(&["code", "--add-mcp", &named.to_string()]))))
        }
        Some(Remote { url, .. }) => {
            // VS Code is seldom started from a shell that has the variable, and its file may lie in a project: it asks once, and
            // keeps the answer safe.
            let input = "hermes-host-token";
            whole["inputs"] =
                json!([{ "type": "promptString", "id": input, "description": TOKEN_ENV, "password": true }]);
            let header = format!("Bearer ${{input:{input}}}");
            (json!({ "type": "http", "url": url, "headers": { "Authorization": header } }), None)
        }
    };
    whole["servers"][NAME] = entry;
    Ok(Entry::new(pretty(&whole)?, command))
}

/// Codex would ask before every call, and refuses where nobody is there. The host asks by itself about what needs a person.
fn codex(server: &Server) -> Entry {
    let head = format!("[mcp_servers.{NAME}]\n");
    let tail = "default_tools_approval_mode = \"approve\"\n";
    match &server.remote {
        None => {
            let arguments: Vec<String> = server.arguments.iter().map(|argument| quoted(argument)).collect();
            let (command, list) = (quoted(&server.program), arguments.join(", "));
            let add = [words(&["codex", "mcp", "add", NAME, "--"]), server.command_line()].concat();
            Entry::new(format!("{head}command = {command}\nargs = [{list}]\n{tail}"), Some(shell(&add)))
        }
        Some(remote) => {
            let url = quoted(&remote.url);
            if remote.token.is_some() {
                let header = quoted(&remote.bearer(""));
                let text = format!("{head}url = {url}\nhttp_headers = {{ Authorization = {header} }}\n{tail}");
                return Entry::new(text, None);
            }
            let add = ["codex", "mcp", "add", NAME, "--url", &remote.url, "--bearer-token-env-var", TOKEN_ENV];
            let text = format!("{head}url = {url}\nbearer_token_env_var = {}\n{tail}", quoted(TOKEN_ENV));
            Entry::new(text, Some(shell(&words(&add))))
        }
    }
}

fn gemini(server: &Server) -> Result<Entry> {
    let add = words(&["gemini", "mcp", "add", "--scope", "user"]);
    let (entry, command) = match &server.remote {
        None => {
            let entry = json!({ "command": server.program, "args": server.arguments });
            // Its parser takes options that follow the command for its own, but for those behind two dashes.
            let rest = [words(&[NAME, &server.program, "--"]), server.arguments.clone()].concat();
            (entry, Some(shell(&[add, rest].concat())))
        }
        Some(remote) => {
            let bearer = remote.bearer(&format!("${{{TOKEN_ENV}}}"));
            let entry = json!({ "httpUrl": remote.url, "headers": { "Authorization": bearer } });
            let header = format!("Authorization: {bearer}");
            let rest = words(&["--transport", "http", "--header", &header, NAME, &remote.url]);
            (entry, remote.token.is_none().then(|| shell(&[add, rest].concat())))
        }
    };
    Ok(Entry::new(pretty(&json!({ "mcpServers": { NAME: entry } }))?, command).with_token_of(server))
}

/// opencode reads variables and files where its configuration names them.
fn opencode(server: &Server) -> Result<Entry> {
    let entry = match &server.remote {
        None => json!({ "type": "local", "command": server.command_line(), "enabled": true }),
        Some(remote) => {
            let token = match &remote.token_file {
                Some(file) => format!("{{file:{file}}}"),
                None => format!("{{env:{TOKEN_ENV}}}"),
            };
            let headers = json!({ "Authorization": format!("Bearer {token}") });
            json!({ "type": "remote", "url": remote.url, "headers": headers, "oauth": false, "enabled": true })
        }
    };
    let whole = json!({ "$schema": "https://opencode.ai/config.json", "mcp": { NAME: entry } });
    Ok(Entry::new(pretty(&whole)?, None))
}

fn hermes(server: &Server) -> String {
    let head = format!("mcp_servers:\n  {NAME}:\n");
    match &server.remote {
        None => format!("{head}    command: {}\n    args:\n{}", quoted(&server.program), list(&server.arguments)),
        Some(remote) => {
            let (url, header) = (quoted(&remote.url), quoted(&remote.bearer(&format!("${{{TOKEN_ENV}}}"))));
            format!("{head}    url: {url}\n    headers:\n      Authorization: {header}\n")
        }
    }
}

fn goose(server: &Server) -> Result<String> {
    let head = format!("extensions:\n  {NAME}:\n    name: \"{NAME}\"\n    description: \"Tools in sandboxes\"\n");
    let tail = "    enabled: true\n    timeout: 300\n";
    Ok(match &server.remote {
        None => {
            let (program, arguments) = (quoted(&server.program), list(&server.arguments));
            format!("{head}    type: \"stdio\"\n    cmd: {program}\n    args:\n{arguments}{tail}")
        }
        Some(remote) => {
            let (url, header) = (quoted(&remote.url), quoted(&bearer(remote, None, Client::Goose)?));
            format!(
                "{head}    type: \"streamable_http\"\n    uri: {url}\n    headers:\n      Authorization: {header}\n{tail}"
            )
        }
    })
}

/// A list of YAML, three levels deep.
fn list(words: &[String]) -> String {
    words.iter().map(|word| format!("      - {}\n", quoted(word))).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().copied().map(str::to_owned).collect()
}

fn pretty(value: &Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// A string as TOML and YAML both read it.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if !is_hidden(c) => quoted.push(c),
            c if c <= '\u{ffff}' => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    quoted + "\""
}

/// A command line for a shell.
pub(super) fn shell(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    let quote = |word: &String| match !word.is_empty() && word.chars().all(plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}
