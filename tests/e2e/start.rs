//! Starting: what is compiled, what is kept, and who may touch what is kept.

use std::{
    fs::{self, File},
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use hermes_host::{
    CallContext, Host, HostBuilder, LoadEvent,
    component::{CompileLimits, Compiler, Digest, Origin},
};

use super::{
    cli::{Place, stderr},
    guest,
};

pub(crate) fn builder(place: &Place) -> HostBuilder {
    let worker = Compiler::Worker(env!("CARGO_BIN_EXE_hermes-host").into(), CompileLimits::STANDARD);
    Host::builder().home(place.home()).tools(place.tools()).without_bundled().compiler(worker)
}

/// A builder that counts compilations.
fn counting(place: &Place) -> (HostBuilder, Arc<AtomicUsize>) {
    let compiled = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&compiled);
    let listener = Arc::new(move |event| {
        if let LoadEvent::Compiled { .. } = event {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    (builder(place).on_load(listener), compiled)
}

fn cached(place: &Place, extension: &str) -> PathBuf {
    let files = fs::read_dir(place.home().join("cache")).unwrap().map(|entry| entry.unwrap().path());
    files.into_iter().find(|path| path.extension().is_some_and(|found| found == extension)).unwrap()
}

/// The files that are kept of a component for this engine.
pub(crate) fn cached_files(place: &Place, bytes: &[u8], extension: &str) -> Vec<PathBuf> {
    let start = format!("{}-{}", Digest::of(bytes).hex(), engine(place));
    let files = fs::read_dir(place.home().join("cache")).unwrap().map(|entry| entry.unwrap().path());
    let is_its = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with(&start) && name.ends_with(extension)
    };
    files.filter(is_its).collect()
}

/// The engine's part of the names in the cache, from an artifact that is there already.
fn engine(place: &Place) -> String {
    let name = cached(place, "bin").file_stem().unwrap().to_str().unwrap().to_owned();
    name.rsplit_once('-').unwrap().1.to_owned()
}

/// The lock on a component's compilation: as long as it lives, the component is not compiled.
pub(crate) struct CompileHold {
    path: PathBuf,
    _file: File,
}

impl CompileHold {
    /// In a place where something else was compiled before.
    pub(crate) fn of(place: &Place, bytes: &[u8]) -> Self {
        let name = format!("{}-{}.lock", Digest::of(bytes).hex(), engine(place));
        let path = place.home().join("cache").join(name);
        let file = File::create(&path).unwrap();
        file.lock().unwrap();
        Self { path, _file: file }
    }
}

impl Drop for CompileHold {
    fn drop(&mut self) {
        fs::remove_file(&self.path).unwrap();
    }
}

/// A worker that notes in a file that it was started.
fn noted_worker(place: &Place) -> (Compiler, PathBuf) {
    let (script, notes) = (place.root.path().join("noted.sh"), place.root.path().join("notes"));
    let worker = env!("CARGO_BIN_EXE_hermes-host");
    fs::write(&script, format!("#!/bin/sh\necho started >>{}\nexec {worker} \"$@\"\n", notes.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    (Compiler::Worker(script, CompileLimits::STANDARD), notes)
}

#[test]
fn hosts_that_share_a_home_compile_a_component_once() {
    let place = Place::new();
    place.drop_in("a.wasm", &guest::good("a"));
    let hold = CompileHold::of(&place, &guest::good("a"));
    let (worker, notes) = noted_worker(&place);
    let (sender, begun) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..3 {
            let (place, worker, sender) = (&place, worker.clone(), sender.clone());
            scope.spawn(move || {
                let listener = Arc::new(move |event| {
                    if let LoadEvent::Compiling { .. } = event {
                        sender.send(()).unwrap();
                    }
                });
                answers(&builder(place).compiler(worker).on_load(listener).build().unwrap(), "a");
            });
        }
        // All of them are about to compile, and none may yet.
        (0..3).for_each(|_| begun.recv().unwrap());
        assert!(!notes.exists());
        drop(hold);
    });
    assert_eq!(fs::read_to_string(notes).unwrap(), "started\n");
}

#[test]
fn a_lock_that_a_crashed_host_left_holds_up_nothing() {
    let place = Place::new();
    place.drop_in("a.wasm", &guest::good("a"));
    // A lock ends with its process; the file stays.
    let left = CompileHold::of(&place, &guest::good("a")).path.clone();
    File::create(&left).unwrap();
    answers(&builder(&place).build().unwrap(), "a");
    assert_eq!(cached_files(&place, &guest::good("a"), "lock"), [] as [PathBuf; 0]);
}

/// A bundled name is the bundled tool's, also while that is not compiled yet.
#[test]
fn no_file_takes_a_bundled_name_while_the_bundled_tools_compile() {
    let place = Place::bare();
    place.drop_in("mine.wasm", &guest::good("calculate"));
    place.drop_in("other.wasm", &guest::good("other"));
    builder(&place).build().unwrap();
    let worker = Compiler::Worker(env!("CARGO_BIN_EXE_hermes-host").into(), CompileLimits::STANDARD);
    let bundled = Host::builder().home(place.home()).tools(place.tools()).compiler(worker);
    let (host, new) = bundled.build_cached().unwrap();
    assert!(new.iter().all(|file| file.origin == Origin::Bundled) && !new.is_empty());
    assert_eq!(host.catalogue().tools().count(), 0);
    for file in &new {
        host.compile_ahead(file).unwrap();
    }
    assert_eq!(host.refresh(&|_| false).unwrap(), []);
    assert_eq!(host.catalogue().get("calculate").unwrap().component.origin, Origin::Bundled);
    answers(&host, "other");
}

fn answers(host: &Host, tool: &str) {
    assert_eq!(host.call_blocking(tool, "{}", CallContext::default()).json(), "\"ok\"");
}

#[test]
fn a_second_start_with_50_components_compiles_and_instantiates_nothing() {
    let place = Place::bare();
    for n in 0..50 {
        place.drop_in(&format!("tool{n}.wasm"), &guest::good(&format!("tool{n}")));
    }
    let (first, compiled) = counting(&place);
    assert_eq!(first.build().unwrap().catalogue().tools().count(), 50);
    assert_eq!(compiled.load(Ordering::Relaxed), 50);

    let (second, compiled) = counting(&place);
    // A worker that can't be started shows that none is.
    let host = second.compiler(Compiler::Worker("/no/worker".into(), CompileLimits::STANDARD)).build().unwrap();
    assert_eq!(host.catalogue().tools().count(), 50);
    assert_eq!(host.catalogue().refusals(), []);
    assert_eq!(compiled.load(Ordering::Relaxed), 0);
    assert_eq!(host.sandbox().instances_made(), 0);
    answers(&host, "tool49");
    assert_eq!(host.sandbox().instances_made(), 1);
}

#[test]
fn a_damaged_or_planted_artifact_is_compiled_again() {
    let place = Place::bare();
    place.drop_in("a.wasm", &guest::good("a"));
    builder(&place).build().unwrap();
    let artifact = cached(&place, "bin");
    let whole = fs::read(&artifact).unwrap();
    let mut changed = whole.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    for damage in [&whole[..whole.len() / 2], &changed, b"", b"planted"] {
        fs::write(&artifact, damage).unwrap();
        let host = builder(&place).build().unwrap();
        answers(&host, "a");
        assert_eq!(fs::read(&artifact).unwrap(), whole, "the artifact was not made anew");
    }
    // Somebody else could have written this one.
    fs::set_permissions(&artifact, fs::Permissions::from_mode(0o666)).unwrap();
    answers(&builder(&place).build().unwrap(), "a");
    assert_eq!(fs::metadata(&artifact).unwrap().permissions().mode() & 0o077, 0);
    // What is known is damaged.
    fs::write(cached(&place, "json"), "{\"ready\":").unwrap();
    answers(&builder(&place).build().unwrap(), "a");
}

#[test]
fn a_file_that_changed_is_not_compiled_under_its_old_name() {
    let place = Place::bare();
    place.drop_in("a.wasm", &guest::good("a"));
    let host = builder(&place).build().unwrap();
    drop(host);
    let host = builder(&place).build().unwrap();
    fs::remove_file(cached(&place, "bin")).unwrap();
    place.drop_in("a.wasm", &guest::good("other"));
    let error = host.call_blocking("a", "{}", CallContext::default()).result.unwrap_err();
    assert!(error.message.contains("has changed since it was loaded"), "{error}");
}

#[test]
fn a_cache_that_others_can_write_is_refused_with_the_remedy() {
    let place = Place::bare();
    place.drop_in("a.wasm", &guest::good("a"));
    let cache = place.home().join("cache");
    fs::create_dir_all(&cache).unwrap();
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o777)).unwrap();
    let output = place.run(&["list"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("other users can write to it"), "{output:?}");
    assert!(stderr(&output).contains("chmod go-w"), "{output:?}");
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(place.home(), fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(place.run(&["list"]).status.code(), Some(2), "a swappable cache directory was used");
}

#[test]
fn a_new_cache_is_for_its_owner_alone() {
    let place = Place::bare();
    place.drop_in("a.wasm", &guest::good("a"));
    builder(&place).build().unwrap();
    assert_eq!(fs::metadata(place.home().join("cache")).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(cached(&place, "bin")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_missing_worker_is_said_and_not_remembered() {
    let place = Place::bare();
    place.drop_in("a.wasm", &guest::good("a"));
    let broken = builder(&place).compiler(Compiler::Worker("/no/worker".into(), CompileLimits::STANDARD));
    let host = broken.build().unwrap();
    assert!(host.catalogue().refusals()[0].reason.contains("/no/worker"));
    answers(&builder(&place).build().unwrap(), "a");
}

#[test]
fn a_worker_that_is_ended_from_outside_or_talks_nonsense_is_not_held_against_the_component() {
    let place = Place::bare();
    place.drop_in("a.wasm", &guest::good("a"));
    let script = place.root.path().join("worker.sh");
    for (body, reason) in [
        ("kill -TERM $$", "ended from outside"),
        // As the OOM killer does.
        ("kill -KILL $$", "ended from outside"),
        ("echo 'memory allocation of 64 bytes failed' >&2; kill -ABRT $$", "no memory for the compile worker"),
        ("echo hello", "answered with something else"),
    ] {
        fs::write(&script, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let host = builder(&place).compiler(Compiler::Worker(script.clone(), CompileLimits::STANDARD)).build().unwrap();
        let refusal = host.catalogue().refusals()[0].reason.clone();
        assert!(refusal.contains(reason), "{refusal}");
    }
    answers(&builder(&place).build().unwrap(), "a");
}

#[test]
fn a_machine_short_of_memory_is_not_held_against_the_component() {
    let place = Place::bare();
    place.drop_in("a.wasm", &guest::good("a"));
    let short = format!(
        "ulimit -v 3000000; exec {} --home {} --tools {} list --json",
        env!("CARGO_BIN_EXE_hermes-host"),
        place.home().display(),
        place.tools().display()
    );
    let output = std::process::Command::new("sh").args(["-c", &short]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("(trap)"), "{output:?}");
    answers(&builder(&place).build().unwrap(), "a");
}

#[test]
fn one_components_cache_is_not_taken_for_anothers() {
    let place = Place::bare();
    place.drop_in("a.wasm", &guest::good("a"));
    builder(&place).build().unwrap();
    let (json, bin) = (cached(&place, "json"), cached(&place, "bin"));
    let (mine, other) = (Digest::of(&guest::good("a")).hex(), Digest::of(&guest::good("b")).hex());
    for file in [json, bin] {
        let name = file.file_name().unwrap().to_str().unwrap().replace(&mine, &other);
        fs::copy(&file, file.with_file_name(name)).unwrap();
    }
    fs::remove_file(place.tools().join("a.wasm")).unwrap();
    place.drop_in("b.wasm", &guest::good("b"));
    let host = builder(&place).build().unwrap();
    assert!(host.catalogue().get("a").is_none());
    answers(&host, "b");
}

#[test]
fn an_embedder_may_compile_in_its_own_process() {
    let place = Place::bare();
    place.drop_in("a.wasm", &guest::good("a"));
    let host = builder(&place).compiler(Compiler::InProcess).build().unwrap();
    answers(&host, "a");
}

#[test]
fn a_reload_swaps_the_code_and_keeps_the_old_for_those_who_hold_it() {
    let place = Place::bare();
    place.drop_in("a.wasm", &guest::good("a"));
    let host = builder(&place).build().unwrap();
    let old = host.catalogue();
    fs::remove_file(place.tools().join("a.wasm")).unwrap();
    place.drop_in("b.wasm", &guest::good("b"));
    host.reload().unwrap();
    assert!(old.get("a").is_some());
    assert!(host.catalogue().get("a").is_none());
    answers(&host, "b");
}

#[tokio::test]
async fn calls_work_on_the_embedders_own_executor() {
    let place = Place::bare();
    place.drop_in("a.wasm", &guest::good("a"));
    let host = builder(&place).build().unwrap();
    let calls = (0..100).map(|_| host.call("a", "{}", CallContext::default()));
    for outcome in futures_util::future::join_all(calls).await {
        assert_eq!(outcome.json(), "\"ok\"");
    }
}

/// Runs the host where its home is on a read-only file system.
fn on_read_only_home(place: &Place, arguments: &str) -> std::process::Output {
    let home = place.home();
    let home = home.display();
    let script = format!(
        "mount --bind {home} {home} && mount -o remount,bind,ro {home} && exec {} --home {home} --tools {} {arguments}",
        env!("CARGO_BIN_EXE_hermes-host"),
        place.tools().display()
    );
    std::process::Command::new("unshare").args(["-rm", "sh", "-c", &script]).output().unwrap()
}

#[test]
fn a_home_that_can_not_be_written_is_said_with_the_remedy() {
    let place = Place::bare();
    place.drop_in("a.wasm", &guest::good("a"));
    // All that the host makes is there already.
    answers(&builder(&place).build().unwrap(), "a");
    for arguments in ["list", "call a", "run --http 0", "run --stdio </dev/null"] {
        let output = on_read_only_home(&place, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {output:?}");
        for part in [&format!("the home {} can't be written", place.home().display()), "--home DIR"] {
            assert!(stderr(&output).contains(part), "{arguments}: {output:?}");
        }
    }
}
