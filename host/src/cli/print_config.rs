//! `hermes-host run --print-config CLIENT`: what to paste so that an agent finds this host.

use std::{
    ffi::{OsStr, OsString},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
};

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use serde_json::{Value, json};

use hermes_host::{is_hidden, serve::http::TOKEN_ENV};

/// What clients call this host.
const NAME: &str = "hermes-host";

/// A program that agents work in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    /// Claude Desktop
    #[value(alias = "desktop")]
    ClaudeDesktop,
    /// Claude Code
    #[value(alias = "claude")]
    ClaudeCode,
    /// Hermes Agent
    #[value(alias = "hermes-agent")]
    Hermes,
    /// VS Code
    #[value(name = "vscode", aliases = ["vs-code", "code"])]
    VsCode,
    /// Codex
    #[value(alias = "codex-cli")]
    Codex,
}

/// How the host is to be started. All paths are absolute: clients start programs in directories of their own choice.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    /// This binary.
    pub(super) program: PathBuf,
    /// The folder that tools work in. Always said: the default is the current directory, which would be the client's.
    pub(super) workspace: PathBuf,
    /// The other options that were given, such as `--tools DIR`.
    pub(super) options: Vec<OsString>,
    /// How it serves HTTP. Without it, the client starts the host and speaks over stdio.
    pub(super) http: Option<Http>,
}

/// A server that is started by hand, with settings that were checked.
#[derive(Clone, Debug)]
pub(super) struct Http {
    /// Where it listens.
    pub(super) address: SocketAddr,
    /// Where it finds its token.
    pub(super) token: TokenSource,
    /// What clients may call it, beside its address.
    pub(super) allowed_hosts: Vec<String>,
}

/// Where a server finds its token, and so where its clients get it from.
#[derive(Clone)]
pub(super) enum TokenSource {
    /// In the variable [`TOKEN_ENV`].
    Environment,
    /// In a file.
    File {
        /// The token itself.
        text: String,
        path: PathBuf,
        /// Whether the operator named it. Else it is the one in the home, which the server finds by itself.
        is_named: bool,
    },
}

impl std::fmt::Debug for TokenSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenSource")
    }
}

/// What is printed.
#[derive(Debug)]
pub(super) struct Printed {
    /// What to paste, alone.
    pub(super) stdout: String,
    /// Where to paste it, and what else to do.
    pub(super) hint: String,
}

/// The configuration of this client for this host.
pub(super) fn render(client: Client, launch: &Launch) -> Result<Printed> {
    let server = Server::of(launch)?;
    if client.expands() {
        let remote = server.remote.iter().filter_map(|remote| remote.token_file.as_ref());
        let texts = std::iter::once(&server.program).chain(&server.arguments).chain(remote);
        if let Some(text) = texts.into_iter().find(|text| text.contains("${")) {
            bail!("{text} contains ${{, which {} would replace; rename it", client.title());
        }
    }
    let (stdout, command) = match client {
        Client::ClaudeDesktop => (claude_desktop(&server)?, None),
        Client::ClaudeCode => claude_code(&server)?,
        Client::Hermes => (hermes(&server), None),
        Client::VsCode => vs_code(&server)?,
        Client::Codex => codex(&server),
    };
    let mut hint = format!("# {}: {}\n", client.title(), client.place());
    if let Some(command) = command {
        hint.push_str(&format!("# or run:\n{}\n", shell(&command)));
    }
    hint.push_str(&format!("# then: {}\n", client.then()));
    if let Some(remote) = &server.remote {
        hint.push_str(&format!("# start the host yourself:\n{}\n", shell(&server.command_line())));
        hint.push_str(&match (client, &remote.token_file) {
            (Client::VsCode, None) => {
                format!("# with the token as {TOKEN_ENV} in its environment; VS Code asks for it\n")
            }
            (_, None) => format!("# with the token as {TOKEN_ENV} in both environments\n"),
            (Client::VsCode, Some(file)) => format!("# VS Code asks for the token, which is in {file}\n"),
            (Client::ClaudeCode, Some(file)) => format!("# the client reads the token from {file}\n"),
            (_, Some(file)) => format!("# what is to be pasted holds the token of {file}: show it to nobody\n"),
        });
    }
    Ok(Printed { stdout, hint })
}

