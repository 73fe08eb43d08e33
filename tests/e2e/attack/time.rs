//! Guests that take time.

use std::{sync::Arc, time::Instant};

use futures_util::future::join;
use hermes_host::registry::Status;
use hermes_host::{
    capability::Granted,
    component::{Cache, ComponentFile, Loader, Terms, Tools},
    sandbox::{Control, KillReason, Limits, Sandbox},
    wit::latest::{Call, Context},
};

use super::*;

#[test]
pub(super) fn loops_in_handle() {
    let stage = Stage::of("loops_in_handle").limits("loops_in_handle", "fuel = 2_000_000_000");
    let outcome = assert_ends_on(&stage, "loops_in_handle", "out-of-fuel", Limits::HANDLE.wall);
    assert!(outcome.usage.fuel >= 2_000_000_000);
    let message = &outcome.result.unwrap_err().message;
    let remedy = "its limit is 2,000,000,000; to raise it: hermes-host grant loops_in_handle --fuel 4000000000";
    assert!(message.contains(remedy), "{message}");
    assert_ends_within_a_second("loops_in_handle", "deadline");
}

#[test]
pub(super) fn loops_in_check() {
    let host = Stage::of("loops_in_check").host();
    let start = Instant::now();
    let tools = host.list_blocking();
    assert!(start.elapsed() <= Limits::CHECK.wall + GRACE, "the list took {:?}", start.elapsed());
    let [good, loops] = tools.as_slice() else { panic!("expected two tools: {tools:?}") };
    assert_eq!(good.status, Status::Available);
    let Status::Unavailable(why) = &loops.status else { panic!("{:?}", loops.status) };
    assert!(why.contains("check was ended (out-of-fuel)"), "{why}");
    assert_good(&host);
}

/// However many tools wait to be asked, the list comes to its end, and a good tool is neither held up nor called unavailable.
#[test]
pub(super) fn sleeps_in_every_check() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    // A call that waited for the checks would end after the list in every round.
    some_round("a good call ends before the list does", |_| runtime.block_on(is_called_before_the_list_ends()));
}

async fn is_called_before_the_list_ends() -> bool {
    let host = Stage::of("sleeps_in_every_check").host();
    let listed = async { (host.list().await, Instant::now()) };
    let called = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        (timed_call(&host, "good").await.0, Instant::now())
    };
    let ((tools, list_ended), (good, call_ended)) = join(listed, called).await;
    assert_eq!(good.json(), "\"ok\"");
    let available: Vec<&str> =
        tools.iter().filter(|tool| tool.status.is_offered()).map(|tool| tool.entry.definition.name.as_str()).collect();
    assert_eq!(available, ["good"]);
    call_ended < list_ended
}

#[test]
pub(super) fn loops_in_register() {
    let stage = assert_refused("loops_in_register", "register was ended (out-of-fuel)");
    assert_refused_on(&stage, "remembered");
}

#[test]
pub(super) fn loops_in_start() {
    assert_refused("loops_in_start", "register was ended (out-of-fuel)");
}

#[test]
pub(super) fn sleeps_forever() {
    let outcome = assert_ends_within_a_second("sleeps_forever", "deadline");
    assert!(outcome.usage.duration >= Duration::from_secs(1));
}

#[test]
pub(super) fn fills_memory_over_and_over() {
    assert_ends_within_a_second("fills_memory_over_and_over", "deadline");
}

#[test]
pub(super) fn recurses_forever() {
    assert_ends("recurses_forever", "stack-overflow");
}

/// Every amount of fuel up to what the guest needs: it runs out at the start, before, in and after each host call.
#[tokio::test]
pub(super) async fn logs_and_stops() {
    let stage = Stage::of("logs_and_stops");
    let sandbox = Arc::new(Sandbox::new().unwrap());
    let cache = Cache::open(&stage.home().join("cache"), sandbox.engine()).unwrap();
    let loader = Loader::new(Arc::clone(&sandbox), cache, stage.compiler.clone());
    let file = ComponentFile::open(&stage.tools().join("logs_and_stops.wasm")).unwrap();
    let component = loader.load::<Tools>(&file, Terms { limits: Limits::HANDLE, granted: Granted::default() }).unwrap();
    let guest = loader.link(&component).unwrap();
    let mut logged = Vec::new();
    for fuel in 0.. {
        let context = Context { call_id: "c".into(), task_id: None, session_id: None };
        let call = Call { name: "logs_and_stops".into(), arguments: "{}".into(), context };
        let limits = Limits { fuel, ..Limits::HANDLE };
        let run = sandbox.handle(&guest, limits, &Granted::default(), call, Control::default()).await.unwrap();
        // What was done before the end is on record, and nothing else is.
        assert_eq!(run.usage.host_calls as usize, run.log.len());
        logged.push(run.log.len());
        match run.answer {
            Ok(answer) => {
                assert!(answer.is_ok());
                break;
            }
            Err(kill) => assert_eq!(kill.reason, KillReason::OutOfFuel, "with {fuel} fuel: {kill}"),
        }
    }
    assert!(logged.is_sorted(), "more fuel never does less");
    logged.dedup();
    assert_eq!(logged, [0, 1, 2]);
}
