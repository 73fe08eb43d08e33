//! What comes and goes while the host runs.

use std::{
    fs,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Duration,
};

use hermes_host::{CallContext, Host, LoadEvent, RegisterError, sandbox::Control};

use super::answering;
use crate::{
    cli::Place,
    definitions::tool::{Tool, component},
    guest,
    patience::PATIENCE,
    start,
};

fn call(host: &Host, tool: &str) -> String {
    host.call_blocking(tool, "{}", CallContext::default()).json()
}

fn is_unknown(host: &Host, tool: &str) -> bool {
    call(host, tool).contains("unknown-tool")
}

#[test]
fn a_registered_component_comes_and_goes_and_every_change_counts_once() {
    let place = Place::new();
    place.drop_in("file.wasm", &guest::good("file"));
    let host = start::builder(&place).build().unwrap();
    let start = host.generation();
    assert!(is_unknown(&host, "one"));
    assert_eq!(host.register("mine", answering(&["one", "two"], "hello")).unwrap(), ["one", "two"]);
    assert_eq!((host.generation(), call(&host, "two")), (start + 1, "\"hello\"".into()));
    host.reload().unwrap();
    assert_eq!(
        (host.generation(), call(&host, "one")),
        (start + 1, "\"hello\"".into()),
        "it stays when folders are read"
    );
    assert!(host.deregister("mine").unwrap());
    assert_eq!(host.generation(), start + 2);
    assert!(is_unknown(&host, "one") && !is_unknown(&host, "file"));
    assert!(!host.deregister("mine").unwrap());
    assert!(!host.deregister("file").unwrap(), "a file goes with its file");
    assert_eq!((host.generation(), call(&host, "file")), (start + 2, "\"ok\"".into()));
}

#[test]
fn the_generation_rises_with_every_change_and_with_nothing_else() {
    let place = Place::new();
    let (bytes, file) = (answering(&["a"], "a"), place.tools().join("a.wasm"));
    place.drop_in("a.wasm", &bytes);
    place.drop_in("b.wasm", &answering(&["a", "b"], "b"));
    let host = start::builder(&place).build().unwrap();
    let rise = |change: &dyn Fn()| {
        let before = host.generation();
        change();
        host.reload().unwrap();
        host.generation() - before
    };
    assert_eq!(rise(&|| {}), 0);
    // The same bytes in a new file.
    assert_eq!(rise(&|| fs::remove_file(&file).and_then(|()| fs::write(&file, &bytes)).unwrap()), 0);
    assert_eq!(rise(&|| place.configure("# nothing")), 0);
    assert_eq!(rise(&|| place.configure("[tools.b]\noverride = [\"a\"]")), 1, "another component has the name");
    assert_eq!(rise(&|| place.configure("[tools.b]\noverride = [\"a\"]\nlimits = { timeout = \"9s\" }")), 1);
    assert_eq!(rise(&|| place.configure("[toolsets.mine]\ntools = [\"a\"]")), 1);
    assert_eq!(rise(&|| place.drop_in("bad.wasm", b"nonsense")), 1, "the list shows a new reason");
    assert_eq!(rise(&|| {}), 0);
    assert_eq!(rise(&|| place.drop_in("a.wasm", &answering(&["a"], "new"))), 1);
    assert_eq!(rise(&|| fs::remove_file(&file).unwrap()), 1);
    // On an error everything stays.
    place.configure("nonsense");
    let before = host.generation();
    assert!(host.reload().is_err());
    assert_eq!((host.generation(), call(&host, "b")), (before, "\"b\"".into()));
}

