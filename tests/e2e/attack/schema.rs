//! Schemas that attack the host which reads them: no sandbox holds what the host does itself.

use super::*;

/// How much a schema may cost the host in memory, all told.
const MEMORY: usize = 64 << 20;

#[test]
pub(super) fn registers_a_remote_ref() {
    assert_refused("registers_a_remote_ref", "only references within it are followed");
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

/// Refused at the load or harmless in a call, as the host likes: it must be soon, take little, and spare the good tool.
fn assert_harmless(name: &str, bytes: &[u8]) {
    let stage = Stage::with(name, bytes);
    let (start, before) = (Instant::now(), resident());
    let host = stage.host();
    let loaded = host.catalogue().get(name).is_some();
    assert_eq!(host.catalogue().refusals().len(), usize::from(!loaded));
    for arguments in ["{}", r#"{"a":"x"}"#, r#"{"a":{"b":[]}}"#] {
        let outcome = host.call_blocking(name, arguments, CallContext::default());
        assert_eq!(kind(&outcome) != "unknown-tool", loaded);
    }
    let (took, more) = (start.elapsed(), resident().saturating_sub(before));
    assert_good(&host);
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert!(more < MEMORY, "{more} bytes more");
}
