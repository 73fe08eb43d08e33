//! Guests that abuse what crosses the boundary: results, texts and calls to the host.

use hermes_host::sandbox::limits::{LOG_BYTES, LOG_LINE_BYTES};

use super::*;

#[test]
pub(super) fn returns_1_gib() {
    assert_ends("returns_1_gib", "result-too-large");
}

#[test]
pub(super) fn returns_a_million_empty_pieces() {
    assert_ends("returns_a_million_empty_pieces", "result-too-large");
}

#[test]
pub(super) fn returns_a_bogus_pointer() {
    assert_ends("returns_a_bogus_pointer", "trap");
}

#[test]
pub(super) fn returns_invalid_utf8() {
    assert_ends("returns_invalid_utf8", "trap");
}

#[test]
pub(super) fn returns_lone_surrogates() {
    assert_ends("returns_lone_surrogates", "trap");
}

#[test]
pub(super) fn returns_misaligned_utf16() {
    assert_ends("returns_misaligned_utf16", "trap");
}

#[test]
pub(super) fn returns_a_mistagged_string() {
    assert_ends("returns_a_mistagged_string", "trap");
}

#[test]
pub(super) fn returns_an_unknown_variant() {
    assert_ends("returns_an_unknown_variant", "trap");
}

#[test]
pub(super) fn returns_broken_json() {
    assert_ends("returns_broken_json", "failed");
}

#[test]
pub(super) fn returns_deep_json() {
    assert_ends("returns_deep_json", "failed");
}

/// What the host allocates for a result is in proportion to the result.
#[test]
pub(super) fn returns_two_million_numbers() {
    const TIMES: usize = 16;
    let host = Stage::of("returns_two_million_numbers").host();
    assert_good(&host);
    let mut length = 0;
    let bytes = heap::allocated_by(|| length = kind(&timed(&host, "returns_two_million_numbers").0).len());
    assert!(bytes <= TIMES * Limits::HANDLE.result, "{bytes} bytes for {length}");
    assert_good(&host);
}

#[test]
pub(super) fn traps() {
    assert_ends("traps", "trap");
}

#[test]
pub(super) fn logs_forever() {
    let outcome = assert_ends("logs_forever", "host-call-budget");
    let kept: usize = outcome.log.iter().map(|line| line.message.len()).sum();
    assert!(kept <= LOG_BYTES + LOG_LINE_BYTES, "{kept} bytes of log");
}

#[test]
pub(super) fn logs_1_gib_at_once() {
    assert_ends("logs_1_gib_at_once", "host-call-budget");
}

#[test]
pub(super) fn logs_past_its_memory() {
    assert_ends("logs_past_its_memory", "trap");
}