#[test]
fn what_can_not_be_registered_is_told_and_leaves_no_trace() {
    let place = Place::new();
    place.drop_in("file.wasm", &answering(&["taken"], "first"));
    let host = start::builder(&place).build().unwrap();
    let start = host.generation();
    let refused = |name: &str, bytes: &[u8]| match host.register(name, bytes.to_vec()) {
        Err(RegisterError::Refused(refusal)) => format!("{}: {}", refusal.place, refusal.reason),
        other => panic!("{other:?}"),
    };
    assert!(refused("mine", b"nonsense").starts_with("registered mine: "));
    assert!(refused("../up", &guest::good("up")).contains("a component's name is 1 to 64"));
    assert!(refused("mine", &Tool { toolset: "safe", ..Tool::named("x") }.component()).contains("toolset safe"));
    assert_eq!((host.generation(), host.catalogue().refusals()), (start, &[][..]));
    // A name that is taken is not an error: the others of the component are there.
    let names = host.register("mine", answering(&["taken", "own"], "second")).unwrap();
    assert_eq!(names, ["own"]);
    assert_eq!((call(&host, "taken"), call(&host, "own")), ("\"first\"".into(), "\"second\"".into()));
    assert!(host.catalogue().refusals()[0].place == "taken in registered mine");
    assert!(refused("mine", &guest::good("other")).contains("deregister it first"));
    assert_eq!(host.generation(), start + 1);
}

#[test]
fn a_registered_component_gets_the_grant_of_its_name() {
    let place = Place::new();
    // It needs more memory to start than a component without a grant gets.
    let bytes = guest::assemble("big", "(module (memory 1600))");
    place.configure("[tools.big]\nlimits = { memory = \"128MiB\", timeout = \"7s\" }\noverride = [\"big\"]");
    let host = start::builder(&place).build().unwrap();
    assert_eq!(host.register("big", bytes.clone()).unwrap(), ["big"]);
    let limits = host.catalogue().get("big").unwrap().component.limits;
    assert_eq!((limits.memory, limits.wall), (128 << 20, Duration::from_secs(7)));
    assert_eq!(call(&host, "big"), "\"ok\"");
    let error = host.register("without", bytes).unwrap_err().to_string();
    assert!(error.contains("memory"), "{error}");
}

/// A tool that reports progress, which a test can hold up, and then answers.
fn held(answer: &str) -> Vec<u8> {
    let import = r#"(import "hermes:tool/log@0.1.0" "progress" (func $progress (param i64 i32 i64 i32 i32 i32)))"#;
    let functions = format!(
        r#"(data (i32.const 1024) "{answer}")
        (func $handle (result i32)
          (call $progress (i64.const 1) (i32.const 0) (i64.const 0) (i32.const 0) (i32.const 0) (i32.const 0))
          (call $answer (i32.const 1) (i32.const 1024) (i32.const {})))"#,
        answer.len()
    );
    component(&[Tool::named("held")], import, &functions)
}

/// A gate: who comes to it says so, and waits until it is opened.
fn gate() -> (impl Fn() + Send + Sync + 'static, Receiver<()>, Sender<()>) {
    let (came, arrived) = mpsc::channel();
    let (open, opened) = mpsc::channel();
    let (came, opened) = (Mutex::new(came), Mutex::new(opened));
    let pass = move || {
        came.lock().unwrap().send(()).unwrap();
        opened.lock().unwrap().recv_timeout(PATIENCE).unwrap();
    };
    (pass, arrived, open)
}

#[test]
fn a_running_call_ends_on_the_code_it_started_with() {
    let place = Place::new();
    let host = start::builder(&place).build().unwrap();
    host.register("mine", held("old")).unwrap();
    let (pass, arrived, open) = gate();
    let control = Control { progress: Some(Arc::new(move |_| pass())), ..Control::default() };
    let running = thread::spawn({
        let host = host.clone();
        move || host.call_blocking("held", "{}", CallContext { control, ..CallContext::default() }).json()
    });
    arrived.recv_timeout(PATIENCE).unwrap();
    assert!(host.deregister("mine").unwrap());
    assert!(is_unknown(&host, "held"));
    host.register("mine", answering(&["held"], "new")).unwrap();
    assert_eq!(call(&host, "held"), "\"new\"");
    assert!(!running.is_finished());
    open.send(()).unwrap();
    assert_eq!(running.join().unwrap(), "\"old\"");
}

