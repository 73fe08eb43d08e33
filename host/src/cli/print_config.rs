//! `hermes-host run --print-config CLIENT`: what to paste so that an agent finds this host.

mod entries;
mod server;

use std::{ffi::OsString, net::SocketAddr, path::PathBuf};

use anyhow::{Result, bail};
use clap::ValueEnum;

use hermes_host::serve::http::TOKEN_ENV;

use entries::{Entry, entry, shell};
use server::Server;

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
    /// Gemini CLI
    #[value(alias = "gemini-cli")]
    Gemini,
    /// opencode
    #[value(name = "opencode")]
    OpenCode,
    /// Cursor
    Cursor,
    /// Zed
    Zed,
    /// Goose
    Goose,
    /// Windsurf
    Windsurf,
}

/// How a client tells a server that it starts which project it works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Project {
    /// It starts the server in the project's folder. Each that is listed so was seen to: see docs/clients.md.
    Folder,
    /// It puts the folder in the place of this text.
    Variable(&'static str),
    /// Not at all, or not always.
    Unsaid,
}

/// How the host is to be started. All paths are absolute: clients start programs in directories of their own choice.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    /// This binary.
    pub(super) program: PathBuf,
    /// The folder that tools work in.
    pub(super) workspace: PathBuf,
    /// Whether the operator named it. Else it is the current directory, and a client that knows the project's says that instead.
    pub(super) is_workspace_named: bool,
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
    let mut server = Server::of(launch)?;
    let remote = server.remote.iter().filter_map(|remote| remote.token_file.as_ref());
    let mut texts = std::iter::once(&server.program).chain(&server.arguments).chain(remote);
    if let Some((text, mark)) = texts.find_map(|text| Some((text, client.expands(text)?))) {
        bail!("{text} contains {mark}, which {} would replace; rename it", client.title());
    }
    // What is said of the project is for the client to replace, so it comes after that check.
    let (is_folder, is_left_open) =
        (client.project() == Project::Folder, launch.http.is_none() && !launch.is_workspace_named);
    match client.project() {
        Project::Variable(folder) if is_left_open => server.add_workspace(folder),
        Project::Folder if is_left_open => {}
        _ => server.add_workspace(&server::text(launch.workspace.as_os_str())?),
    }
    let Entry { text, command, holds_token } = entry(client, &server)?;
    let mut hint = format!("# {}: {}\n", client.title(), client.place());
    if let Some(command) = command {
        hint.push_str(&format!("# or run:\n{command}\n"));
    }
    hint.push_str(&format!("# then: {}\n", client.then()));
    if is_folder && is_left_open {
        hint.push_str("# tools work in the folder that the client is started in; --workspace DIR names another one\n");
    }
    if let Some(remote) = &server.remote {
        hint.push_str(&format!("# start the host yourself:\n{}\n", shell(&server.command_line())));
        hint.push_str(&match (client, &remote.token_file) {
            (Client::VsCode, None) => {
                format!("# with the token as {TOKEN_ENV} in its environment; VS Code asks for it\n")
            }
            (_, None) => format!("# with the token as {TOKEN_ENV} in both environments\n"),
            (Client::VsCode, Some(file)) => format!("# VS Code asks for the token, which is in {file}\n"),
            (_, Some(file)) if holds_token => {
                format!("# what is to be pasted holds the token of {file}: show it to nobody\n")
            }
            (_, Some(file)) => format!("# the client reads the token from {file}\n"),
        });
    }
    Ok(Printed { stdout: text, hint })
}

impl Client {
    fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Hermes => "Hermes Agent",
            Self::VsCode => "VS Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::OpenCode => "opencode",
            Self::Cursor => "Cursor",
            Self::Zed => "Zed",
            Self::Goose => "Goose",
            Self::Windsurf => "Windsurf",
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
            Self::Gemini => "~/.gemini/settings.json (Windows: %USERPROFILE%\\.gemini\\settings.json)",
            Self::OpenCode => "~/.config/opencode/opencode.json, or opencode.json at the top of a project",
            Self::Cursor => "~/.cursor/mcp.json (Windows: %USERPROFILE%\\.cursor\\mcp.json)",
            Self::Zed => "the settings (\"zed: open settings file\"): ~/.config/zed/settings.json",
            Self::Goose => "~/.config/goose/config.yaml (Windows: %APPDATA%\\Block\\goose\\config\\config.yaml)",
            Self::Windsurf => {
                "~/.codeium/windsurf/mcp_config.json (Windows: %USERPROFILE%\\.codeium\\windsurf\\mcp_config.json)"
            }
        }
    }

    fn then(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "quit Claude Desktop and start it again",
            Self::ClaudeCode => "start Claude Code in that project and look at /mcp",
            Self::Hermes => "hermes mcp test hermes-host",
            Self::VsCode => "\"MCP: List Servers\", hermes-host, Start Server",
            Self::Codex => "start Codex and look at /mcp",
            Self::Gemini => "gemini mcp list",
            Self::OpenCode => "opencode mcp list",
            Self::Cursor => "start Cursor again, and look at MCP in its settings",
            Self::Zed => "look at MCP Servers in the settings",
            Self::Goose => "start a session: goose session",
            Self::Windsurf => "refresh the MCP servers in Cascade",
        }
    }

    /// What it would replace in a text that it reads: a variable, or a file's content.
    fn expands(self, text: &str) -> Option<&'static str> {
        let marks: &[&'static str] = match self {
            Self::ClaudeCode | Self::Hermes | Self::VsCode | Self::Cursor | Self::Windsurf => &["${"],
            Self::Gemini => &["$"],
            Self::OpenCode => &["{env:", "{file:"],
            Self::ClaudeDesktop | Self::Codex | Self::Zed | Self::Goose => &[],
        };
        marks.iter().copied().find(|mark| text.contains(mark))
    }

    /// How it says which project it works on. Hermes Agent starts servers where it was started itself, and its gateway is started
    /// somewhere else than in a project.
    fn project(self) -> Project {
        match self {
            Self::ClaudeCode | Self::Codex | Self::Gemini | Self::OpenCode => Project::Folder,
            Self::VsCode | Self::Cursor => Project::Variable("${workspaceFolder}"),
            Self::ClaudeDesktop | Self::Hermes | Self::Zed | Self::Goose | Self::Windsurf => Project::Unsaid,
        }
    }
}

#[cfg(test)]
mod tests;
