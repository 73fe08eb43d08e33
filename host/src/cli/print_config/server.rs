//! A launch as text that a configuration can hold.

use std::{
    ffi::OsStr,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use anyhow::{Context, Result, ensure};

use super::{Http, Launch, TokenSource};

/// The same as a launch, in text, without its workspace.
pub(super) struct Server {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    /// How many of the arguments come before the workspace.
    own: usize,
    /// How a client reaches it over HTTP.
    pub(super) remote: Option<Remote>,
}

/// What a client over HTTP needs.
pub(super) struct Remote {
    /// Where the MCP endpoint is.
    pub(super) url: String,
    /// The file with the token; none where it is in the environment.
    pub(super) token_file: Option<String>,
    /// The token itself, where it is in a file.
    pub(super) token: Option<String>,
}

impl Remote {
    fn of(http: &Http) -> Result<Self> {
        let (token_file, token) = match &http.token {
            TokenSource::Environment => (None, None),
            TokenSource::File { text: token, path, .. } => (Some(text(path.as_os_str())?), Some(token.clone())),
        };
        Ok(Self { url: url(http.address)?, token_file, token })
    }

    /// The header's value, for a file in the user's home that no workspace contains. Where the token is in the environment, the client
    /// puts it in the place of this text.
    pub(super) fn bearer(&self, variable: &str) -> String {
        format!("Bearer {}", self.token.as_deref().unwrap_or(variable))
    }
}

impl Server {
    pub(super) fn of(launch: &Launch) -> Result<Self> {
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
        let own = arguments.len();
        for option in &launch.options {
            arguments.push(text(option)?);
        }
        let (program, http) = (text(launch.program.as_os_str())?, launch.http.as_ref());
        Ok(Self { program, arguments, own, remote: http.map(Remote::of).transpose()? })
    }

    pub(super) fn add_workspace(&mut self, folder: &str) {
        self.arguments.splice(self.own..self.own, ["--workspace".to_owned(), folder.to_owned()]);
    }

    pub(super) fn command_line(&self) -> Vec<String> {
        std::iter::once(&self.program).chain(&self.arguments).cloned().collect()
    }
}

pub(super) fn text(text: &OsStr) -> Result<String> {
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