#[test]
fn calls_lists_and_definitions_do_not_wait_for_a_reload() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    let (pass, arrived, open) = gate();
    let armed = Arc::new(AtomicBool::new(false));
    let is_armed = Arc::clone(&armed);
    // The reload stands still in the middle of its longest step.
    let listener = Arc::new(move |event| {
        if matches!(event, LoadEvent::Compiling { .. }) && is_armed.load(Ordering::SeqCst) {
            pass();
        }
    });
    let host = start::builder(&place).on_load(listener).build().unwrap();
    armed.store(true, Ordering::SeqCst);
    place.drop_in("new.wasm", &guest::good("new"));
    let reload = thread::spawn({
        let host = host.clone();
        move || host.reload().unwrap()
    });
    arrived.recv_timeout(PATIENCE).unwrap();
    for _ in 0..20 {
        assert_eq!(call(&host, "good"), "\"ok\"");
    }
    assert!(is_unknown(&host, "new"));
    assert_eq!(host.list_blocking().len(), 1);
    assert_eq!(pollster::block_on(host.definitions(&Default::default())).unwrap().names, ["good"]);
    assert!(!reload.is_finished(), "none of this happened during the reload");
    open.send(()).unwrap();
    reload.join().unwrap();
    assert_eq!(call(&host, "new"), "\"ok\"");
}

#[test]
fn calls_work_while_the_catalogue_is_swapped_again_and_again() {
    let place = Place::new();
    place.drop_in("good.wasm", &guest::good("good"));
    let host = start::builder(&place).build().unwrap();
    let (start, stop, other) = (host.generation(), Arc::new(AtomicBool::new(false)), guest::good("other"));
    let swapping = thread::spawn({
        let (host, stop) = (host.clone(), Arc::clone(&stop));
        move || {
            let mut swaps = 0;
            while !stop.load(Ordering::SeqCst) || swaps < 10 {
                host.register("other", other.clone()).unwrap();
                assert!(host.deregister("other").unwrap());
                swaps += 2;
            }
            swaps
        }
    });
    for _ in 0..500 {
        assert_eq!(call(&host, "good"), "\"ok\"");
    }
    stop.store(true, Ordering::SeqCst);
    let swaps = swapping.join().unwrap();
    assert_eq!(host.generation(), start + swaps);
}

#[test]
fn a_look_in_haste_compiles_nothing_and_leaves_what_was_until_the_new_is_there() {
    let place = Place::new();
    place.drop_in("tool.wasm", &answering(&["tool"], "old"));
    let host = start::builder(&place).build().unwrap();
    place.drop_in("tool.wasm", &answering(&["tool"], "new"));
    place.drop_in("other.wasm", &guest::good("other"));
    let new = host.refresh(&|_| false).unwrap();
    assert_eq!((new.len(), call(&host, "tool")), (2, "\"old\"".into()));
    assert!(is_unknown(&host, "other"));
    // Other bytes by now: the next look finds them.
    place.drop_in("other.wasm", &answering(&["other"], "other"));
    for file in &new {
        host.compile_ahead(file).unwrap();
    }
    let new = host.refresh(&|_| false).unwrap();
    assert_eq!((new.len(), call(&host, "tool")), (1, "\"new\"".into()));
    host.compile_ahead(&new[0]).unwrap();
    assert_eq!(host.refresh(&|_| false).unwrap(), []);
    assert_eq!(call(&host, "other"), "\"other\"");

    place.drop_in("tool.wasm", b"half");
    host.refresh(&|path| path.ends_with("tool.wasm")).unwrap();
    assert_eq!(call(&host, "tool"), "\"new\"", "it is still being written");
    host.refresh(&|_| false).unwrap();
    assert!(is_unknown(&host, "tool"));
}
