//! Guests that abuse WASI.

use std::process::Command;

use hermes_host::sandbox::limits::LOG_LINES;

use super::*;

#[test]
pub(super) fn floods_wasi() {
    assert_ends("floods_wasi", "host-call-budget");
}

#[test]
pub(super) fn polls_without_end() {
    assert_ends_within_a_second("polls_without_end", "host-call-budget");
}

#[test]
pub(super) fn polls_a_million_handles() {
    assert_ends_within_a_second("polls_a_million_handles", "host-call-budget");
}

#[test]
pub(super) fn hoards_handles() {
    assert_ends("hoards_handles", "trap");
}

#[test]
pub(super) fn asks_for_1_gib_of_random() {
    assert_ends("asks_for_1_gib_of_random", "trap");
}

#[test]
pub(super) fn writes_1_tib_of_zeroes() {
    assert_ends("writes_1_tib_of_zeroes", "trap");
}

#[test]
pub(super) fn exits() {
    assert_ends("exits", "trap");
}

/// The log of a call is bounded in what the host keeps of it, and not only in its text.
#[test]
pub(super) fn prints_empty_lines() {
    let outcome = assert_ends("prints_empty_lines", "\"ok\"");
    assert!(outcome.log.len() <= LOG_LINES + 1, "{} lines", outcome.log.len());
}

/// What a guest prints is in the call's log; the host's stdout has the result alone.
#[test]
pub(super) fn prints_to_stdout() {
    let outcome = assert_ends("prints_to_stdout", "\"ok\"");
    let messages: Vec<&str> = outcome.log.iter().map(|line| line.message.as_str()).collect();
    assert_eq!(messages, [r#"{"stolen": true}"#]);

    let stage = Stage::of("prints_to_stdout");
    let mut command = Command::new(PROGRAM);
    command.arg("--home").arg(stage.home()).arg("--tools").arg(stage.tools()).args(["call", "prints_to_stdout"]);
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "\"ok\"\n");
    assert!(output.status.success());
}