impl Client {
    fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Hermes => "Hermes Agent",
            Self::VsCode => "VS Code",
            Self::Codex => "Codex",
        }
    }

    fn place(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => {
                "Settings > Developer > Edit Config, or claude_desktop_config.json in ~/Library/Application Support/Claude (macOS), %APPDATA%\\Claude (Windows), ~/.config/Claude (Linux)"
            }
            Self::ClaudeCode => ".mcp.json at the top of a project",
            Self::Hermes => "~/.hermes/config.yaml (Windows: %LOCALAPPDATA%\\hermes\\config.yaml)",
            Self::VsCode => {
                ".vscode/mcp.json in a project, or for all of them \"MCP: Open User Configuration\": mcp.json in ~/Library/Application Support/Code/User (macOS), %APPDATA%\\Code\\User (Windows), ~/.config/Code/User (Linux)"
            }
            Self::Codex => "~/.codex/config.toml (Windows: %USERPROFILE%\\.codex\\config.toml)",
        }
    }

    fn then(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "quit Claude Desktop and start it again",
            Self::ClaudeCode => "start Claude Code in that project and look at /mcp",
            Self::Hermes => "hermes mcp test hermes-host",
            Self::VsCode => "\"MCP: List Servers\", hermes-host, Start Server",
            Self::Codex => "start Codex and look at /mcp",
        }
    }

    /// Whether it replaces `${...}` in what it reads.
    fn expands(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Hermes | Self::VsCode)
    }
}

/// The same as a launch, in text.
struct Server {
    program: String,
    arguments: Vec<String>,
    /// How a client reaches it over HTTP.
    remote: Option<Remote>,
}

/// What a client over HTTP needs.
struct Remote {
    /// Where the MCP endpoint is.
    url: String,
    /// The file with the token; none where it is in the environment.
    token_file: Option<String>,
    /// The token itself, where it is in a file.
    token: Option<String>,
}

impl Remote {
    fn of(http: &Http) -> Result<Self> {
        let (token_file, token) = match &http.token {
            TokenSource::Environment => (None, None),
            TokenSource::File { text: token, path, .. } => (Some(text(path.as_os_str())?), Some(token.clone())),
        };
        Ok(Self { url: url(http.address)?, token_file, token })
    }

    /// The header's value, for a file in the user's home that no workspace contains. Clients expand the variable.
    fn bearer(&self) -> String {
        match &self.token {
            Some(token) => format!("Bearer {token}"),
            None => format!("Bearer ${{{TOKEN_ENV}}}"),
        }
    }
}

impl Server {
    fn of(launch: &Launch) -> Result<Self> {
        let mut arguments = vec!["run".to_owned()];
        match &launch.http {
            None => arguments.push("--stdio".into()),
            Some(http) => {
                arguments.extend(["--http".into(), http.address.to_string()]);
                if let TokenSource::File { path, is_named: true, .. } = &http.token {
                    arguments.extend(["--token-file".into(), text(path.as_os_str())?]);
                }
                for name in &http.allowed_hosts {
                    arguments.extend(["--allow-host".into(), name.clone()]);
                }
            }
        }
        arguments.extend(["--workspace".into(), text(launch.workspace.as_os_str())?]);
        for option in &launch.options {
            arguments.push(text(option)?);
        }
        let (program, http) = (text(launch.program.as_os_str())?, launch.http.as_ref());
        Ok(Self { program, arguments, remote: http.map(Remote::of).transpose()? })
    }

    fn command_line(&self) -> Vec<String> {
        std::iter::once(&self.program).chain(&self.arguments).cloned().collect()
    }
}

fn text(text: &OsStr) -> Result<String> {
    let why = || format!("{} is not UTF-8, and no client's configuration can hold it; rename it", text.display());
    Ok(text.to_str().with_context(why)?.to_owned())
}

/// What a client on this machine connects to.
fn url(mut address: SocketAddr) -> Result<String> {
    ensure!(address.port() != 0, "port 0 is another one at every start; name one, such as --http 127.0.0.1:7411");
    if address.ip().is_unspecified() {
        // It listens on all of them, and none of them has this address.
        address.set_ip(match address {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        });
    }
    Ok(format!("http://{address}/mcp"))
}

