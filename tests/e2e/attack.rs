//! The attacks of SECURITY.md, each by a guest in `tests/guests` of the test's name. A guest without a test does not compile.
//!
//! Every test has a good tool beside the attacker: whatever happens, it must still answer.

mod boundary;
mod hooks;
pub(crate) mod load;
mod memory;
mod neighbours;
mod schema;
mod time;
mod wasi;

use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use hermes_host::{
    CallContext, Host,
    component::{CompileLimits, Compiler, Refusal},
    dispatch::{ErrorKind, Outcome},
    sandbox::Limits,
};
use tempfile::TempDir;

use crate::{
    guest, heap,
    patience::{PATIENCE, some_round},
};

/// How far past its wall clock a call may be. A busy machine wakes a thread late; without a deadline a call would never end.
const GRACE: Duration = PATIENCE;

/// The binary that compiles, and that the tests of stdout run.
const PROGRAM: &str = env!("CARGO_BIN_EXE_hermes-host");

/// A folder with an attacker and a good tool, and a home.
struct Stage {
    dir: TempDir,
    compiler: Compiler,
}

impl Stage {
    /// The attacker `tests/guests/NAME.wat`.
    fn of(name: &str) -> Self {
        Self::with(name, &guest::attack(name))
    }

    /// An attacker made by the test.
    fn with(name: &str, bytes: &[u8]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("tools")).unwrap();
        let compiler = Compiler::Worker(PROGRAM.into(), CompileLimits::STANDARD);
        let stage = Self { dir, compiler };
        stage.add(name, bytes);
        stage.add("good", &guest::good("good"));
        stage
    }

    fn add(&self, name: &str, bytes: &[u8]) {
        fs::write(self.tools().join(name).with_extension("wasm"), bytes).unwrap();
    }

    /// Gives a component other limits: `timeout = "1s"`.
    fn limits(self, name: &str, limits: &str) -> Self {
        let grants = fs::read_to_string(self.config()).unwrap_or_default();
        fs::write(self.config(), format!("{grants}[tools.{name}]\nlimits = {{ {limits} }}\n")).unwrap();
        self
    }

    fn compiler(self, compiler: Compiler) -> Self {
        Self { compiler, ..self }
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    fn config(&self) -> PathBuf {
        self.dir.path().join("hermes.toml")
    }

    fn tools(&self) -> PathBuf {
        self.dir.path().join("tools")
    }

    /// A new host: what the one before remembers is in the home.
    fn host(&self) -> Host {
        let builder = Host::builder().home(self.home()).tools(self.tools()).without_bundled();
        let builder = if self.config().exists() { builder.config(self.config()) } else { builder };
        builder.compiler(self.compiler.clone()).build().unwrap()
    }
}

/// Calls a tool; says how long it took.
async fn timed_call(host: &Host, name: &str) -> (Outcome, Duration) {
    let start = Instant::now();
    let outcome = host.call(name, "{}", CallContext::default()).await;
    (outcome, start.elapsed())
}

/// The same for callers without an executor.
fn timed(host: &Host, name: &str) -> (Outcome, Duration) {
    pollster::block_on(timed_call(host, name))
}

/// The name of the outcome's kind, or its JSON where it worked.
fn kind(outcome: &Outcome) -> String {
    outcome.result.as_ref().map_or_else(|error| error.kind.to_string(), |reply| reply.json())
}

/// The good tool answers, and soon.
fn assert_good(host: &Host) {
    let (outcome, took) = timed(host, "good");
    assert_eq!(outcome.json(), "\"ok\"");
    assert!(took < GRACE, "the good tool took {took:?}");
}

/// Calls the attacker under the standard limits. It must end in this kind, in time, and leave the good tool alone.
fn assert_ends(name: &str, expected: &str) -> Outcome {
    assert_ends_on(&Stage::of(name), name, expected, Limits::HANDLE.wall)
}

/// The same with one second on the wall clock and more fuel than that can burn.
fn assert_ends_within_a_second(name: &str, expected: &str) -> Outcome {
    let stage = Stage::of(name).limits(name, "timeout = \"1s\", fuel = 9_000_000_000_000_000_000");
    assert_ends_on(&stage, name, expected, Duration::from_secs(1))
}

fn assert_ends_on(stage: &Stage, name: &str, expected: &str, wall: Duration) -> Outcome {
    let host = stage.host();
    assert_eq!(host.catalogue().refusals(), []);
    let (outcome, took) = timed(&host, name);
    assert_eq!(kind(&outcome), expected, "{}", outcome.json());
    assert!(took <= wall + GRACE, "{name} took {took:?}");
    if let Err(error) = &outcome.result {
        assert!(!matches!(error.kind, ErrorKind::UnknownTool));
        serde_json::from_str::<serde_json::Value>(&outcome.json()).unwrap();
    }
    assert_good(&host);
    outcome
}

/// The attacker is refused at the load, in one printable line that says this; the good tool loads and answers.
fn assert_refused(name: &str, reason: &str) -> Stage {
    let stage = Stage::of(name);
    assert_refused_on(&stage, reason);
    stage
}

fn assert_refused_on(stage: &Stage, reason: &str) {
    let host = stage.host();
    assert_refusal(host.catalogue().refusals(), reason);
    assert_good(&host);
}

fn assert_refusal(refusals: &[Refusal], expected: &str) {
    let [Refusal { reason, .. }] = refusals else { panic!("expected one refusal: {refusals:?}") };
    assert!(reason.contains(expected), "{reason}");
    assert!(!reason.contains(char::is_control), "{reason:?}");
    assert!(reason.len() < 1000, "{} bytes: {}", reason.len(), &reason[..200]);
}

/// The attacker is refused for what can be read in its bytes: there is no compiler to ask.
fn assert_refused_before_compiling(name: &str, reason: &str) {
    assert_bytes_refused_before_compiling(&guest::attack(name), reason);
}

fn assert_bytes_refused_before_compiling(bytes: &[u8], reason: &str) {
    // The good tool is compiled by a first host, and comes out of the cache in the second.
    let stage = Stage::with("other", &guest::good("other"));
    stage.host();
    let stage = stage.compiler(Compiler::Worker("/nonexistent".into(), CompileLimits::STANDARD));
    stage.add("other", bytes);
    assert_refused_on(&stage, reason);
}

include!(concat!(env!("OUT_DIR"), "/guests.rs"));

macro_rules! has_test {
    ($name:ident) => {
        const _: fn() = {
            #[allow(unused_imports, reason = "each guest's test is in one of them")]
            use {boundary::*, hooks::*, load::*, memory::*, neighbours::*, schema::*, time::*, wasi::*};
            $name
        };
    };
}

for_each_guest!(has_test);
