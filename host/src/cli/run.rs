//! `hermes-host run`.

use std::{
    collections::HashSet,
    ffi::OsString,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, Result};
use hermes_host::{
    BackgroundCompiler, Host, NewFile,
    approval::{Approver, News, Question, Queue},
    capability::DecidedBy,
    component::Watcher,
    dispatch::ResultForm,
    serve::{
        http::{Metrics, Server, Settings, TOKEN_ENV, Token, TokenFile, guarded, router},
        mcp::{CallListener, Mcp},
    },
};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::broadcast::error::RecvError,
};
use tokio_util::sync::CancellationToken;

use super::{
    OK, Options, list,
    options::absolute,
    output,
    print_config::{self, Client, Http, TokenSource},
    prompt::Prompt,
    selection::SelectionArgs,
    watch::{Config, watch},
};

/// Where the server listens unless it is told.
const ADDRESS: &str = "127.0.0.1:7411";

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  hermes-host run                                  # MCP at http://127.0.0.1:7411/mcp, and the HTTP API\n  hermes-host run --stdio                          # what an agent starts by itself\n  hermes-host run --print-config claude-desktop    # what to paste there\n\nHTTP clients send a token. It is made at the first start and lies in HOME/token, unless HERMES_HOST_TOKEN or --token-file FILE names another."
)]
pub(super) struct Args {
    /// Serve one client by MCP on stdin and stdout
    #[arg(long, conflicts_with_all = ["http", "token_file", "allow_host"])]
    stdio: bool,
    /// Serve MCP and the HTTP API on this address, or on this port of 127.0.0.1
    #[arg(long, value_name = "[IP:]PORT", default_value = ADDRESS, value_parser = address)]
    http: SocketAddr,
    /// A file with the token that HTTP clients must send, readable by nobody else [default: $HERMES_HOST_TOKEN, else HOME/token,
    /// made at the first start]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A name that HTTP clients may call this server by, beside its address; may be given several times
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// How MCP clients get results that are mostly text, such as a file's: as text, or as JSON with a structured copy [default:
    /// as configured, else text]
    #[arg(long, value_name = "FORM")]
    results: Option<ResultForm>,
    /// Print what to paste into a client's configuration, and do nothing else
    #[arg(long, value_name = "CLIENT")]
    print_config: Option<Client>,
}

/// An address to listen on. A port alone is one of loopback: other machines reach the server only where that is asked for.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.parse::<u16>().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    port.or_else(|_| text.parse())
        .map_err(|_| "write a port, such as 7411, or an IP address and a port, such as 127.0.0.1:7411".to_owned())
}

/// The token of a server, and where it lies.
struct ServerToken {
    token: Token,
    /// None where it is in the environment.
    file: Option<TokenFile>,
}

impl Args {
    /// The operator's token, else the host's own, which is made where it is missing.
    fn token(&self, options: &Options) -> Result<ServerToken> {
        let from_env = || std::env::var_os(TOKEN_ENV).filter(|token| !token.is_empty());
        let file = match (&self.token_file, from_env()) {
            (Some(file), _) => TokenFile::named(absolute(file)?),
            (None, Some(token)) => {
                let token = token.to_str().with_context(|| format!("{TOKEN_ENV} is no text"))?;
                let token = Token::new(token).with_context(|| format!("{TOKEN_ENV} can't be used"))?;
                return Ok(ServerToken { token, file: None });
            }
            (None, None) => TokenFile::in_home(&options.home()?)?,
        };
        Ok(ServerToken { token: file.token()?, file: Some(file) })
    }

    /// The HTTP server that the options describe.
    fn settings(&self, token: &Token) -> Result<Settings> {
        Ok(Settings::new(self.http, token.clone(), &self.allow_host)?)
    }

    /// The same for a later start by hand. Options that no server could be started with are refused here already, in the same words.
    fn launch(&self, options: &Options) -> Result<Http> {
        let ServerToken { token, file } = self.token(options)?;
        self.settings(&token)?;
        let token = match file {
            Some(file) => TokenSource::File {
                text: file.text()?,
                path: file.path().to_owned(),
                is_named: self.token_file.is_some(),
            },
            None => TokenSource::Environment,
        };
        Ok(Http { address: self.http, token, allowed_hosts: self.allow_host.clone() })
    }
}

