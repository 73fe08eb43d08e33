//! Schemas that attack the host which reads them: no sandbox holds what the host does itself.

use super::*;

/// What the host may allocate for a hostile schema and three calls, freed or not: this bounds its memory and its work.
const ALLOCATED: usize = 64 << 20;

#[test]
pub(super) fn registers_a_remote_ref() {
    assert_refused("registers_a_remote_ref", "only references within it are followed");
}

#[test]
pub(super) fn registers_a_costly_pattern() {
    let reason = r#"registers registers_a_costly_pattern with bad parameters: pattern "[ab]*a[ab]{2000}c|z" may be in"#;
    assert_refused("registers_a_costly_pattern", reason);
    let names = r#"{"patternProperties":{"[ab]*a[ab]{2000}c|z":{}}}"#;
    let reason = r#"patternProperties "[ab]*a[ab]{2000}c|z" may be in 2004 places at once"#;
    assert_refused_on(&Stage::with("names", &registers("names", names)), reason);
}

/// Strings that each take as long as one match may, and more of them than fit into the call's time.
fn slow_arguments() -> String {
    let letters = |seed: usize| (0..100_000).map(move |n: usize| if (n * n + seed * n) % 7 < 3 { 'a' } else { 'b' });
    let strings: Vec<String> = (0..30).map(|seed| letters(seed).chain(['z']).collect()).collect();
    serde_json::json!({ "a": strings }).to_string()
}

/// A schema within all bounds, for which the largest arguments take minutes.
const SLOW: &str = r#"{"properties":{"a":{"items":{"pattern":"[ab]*a[ab]{990}c|z"}}}}"#;