fn claude_desktop(server: &Server) -> Result<String> {
    ensure!(
        server.remote.is_none(),
        "Claude Desktop's file takes no URL; leave --http out (--token-file and --allow-host, too), and it starts \
         the host itself"
    );
    pretty(&json!({ "mcpServers": { NAME: { "command": server.program, "args": server.arguments } } }))
}

fn claude_code(server: &Server) -> Result<(String, Option<Vec<String>>)> {
    let add = ["claude", "mcp", "add", "--scope", "user"];
    let (entry, command) = match &server.remote {
        None => {
            let entry = json!({ "type": "stdio", "command": server.program, "args": server.arguments });
            (entry, [words(&add), words(&[NAME, "--"]), server.command_line()].concat())
        }
        Some(remote) => {
            let mut entry = json!({ "type": "http", "url": remote.url });
            // The file lies in a project, where tools read it and people commit it: it says where the token is, and nothing more.
            match &remote.token_file {
                Some(file) => entry["headersHelper"] = json!(headers_helper(file)),
                None => entry["headers"] = json!({ "Authorization": remote.bearer() }),
            }
            let command = words(&["claude", "mcp", "add-json", "--scope", "user", NAME, &entry.to_string()]);
            (entry, command)
        }
    };
    Ok((pretty(&json!({ "mcpServers": { NAME: entry } }))?, Some(command)))
}

/// The command that Claude Code runs for the headers of a connection: it prints them as JSON.
fn headers_helper(token_file: &str) -> String {
    let read = shell(&words(&["cat", token_file]));
    format!(r#"printf '{{"Authorization":"Bearer %s"}}' "$({read})""#)
}

fn vs_code(server: &Server) -> Result<(String, Option<Vec<String>>)> {
    let mut whole = json!({ "servers": {} });
    let (entry, command) = match &server.remote {
        None => {
            let named = json!({ "name": NAME, "type": "stdio", "command": server.program, "args": server.arguments });
            let entry = json!({ "type": "stdio", "command": server.program, "args": server.arguments });
            (entry, Some(words(&["code", "--add-mcp", &named.to_string()])))
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
    Ok((pretty(&whole)?, command))
}

fn codex(server: &Server) -> (String, Option<Vec<String>>) {
    let head = format!("[mcp_servers.{NAME}]\n");
    match &server.remote {
        None => {
            let arguments: Vec<String> = server.arguments.iter().map(|argument| quoted(argument)).collect();
            let (command, list) = (quoted(&server.program), arguments.join(", "));
            let add = [words(&["codex", "mcp", "add", NAME, "--"]), server.command_line()].concat();
            (format!("{head}command = {command}\nargs = [{list}]\n"), Some(add))
        }
        Some(remote) => {
            let url = quoted(&remote.url);
            if remote.token.is_some() {
                let header = quoted(&remote.bearer());
                return (format!("{head}url = {url}\nhttp_headers = {{ Authorization = {header} }}\n"), None);
            }
            let add = ["codex", "mcp", "add", NAME, "--url", &remote.url, "--bearer-token-env-var", TOKEN_ENV];
            (format!("{head}url = {url}\nbearer_token_env_var = {}\n", quoted(TOKEN_ENV)), Some(words(&add)))
        }
    }
}

fn hermes(server: &Server) -> String {
    let head = format!("mcp_servers:\n  {NAME}:\n");
    match &server.remote {
        None => {
            let arguments: String =
                server.arguments.iter().map(|argument| format!("      - {}\n", quoted(argument))).collect();
            format!("{head}    command: {}\n    args:\n{arguments}", quoted(&server.program))
        }
        Some(remote) => {
            let (url, header) = (quoted(&remote.url), quoted(&remote.bearer()));
            format!("{head}    url: {url}\n    headers:\n      Authorization: {header}\n")
        }
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().copied().map(str::to_owned).collect()
}

fn pretty(value: &Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// A string as TOML and YAML both read it.
fn quoted(text: &str) -> String {
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
fn shell(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    let quote = |word: &String| match !word.is_empty() && word.chars().all(plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