pub(super) fn run(options: &Options, args: &Args, is_http_named: bool) -> Result<u8> {
    if let Some(client) = args.print_config {
        // A token and names of the server are for HTTP alone, so whoever gives them means it.
        let is_http = is_http_named || args.token_file.is_some() || !args.allow_host.is_empty();
        let mut launch = options.launch(is_http.then(|| args.launch(options)).transpose()?)?;
        launch.options.extend(args.selection.words().map(OsString::from));
        if let Some(form) = args.results {
            launch.options.extend(["--results", form.name()].map(OsString::from));
        }
        let printed = print_config::render(client, &launch)?;
        output::paste(&printed.stdout)?;
        options.note(printed.hint.trim_end());
        return Ok(OK);
    }
    options.builder()?.check_home()?;
    let config = Config::seen(options.grant_file()?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("failed to start")?;
    let token = (!args.stdio).then(|| args.token(options)).transpose()?;
    let settings = token.as_ref().map(|token| args.settings(&token.token)).transpose()?;
    let token_file = token.and_then(|token| token.file);
    let token_file = token_file.as_ref().map(TokenFile::path);
    // Before anything is loaded: a port that is taken should not cost a minute of compiling.
    let server = match &settings {
        Some(settings) => Some(runtime.block_on(async { Server::bind(settings) })?),
        None => None,
    };
    let (host, new) = options.serving_host(token_file, args.selection.selection(), args.results)?;
    for name in args.selection.tools().iter().filter(|name| host.catalogue().get(name).is_none()) {
        options.warn(&format!("there is no tool {name:?} yet; hermes-host list shows the names"));
    }
    match args.stdio {
        true => options.note(&format!("Commands: {}", config.file.read()?.terminal.summary())),
        false if options.quiet => {}
        false => list::show_found(&host, &config.file.read()?)?,
    }
    if !new.is_empty() {
        let all: Vec<String> = new.iter().map(NewFile::shown).collect();
        options.note(&format!("Compiling {}. Their tools come as they are ready.", all.join("; ")));
    }
    let watched: Vec<PathBuf> = host.folders().iter().chain(host.hook_folders()).cloned().collect();
    let watcher = Watcher::new(&watched).context("failed to watch the folders")?;
    let waker = watcher.waker();
    let compiler = BackgroundCompiler::start(&host, move || waker.wake()).context("failed to start the compiler")?;
    // Before a client is served: calls wait for what the compiler was given.
    compiler.take(new);
    let (quiet, shared) = (options.quiet, host.clone());
    std::thread::Builder::new()
        .name("hermes-watch".into())
        .spawn(move || watch(&shared, watcher, &compiler, config, quiet))?;
    runtime.block_on(async {
        let stop = stop_on_signals()?;
        match settings.zip(server) {
            Some((settings, server)) => {
                serve_http(options, &host, settings, server, &watched, token_file, stop).await?
            }
            None => Mcp::new(host.clone(), None)?.serve_stdio(stop).await.context("failed to speak MCP on stdio")?,
        }
        host.shut_down().await;
        anyhow::Ok(())
    })?;
    // A client's pipe may still be read on a thread that nobody can wake.
    runtime.shutdown_background();
    Ok(OK)
}

async fn serve_http(
    options: &Options,
    host: &Host,
    settings: Settings,
    server: Server,
    watched: &[PathBuf],
    token_file: Option<&Path>,
    stop: CancellationToken,
) -> Result<()> {
    let (settings, metrics) = (Arc::new(settings), Metrics::new(host));
    let counted = Arc::clone(&metrics);
    let listener: CallListener = Arc::new(move |tool, outcome, time| {
        counted.observe(tool, outcome.result.as_ref().err().map(|error| error.kind), time)
    });
    let mcp = Mcp::new(host.clone(), Some(listener))?;
    let routes = router(host, &metrics, &stop).merge(mcp.routes(stop.clone()));
    if let Some(person) = Prompt::if_there() {
        tokio::spawn(attend(host.approvals().clone(), person));
    }
    let address = server.address().context("failed to find the server's address")?;
    if !options.quiet {
        let names: Vec<String> = watched.iter().map(|folder| folder.display().to_string()).collect();
        let (url, folders) = (format!("http://{address}"), names.join(", "));
        output::note(&format!("Ready: MCP at {url}/mcp, the API at {url}/openapi.json. Watching {folders}."));
        let place = token_file.map_or_else(|| format!("${TOKEN_ENV}"), |file| file.display().to_string());
        output::note(&format!("Clients send the token in {place}; --print-config CLIENT prints what to paste."));
        output::note("Press Ctrl-C to stop.");
    }
    server.serve(guarded(routes, settings), metrics.connections(), stop).await;
    Ok(())
}

/// Puts every question before the person at the terminal, as one of those who may answer.
async fn attend(queue: Queue, person: Arc<Prompt>) {
    // In this order: what is put once somebody attends is among the news or among what is pending.
    let mut news = queue.subscribe();
    let _there = queue.attend();
    let mut asked = HashSet::new();
    let mut waiting = queue.pending();
    loop {
        for question in waiting {
            // What is pending may be among the news, too.
            if asked.insert(question.id().clone()) {
                tokio::spawn(ask(queue.clone(), Arc::clone(&person), question));
            }
        }
        waiting = match news.recv().await {
            Ok(News::Put(question)) => vec![question],
            Ok(News::Ended(id, _)) => {
                asked.remove(&id);
                Vec::new()
            }
            // Some were missed. Those that still wait are pending.
            Err(RecvError::Lagged(_)) => {
                let pending = queue.pending();
                asked.retain(|id| pending.iter().any(|question| question.id() == id));
                pending
            }
            Err(RecvError::Closed) => return,
        };
    }
}

async fn ask(queue: Queue, person: Arc<Prompt>, question: Arc<Question>) {
    let mut news = queue.subscribe();
    let ended = async {
        // Its end may have come before the first news, or be among those that were missed.
        while queue.pending().iter().any(|pending| pending.id() == question.id()) {
            if let Err(RecvError::Closed) = news.recv().await {
                return;
            }
        }
    };
    tokio::select! {
        // In this order: what ended while it waited for its turn is not shown any more.
        biased;
        () = ended => {}
        // Somebody else may have been faster: then this is too late.
        answer = person.ask(&question) => drop(queue.answer_from(question.id(), answer, DecidedBy::Terminal)),
    }
}

/// A token that is cancelled when somebody wants the host to end. A second signal ends it at once.
fn stop_on_signals() -> Result<CancellationToken> {
    let stop = CancellationToken::new();
    let mut signals = Vec::new();
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        signals.push(signal(kind).context("failed to listen for signals")?);
    }
    let stopping = stop.clone();
    tokio::spawn(async move {
        for is_second in [false, true] {
            let any = signals.iter_mut().map(|signal| Box::pin(signal.recv()));
            futures_util::future::select_all(any).await;
            if is_second {
                std::process::exit(130);
            }
            stopping.cancel();
        }
    });
    Ok(stop)
}
