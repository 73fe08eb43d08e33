//! What MCP on stdio costs on top of a call: beside a server of the same library whose tool answers at once, and beside the embedded
//! call. All three in one run, in turns, so that a noisy machine disturbs them alike; ratios are what counts. Exits with 1 when a bound
//! is missed.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use hermes_host::{
    CallContext, Host,
    component::{CompileLimits, Compiler},
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities, ServerConfig},
    service::{RequestContext, serve_server},
    transport::{async_rw::AsyncRwTransport, stdio_pipes},
};
use serde_json::{Value, json};

/// The most that a call by MCP may cost, as a multiple of what the protocol and the call cost apart. Each has its caches to itself there,
/// so that together they cost twice as much; a copy or a hop more between them shows well before this.
const MOST_OVERHEAD: f64 = 3.0;

const ROUNDS: usize = 40;
const CALLS_A_ROUND: usize = 250;

const BINARY: &str = env!("CARGO_BIN_EXE_hermes-host");

/// Makes this program the null server.
const NULL_SERVER: &str = "--null-server";

/// The allocator of the binary, for all sides that are measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ARGUMENTS: &str = r#"{"name":"Ada"}"#;
const GREETING: &str = "Hello, Ada!";

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == NULL_SERVER) {
        serve_nothing();
        return ExitCode::SUCCESS;
    }
    let overhead = serve();
    if overhead <= MOST_OVERHEAD {
        return ExitCode::SUCCESS;
    }
    println!("MISSED: MCP / (null server + embedded)");
    ExitCode::FAILURE
}

/// The same trivial tool three ways.
fn serve() -> f64 {
    let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/examples/hello.wasm"))
        .expect("target/examples/hello.wasm: run make tools");
    let place = tempfile::tempdir().unwrap();
    let (tools, home) = (place.path().join("tools"), place.path().join("home"));
    fs::create_dir(&tools).unwrap();
    fs::write(tools.join("hello.wasm"), &bytes).unwrap();
    let worker = Compiler::Worker(BINARY.into(), CompileLimits::STANDARD);
    let host = Host::builder().home(home.join("embedded")).tools(&tools).without_bundled().compiler(worker);
    let host = host.build().unwrap();
    let embedded = || {
        let outcome = host.call_blocking("hello", ARGUMENTS, CallContext::default());
        assert_eq!(outcome.json(), format!("\"{GREETING}\""));
    };
    let mut ours = Command::new(BINARY);
    ours.args(["run", "--stdio", "--quiet", "--tools"]).arg(&tools).arg("--home").arg(home.join("served"));
    let mut ours = Client::of(&mut ours);
    let mut null = Client::of(Command::new(std::env::current_exe().unwrap()).arg(NULL_SERVER));
    let (mut by_mcp, mut by_null, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        time(&mut by_null, || null.call());
        time(&mut by_mcp, || ours.call());
        time(&mut alone, embedded);
    }
    let (by_mcp, by_null, alone) = (median(by_mcp), median(by_null), median(alone));
    let line = |name: &str, time: Duration| println!("{name:<28}{:>9.1} µs a call, p50", time.as_secs_f64() * 1e6);
    line("MCP on stdio", by_mcp);
    line("null server on stdio", by_null);
    line("embedded", alone);
    let ratio = |over: Duration| by_mcp.as_secs_f64() / over.as_secs_f64();
    println!("{:<28}{:>9.2}", "MCP / null server", ratio(by_null));
    println!("{:<28}{:>9.2}", "MCP / embedded", ratio(alone));
    let overhead = ratio(by_null + alone);
    println!("{:<28}{overhead:>9.2}    (at most {MOST_OVERHEAD})", "MCP / (null + embedded)");
    overhead
}

/// One call after another, each with its own time.
fn time(times: &mut Vec<Duration>, mut call: impl FnMut()) {
    for _ in 0..CALLS_A_ROUND {
        let start = Instant::now();
        call();
        times.push(start.elapsed());
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// A server in a process of its own, and the client's ends of its pipes.
struct Client {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Client {
    fn of(command: &mut Command) -> Self {
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
        let mut client = Self { server, input, output, id: 0 };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}});
        client.request("initialize", &hello.to_string());
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        client
    }

    fn send(&mut self, message: &str) {
        self.input.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn request(&mut self, method: &str, params: &str) -> Value {
        self.id += 1;
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{},"method":"{method}","params":{params}}}"#, self.id));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], self.id, "{line}");
        answer
    }

    fn call(&mut self) {
        let answer = self.request("tools/call", &format!(r#"{{"name":"hello","arguments":{ARGUMENTS}}}"#));
        assert_eq!(answer["result"]["content"][0]["text"], GREETING, "{answer}");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A tool that does nothing, behind the same library, transport and runtime.
struct Null;

impl ServerHandler for Null {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::success(vec![ContentBlock::text(GREETING)]).into())
    }
}

fn serve_nothing() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (read, write) = stdio_pipes();
        let running = serve_server(Null, AsyncRwTransport::new(read, write)).await.unwrap();
        running.waiting().await.unwrap();
    });
    runtime.shutdown_background();
}
