//! What all subcommands have in common.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use hermes_host::{Host, HostBuilder, NewFile, dispatch::ResultForm, grant::GrantFile, registry::Selection};
use tracing_subscriber::filter::LevelFilter;

use super::{
    output,
    print_config::{Http, Launch},
    progress::{self, Progress},
    prompt::Prompt,
};

#[derive(Args)]
#[command(next_help_heading = "Options of every command")]
pub(super) struct Options {
    /// A folder with components; may be given several times [default: HOME/tools]
    #[arg(long, global = true, value_name = "DIR")]
    tools: Vec<PathBuf>,
    /// A folder with hooks, which watch over every call; may be given several times [default: HOME/hooks]
    #[arg(long, global = true, value_name = "DIR")]
    hooks: Vec<PathBuf>,
    /// The file with the operator's grants [default: HOME/hermes.toml]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The folder that tools with file or terminal access work in [default: the current one]
    #[arg(long, global = true, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Where the host keeps its files [default: $HERMES_HOME, else ~/.hermes]
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Say nothing but errors
    #[arg(long, short, global = true)]
    pub(super) quiet: bool,
    /// How much to log to stderr
    #[arg(long, global = true, value_name = "LEVEL", default_value = "warn")]
    log: LogLevel,
}

#[derive(Clone, Copy, ValueEnum)]
enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl Options {
    /// A builder with these options.
    pub(super) fn builder(&self) -> Result<HostBuilder> {
        if let Some(workspace) = self.workspace.as_ref().filter(|workspace| !workspace.is_dir()) {
            bail!("the workspace {} is not a directory; name one with --workspace DIR", workspace.display());
        }
        let mut builder = Host::builder();
        for folder in &self.tools {
            builder = builder.tools(absolute(folder)?);
        }
        for folder in &self.hooks {
            builder = builder.hooks(absolute(folder)?);
        }
        if let Some(workspace) = &self.workspace {
            builder = builder.workspace(workspace);
        }
        if let Some(config) = &self.config {
            builder = builder.config(config);
        }
        if let Some(home) = &self.home {
            builder = builder.home(absolute(home)?);
        }
        Ok(builder)
    }

    /// Where the host keeps its files.
    pub(super) fn home(&self) -> Result<PathBuf> {
        match &self.home {
            Some(home) => absolute(home),
            None => Ok(hermes_host::default_home()?),
        }
    }

    /// The file with the grants.
    pub(super) fn grant_file(&self) -> Result<GrantFile> {
        let (path, named) = match &self.config {
            Some(config) => (absolute(config)?, true),
            None => (self.home()?.join("hermes.toml"), false),
        };
        let workspace = absolute(self.workspace.as_deref().unwrap_or(Path::new(".")))?;
        Ok(GrantFile { path, named, workspace })
    }

    /// The folders that tools are loaded from. The default one need not be there yet.
    pub(super) fn tool_folders(&self) -> Result<Vec<PathBuf>> {
        if self.tools.is_empty() {
            return Ok(vec![self.home()?.join("tools")].into_iter().filter(|folder| folder.is_dir()).collect());
        }
        self.tools.iter().map(|folder| absolute(folder)).collect()
    }

    /// Something that people may want to know.
    pub(super) fn note(&self, text: &str) {
        if !self.quiet {
            output::note(text);
        }
    }

    /// Something that people should know.
    pub(super) fn warn(&self, text: &str) {
        self.note(&format!("{} {text}", output::styled(output::BAD.bold(), "warning:")));
    }

    /// The host for a server, and what it must compile: clients are answered meanwhile. Clients and whoever attends to the questions are
    /// asked.
    pub(super) fn serving_host(
        &self,
        token_file: Option<&Path>,
        offered: Selection,
        results: Option<ResultForm>,
    ) -> Result<(Host, Vec<NewFile>)> {
        let mut builder = self.builder()?.on_load(progress::lines(self.quiet)).offer(offered);
        if let Some(form) = results {
            builder = builder.result_form(form);
        }
        if let Some(file) = token_file {
            builder = builder.secret_file(absolute(file)?);
        }
        Ok(builder.build_cached()?)
    }

    /// How a client must start this host to have what this command line says.
    pub(super) fn launch(&self, http: Option<Http>) -> Result<Launch> {
        let mut options = Vec::new();
        let tools = self.tools.iter().map(|folder| ("--tools", folder.clone()));
        let hooks = self.hooks.iter().map(|folder| ("--hooks", folder.clone()));
        let config = self.config.iter().map(|file| ("--config", file.clone()));
        // Clients hand on few variables, and HERMES_HOME is none of them.
        let says_home = self.home.is_some() || std::env::var_os("HERMES_HOME").is_some();
        let home = says_home.then(|| self.home()).transpose()?.map(|home| ("--home", home));
        for (name, path) in tools.chain(hooks).chain(config).chain(home) {
            options.extend([OsString::from(name), absolute(&path)?.into_os_string()]);
        }
        let workspace = absolute(self.workspace.as_deref().unwrap_or(Path::new(".")))?;
        let program = std::env::current_exe().context("failed to find this program")?;
        Ok(Launch { program, workspace, is_workspace_named: self.workspace.is_some(), options, http })
    }

    /// The host, with a progress bar while components compile, and with the person at the terminal to ask.
    pub(super) fn host(&self) -> Result<Host> {
        let progress = Progress::new(self.quiet);
        let mut builder = self.builder()?.on_load(progress.listener());
        if let Some(person) = Prompt::if_there() {
            builder = builder.approver(person);
        }
        let host = builder.build();
        progress.finish();
        Ok(host?)
    }
}

/// So that watched and shown paths stay right if the current directory changes.
pub(super) fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("failed to find {}", path.display()))
}

/// Logs go to stderr, so that stdout holds results alone.
pub(super) fn start_log(options: &Options) {
    let level = match options.log {
        _ if options.quiet => LevelFilter::ERROR,
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    let colours = super::output::colours_on_stderr();
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(level)
        .with_ansi(colours)
        .without_time()
        .init();
}
