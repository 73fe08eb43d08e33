//! Guests that attack the host while it loads them.

use std::os::unix::fs::PermissionsExt;

use super::*;

#[test]
pub(super) fn calls_host_in_register() {
    assert_refused("calls_host_in_register", "register was ended (host-call-budget)");
}

#[test]
pub(super) fn registers_a_bad_name() {
    assert_refused("registers_a_bad_name", "registers a tool named \"../x\"");
}

#[test]
pub(super) fn registers_5_mb_description() {
    assert_refused("registers_5_mb_description", "register was ended (result-too-large)");
}

#[test]
pub(super) fn imports_the_unknown() {
    assert_refused_before_compiling(
        "imports_the_unknown",
        "imports hermes:tool/teleport@0.1.0, which this host does not have",
    );
}

#[test]
pub(super) fn imports_an_escape() {
    assert_refused_before_compiling("imports_an_escape", "which this host does not have");
}

/// The engine would refuse them, too, after it was started for nothing.
#[test]
pub(super) fn uses_streams() {
    assert_refused_before_compiling("uses_streams", "streams or futures of the component model (WASI 0.3)");
}

#[test]
pub(super) fn lifts_async() {
    assert_refused_before_compiling("lifts_async", "uses async functions");
}

/// Components in one file that call each other: wasmtime makes the code between them, which sees the memories of both.
#[test]
fn composed_components_load_and_call_each_other() {
    let stage = Stage::with("composed", &guest::assemble("composed", COMPOSED));
    let host = stage.host();
    assert_eq!(host.catalogue().refusals(), []);
    assert_eq!(timed(&host, "composed").0.json(), "\"ok\"");
    assert_good(&host);
}

/// At its start `$b` asks `$a` for a text, and traps unless it arrives in its own memory.
const COMPOSED: &str = r#"(component
  (component $a
    (core module $m
      (memory (export "memory") 1)
      (data (i32.const 16) "hello")
      (func (export "greet") (result i32)
        (i32.store (i32.const 0) (i32.const 16)) (i32.store (i32.const 4) (i32.const 5)) (i32.const 0)))
    (core instance $i (instantiate $m))
    (func (export "greet") (result string) (canon lift (core func $i "greet") (memory $i "memory"))))
  (component $b
    (import "greet" (func $greet (result string)))
    (core module $libc
      (memory (export "memory") 1)
      (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
    (core instance $libc (instantiate $libc))
    (core func $lowered (canon lower (func $greet) (memory $libc "memory") (realloc (func $libc "realloc"))))
    (core module $m
      (import "libc" "memory" (memory 1))
      (import "a" "greet" (func $greet (param i32)))
      (func $start
        (call $greet (i32.const 0))
        (if (i32.ne (i32.load (i32.const 1024)) (i32.const 0x6c6c6568)) (then unreachable)))
      (start $start))
    (core instance (instantiate $m
      (with "libc" (instance $libc)) (with "a" (instance (export "greet" (func $lowered)))))))
  (instance $i (instantiate $a))
  (instance (instantiate $b (with "greet" (func $i "greet")))))"#;

#[test]
pub(super) fn built_for_a_newer_version() {
    assert_refused_before_compiling(
        "built_for_a_newer_version",
        "was built for hermes:tool 0.9.0; this host supports 0.1.0",
    );
}

#[test]
pub(super) fn a_version_of_a_megabyte_is_not_repeated() {
    let version = "9".repeat(1 << 20);
    let text = format!(r#"(component (instance $p) (export "hermes:tool/provider@0.9.0+{version}" (instance $p)))"#);
    assert_bytes_refused_before_compiling(&guest::assemble("version", &text), "");
}

/// Ten of ten of ten, fourteen deep, from 6 kB of text: more instances than could ever be listed.
#[test]
pub(super) fn components_that_multiply_are_refused() {
    let instances = "(instance (instantiate $c)) ".repeat(10);
    let nested = (0..14).fold("(core module)".to_owned(), |inner, _| format!("(component $c {inner}) {instances}"));
    let nested = nested.replacen(&instances, "", 1);
    let stage = Stage::with("multiplies", &guest::assemble("multiplies", &format!("(component {nested})")));
    let limits = CompileLimits { cpu: Duration::from_secs(2), ..CompileLimits::STANDARD };
    assert_refused_on(&stage.compiler(Compiler::Worker(PROGRAM.into(), limits)), "");
}

/// Attack 27: whichever limit of the compile worker strikes first, only the worker is lost. What the component itself used up is
/// remembered, and it is not tried again.
#[test]
pub(super) fn a_compile_bomb_takes_only_the_worker_with_it() {
    let bomb = bomb();
    let seconds = Duration::from_secs;
    let standard = CompileLimits::STANDARD;
    for limits in [CompileLimits { cpu: seconds(1), ..standard }, CompileLimits { memory: 256 << 20, ..standard }] {
        let stage = Stage::with("bomb", &bomb).compiler(Compiler::Worker(PROGRAM.into(), limits));
        assert_refused_on(&stage, "failed to compile within its limits");
        // No compiler is there to ask.
        let stage = stage.compiler(Compiler::Worker("/nonexistent".into(), limits));
        assert_refused_on(&stage, "remembered");
    }
}

/// Attack 63: the wall clock says how busy the machine is, not what the component is like.
#[test]
pub(super) fn a_compile_that_was_late_is_not_remembered() {
    let late = CompileLimits { wall: Duration::from_secs(1), ..CompileLimits::STANDARD };
    let stage = Stage::with("bomb", &bomb()).compiler(Compiler::Worker(PROGRAM.into(), late));
    for _ in 0..2 {
        let host = stage.host();
        // On a busy machine the good tool may be late, too.
        let catalogue = host.catalogue();
        let bomb: Vec<_> =
            catalogue.refusals().iter().filter(|it| it.place.to_string().contains("bomb")).cloned().collect();
        assert_refusal(&bomb, "it took longer than 1 s on a machine that is busy");
        assert!(!bomb[0].reason.contains("remembered"));
    }
    // A worker that does not come to anything in its time, as on a machine that others keep busy. The next one does.
    let stage = Stage::with("victim", &guest::good("victim"));
    let worker = stage.dir.path().join("worker.sh");
    fs::write(&worker, "#!/bin/sh\nexec sleep 60\n").unwrap();
    fs::set_permissions(&worker, fs::Permissions::from_mode(0o755)).unwrap();
    let stage = stage.compiler(Compiler::Worker(worker, late));
    assert_eq!(stage.host().catalogue().refusals().len(), 2);
    let stage = stage.compiler(Compiler::Worker(PROGRAM.into(), CompileLimits::STANDARD));
    let host = stage.host();
    assert_eq!(host.catalogue().refusals(), []);
    assert_eq!(timed(&host, "victim").0.json(), "\"ok\"");
}

/// One function of many branches between many variables: compiling it takes more than linear time and memory.
pub(crate) fn bomb() -> Vec<u8> {
    const LOCALS: usize = 2_000;
    let step = |n: usize| {
        let (a, b, c) = (n * 7 % LOCALS, n * 31 % LOCALS, n * 131 % LOCALS);
        format!("(if (local.get {a}) (then (local.set {b} (i32.add (local.get {b}) (local.get {c})))))\n")
    };
    let body: String = (0..60_000).map(step).collect();
    let locals = "i32 ".repeat(LOCALS);
    guest::assemble("bomb", &format!("(module (func (local {locals}) {body}))"))
}