/// The runtime has one thread: were the arguments checked on it, the good tool would wait for them.
#[test]
pub(super) fn arguments_that_take_long_to_check_hold_up_no_other_call() {
    let stage = Stage::with("slow", &registers("slow", SLOW)).limits("slow", r#"timeout = "5s""#);
    let host = stage.host();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let arguments = slow_arguments();
    let outcome = runtime.block_on(async {
        let mut slow = std::pin::pin!(host.call("slow", &arguments, CallContext::default()));
        let good = host.call("good", "{}", CallContext::default());
        tokio::select! {
            biased;
            outcome = &mut slow => panic!("it was checked before the other call began: {}", outcome.json()),
            good = good => assert_eq!(good.json(), "\"ok\""),
        }
        slow.await
    });
    assert_eq!(kind(&outcome), "deadline", "{}", outcome.json());
    assert!(outcome.json().contains("checking the arguments"), "{}", outcome.json());
    assert_good(&host);
}

#[test]
pub(super) fn a_string_that_is_too_long_for_its_pattern_is_told_so() {
    let schema = r#"{"properties":{"a":{"pattern":"[ab]*a[ab]{990}c|z"}}}"#;
    let stage = Stage::with("slow", &registers("slow", schema));
    let host = stage.host();
    let long = serde_json::json!({ "a": "ab".repeat(1_000_000) }).to_string();
    let outcome = host.call_blocking("slow", &long, CallContext::default());
    assert_eq!(kind(&outcome), "invalid-arguments");
    assert!(outcome.json().contains("strings of up to"), "{}", outcome.json());
    let short = host.call_blocking("slow", r#"{"a":"ab"}"#, CallContext::default());
    assert!(short.json().contains("does not match"), "{}", short.json());
    assert_ne!(kind(&host.call_blocking("slow", r#"{"a":"z"}"#, CallContext::default())), "invalid-arguments");
}

/// Forty bytes of schema for each value: without a bound, half a billion visits that no deadline ends.
#[test]
pub(super) fn many_values_and_a_large_schema_are_refused_together() {
    let choices: Vec<String> = (0..1_500).map(|n| format!(r#"{{"const":"{n}"}}"#)).collect();
    let schema = format!(r#"{{"properties":{{"a":{{"type":"array","items":{{"oneOf":[{}]}}}}}}}}"#, choices.join(","));
    let stage = Stage::with("many", &registers("many", &schema));
    let host = stage.host();
    for arguments in
        [format!(r#"{{"a":[{}0]}}"#, "0,".repeat(40_000)), format!(r#"{{"a":"[{}0]"}}"#, "0,".repeat(40_000))]
    {
        let outcome = host.call_blocking("many", &arguments, CallContext::default());
        assert_eq!(kind(&outcome), "invalid-arguments");
        assert!(outcome.json().contains("too many for a schema"), "{}", outcome.json());
    }
    let few = host.call_blocking("many", r#"{"a":["7"]}"#, CallContext::default());
    assert_ne!(kind(&few), "invalid-arguments", "{}", few.json());
}

#[test]
pub(super) fn registers_a_circular_ref() {
    assert_harmless("registers_a_circular_ref", &guest::attack("registers_a_circular_ref"));
}

#[test]
pub(super) fn registers_a_circular_choice() {
    assert_harmless("registers_a_circular_choice", &guest::attack("registers_a_circular_choice"));
}

/// Eighteen definitions, each the next one twice: 262,144 of the last.
#[test]
pub(super) fn a_schema_that_doubles_itself_is_harmless() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        assert_harmless("doubles", &registers("doubles", &doubling(keyword, "$defs", "")));
    }
}

/// The same, with references that mean one thing to who decodes `%24` and another to who does not.
#[test]
pub(super) fn a_schema_that_hides_its_references_is_harmless() {
    let decoys: Vec<String> = (0..=18).map(|n| format!(r#""d{n}":{{}}"#)).collect();
    let decoys = format!(r#""%24defs":{{{}}},"#, decoys.join(","));
    assert_harmless("hides", &registers("hides", &doubling("anyOf", "%24defs", &decoys)));
}

fn doubling(keyword: &str, place: &str, more: &str) -> String {
    let twice = |n| {
        let next = format!(r##"{{"$ref":"#/{place}/d{}"}}"##, n + 1);
        format!(r#""d{n}":{{"{keyword}":[{next},{next}]}}"#)
    };
    let definitions: Vec<String> = (0..18).map(twice).collect();
    let definitions = definitions.join(",");
    format!(
        r##"{{"properties":{{"a":{{"$ref":"#/{place}/d0"}}}},{more}"$defs":{{{definitions},"d18":{{"type":"integer"}}}}}}"##
    )
}

/// Each pattern has a dozen characters and takes hundreds of kilobytes once compiled; 90 kB of schema hold thousands.
#[test]
pub(super) fn a_schema_of_many_large_patterns_is_harmless() {
    let list = |entry: &dyn Fn(usize) -> String| (0..2_000).map(entry).collect::<Vec<String>>().join(",");
    let patterns = list(&|n| format!(r#""p{n}":{{"pattern":"\\w{{900}}{n}"}}"#));
    let names = list(&|n| format!(r#""\\w{{900}}{n}":{{}}"#));
    for schema in [format!(r#"{{"properties":{{{patterns}}}}}"#), format!(r#"{{"patternProperties":{{{names}}}}}"#)] {
        assert_harmless("patterns", &registers("patterns", &schema));
    }
}

/// A guest that registers this schema for its arguments.
fn registers(name: &str, schema: &str) -> Vec<u8> {
    let bytes: String = schema.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    let text = format!(
        "(module (memory 8) (data (i32.const 65536) \"{bytes}\")
           (func $register (result i32)
             (call $define (i32.const 3) (i32.const 65536) (i32.const {}))
             (global.get $tools)))",
        schema.len()
    );
    guest::assemble(name, &text)
}

/// Refused at the load or harmless in a call, as the host likes: it must take little, and spare the good tool.
fn assert_harmless(name: &str, bytes: &[u8]) {
    let stage = Stage::with(name, bytes);
    let bytes = heap::allocated_by(|| {
        let host = stage.host();
        let loaded = host.catalogue().get(name).is_some();
        assert_eq!(host.catalogue().refusals().len(), usize::from(!loaded));
        for arguments in ["{}", r#"{"a":"x"}"#, r#"{"a":{"b":[]}}"#] {
            let outcome = host.call_blocking(name, arguments, CallContext::default());
            assert_eq!(kind(&outcome) != "unknown-tool", loaded);
        }
        assert_good(&host);
    });
    assert!(bytes < ALLOCATED, "{bytes} bytes allocated");
}
