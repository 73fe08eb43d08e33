//! What validation against a schema can cost, found by walking it within bounds before anything is built from it.

use serde_json::{Map, Value};

use crate::{pattern_cost::places, text::one_line};

/// How deep a schema may nest. Attack 34.
const DEPTH: usize = 32;

/// Values in one schema, keywords and all, each reference counted as what it refers to: what validation may have to walk for
/// one value. Attack 34.
pub(super) const NODES: u64 = 10_000;

/// How often a schema beside `unevaluatedItems` or `unevaluatedProperties` counts: it is evaluated by itself, once more for what it
/// leaves over, and once more for the error. Nested ones multiply. Attack 59.
const EVALUATIONS: u64 = 3;

/// Places that all patterns of one schema may be in at once, references followed. The time for one byte of a string grows with it.
/// `^[A-Za-z0-9_-]{1,64}$` has 66, a UUID 38; the attack's `[ab]*a[ab]{2000}c` has 2,003, and two calls with 2 MB held up the server
/// for minutes. Attack 59.
const PATTERN_PLACES: u64 = 1_000;

/// Bytes of one pattern. Patterns run on an engine that takes linear time; this, the size of a compiled one and their number bound
/// what compiling them takes. Attack 34.
pub(super) const PATTERN_BYTES: usize = 1_000;

/// Patterns in all schemas of one component, references followed. Attack 34.
const PATTERNS: usize = 100;

/// What validation against a schema can cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SchemaCost {
    /// Values of the schema that one value may be held against.
    nodes: u64,
    /// Choices: coercion may copy or parse a string for each.
    choices: u64,
    /// Places of all patterns of strings.
    places: u64,
    /// Places of all patterns of names.
    pub(crate) name_places: u64,
}

impl SchemaCost {
    /// Steps that a text of so many bytes and values can take, one of them some ten nanoseconds.
    pub(crate) fn steps(&self, bytes: usize, values: usize) -> u64 {
        let for_byte = 1 + self.choices + self.places + self.name_places;
        (bytes as u64).saturating_mul(for_byte).saturating_add(self.visits(values))
    }

    /// How often a value of so many is held against a value of the schema, at most.
    pub(crate) fn visits(&self, values: usize) -> u64 {
        self.nodes.saturating_mul(values as u64)
    }
}

/// Walks a schema within bounds, and says what it can cost.
pub(super) fn cost(schema: &Value, patterns: &mut usize) -> Result<SchemaCost, String> {
    let mut walk = Walk { root: schema, open: Vec::new(), weight: 1, cost: SchemaCost::default(), patterns };
    walk.visit(schema, 0)?;
    Ok(walk.cost)
}

/// Walks a schema with its references followed, as a validator would. One that refers to itself is refused: validating against
/// it can take time without bound, and no fuel runs in the host.
struct Walk<'a> {
    root: &'a Value,
    open: Vec<&'a str>,
    /// How often what is visited now counts.
    weight: u64,
    cost: SchemaCost,
    patterns: &'a mut usize,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, value: &'a Value, depth: usize) -> Result<(), String> {
        self.cost.nodes = self.cost.nodes.saturating_add(self.weight);
        if self.cost.nodes > NODES {
            return Err(format!("the schema has more than {NODES} values, references followed"));
        }
        if depth > DEPTH {
            return Err(format!("the schema nests more than {DEPTH} deep, references followed"));
        }
        match value {
            Value::Object(members) => {
                let before = self.weight;
                if members.keys().any(|key| key.starts_with("unevaluated")) {
                    self.weight = self.weight.saturating_mul(EVALUATIONS);
                }
                self.visit_members(members, depth)?;
                self.weight = before;
                Ok(())
            }
            Value::Array(items) => items.iter().try_for_each(|item| self.visit(item, depth + 1)),
            _ => Ok(()),
        }
    }

    fn visit_members(&mut self, members: &'a Map<String, Value>, depth: usize) -> Result<(), String> {
        for (key, member) in members {
            match (key.as_str(), member) {
                ("$ref", Value::String(target)) => self.follow(target, depth)?,
                ("$dynamicRef" | "$recursiveRef", _) => {
                    return Err(format!("the schema uses {key}, which is not supported"));
                }
                // A nested `$anchor` is only a name, and no reference by such a name is followed.
                ("$id", Value::String(_)) if depth > 0 => {
                    return Err(format!("the schema has a nested {key}, which is not supported"));
                }
                ("pattern", Value::String(pattern)) => {
                    self.cost.places += self.count_pattern("pattern", pattern)?;
                }
                ("patternProperties", Value::Object(members)) => {
                    for pattern in members.keys() {
                        self.cost.name_places += self.count_pattern("patternProperties", pattern)?;
                    }
                    self.visit(member, depth + 1)?;
                }
                ("anyOf" | "oneOf", Value::Array(_)) => {
                    self.cost.choices = self.cost.choices.saturating_add(self.weight);
                    self.visit(member, depth + 1)?;
                }
                _ => self.visit(member, depth + 1)?,
            }
        }
        Ok(())
    }

    /// The places of one pattern, as often as it counts.
    fn count_pattern(&mut self, keyword: &str, pattern: &str) -> Result<u64, String> {
        *self.patterns += 1;
        if *self.patterns > PATTERNS {
            return Err(format!("the component has more than {PATTERNS} patterns"));
        }
        if pattern.len() > PATTERN_BYTES {
            return Err(format!("a pattern has more than {PATTERN_BYTES} bytes"));
        }
        // What is no pattern in the syntax of schemas is refused by the validator, or stands where no pattern is meant.
        let translated = jsonschema_regex::to_rust_regex(pattern);
        let Ok(places) = translated.map_err(drop).and_then(|pattern| places(&pattern).map_err(drop)) else {
            return Ok(0);
        };
        let all = places.saturating_mul(self.weight);
        if (self.cost.places + self.cost.name_places).saturating_add(all) > PATTERN_PLACES {
            return Err(format!(
                "{keyword} {:?} may be in {all} places at once; all patterns of a schema together may be in {PATTERN_PLACES}; \
                 write shorter repetitions, and bound lengths by maxLength",
                one_line(pattern, 80)
            ));
        }
        Ok(all)
    }

    fn follow(&mut self, target: &'a str, depth: usize) -> Result<(), String> {
        let shown = || one_line(target, 80);
        let Some(pointer) = target.strip_prefix('#') else {
            return Err(format!("the schema refers to {:?}; only references within it are followed", shown()));
        };
        // Whether `%24` means `$` is a matter of opinion, and the validator's must not differ from this one's.
        let Some(found) = self.root.pointer(pointer).filter(|_| !pointer.contains('%')) else {
            return Err(format!("the schema refers to {:?}, which is not in it", shown()));
        };
        if self.open.contains(&target) {
            return Err(format!("the schema refers to itself at {:?}; write the levels out", shown()));
        }
        self.open.push(target);
        self.visit(found, depth + 1)?;
        self.open.pop();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::{Role, accept};

    fn refused(text: &str) -> String {
        accept(text, Role::Parameters, &mut 0).unwrap_err()
    }

    #[test]
    fn the_cost_of_all_patterns_together_is_bounded() {
        let bad = "[ab]*a[ab]{2000}c|z";
        let nested = format!(r#"{{"allOf":[{{"items":{{"pattern":"{bad}"}}}}]}}"#);
        let names = format!(r#"{{"patternProperties":{{"{bad}":{{}}}}}}"#);
        let many: String = (0..20).map(|n| format!(r#""p{n}":{{"pattern":"^[a-z]{{1,64}}$"}},"#)).collect();
        let many = format!(r#"{{"properties":{{{many}"z":{{}}}}}}"#);
        for (text, keyword) in [(nested, "pattern"), (names, "patternProperties"), (many, "pattern")] {
            let why = refused(&text);
            assert!(why.starts_with(&format!("{keyword} \"")) && why.contains("together may be in 1000"), "{why}");
        }
        let usual = r#"{"properties":{"id":{"pattern":"^[A-Za-z0-9_-]{1,64}$"},"uuid":{"pattern":"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"},"path":{"pattern":"^\\/[a-z]{1,255}$"}}}"#;
        assert!(accept(usual, Role::Parameters, &mut 0).is_ok());
        let elsewhere = r#"{"properties":{"glob":{"default":{"pattern":"*.rs"}}}}"#;
        assert!(accept(elsewhere, Role::Parameters, &mut 0).is_ok());
    }

    #[test]
    fn a_schema_that_is_evaluated_again_and_again_counts_so() {
        let nested = |levels: usize| {
            let open = r#"{"unevaluatedProperties":false,"anyOf":[{"properties":{"a":"#.repeat(levels);
            open + "{}" + &"}}]}".repeat(levels)
        };
        assert!(accept(&nested(2), Role::Parameters, &mut 0).is_ok());
        assert!(refused(&nested(8)).contains("more than"), "{}", refused(&nested(8)));
    }

    #[test]
    fn a_schema_that_refers_to_itself_or_doubles_itself_is_refused() {
        assert!(refused(r##"{"properties":{"a":{"$ref":"#"}}}"##).contains("itself"));
        assert!(refused(r##"{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"}]}}}"##).contains("itself"));
        let doubling = (0..25)
            .map(|n| format!(r##""d{n}":{{"allOf":[{{"$ref":"#/$defs/d{0}"}},{{"$ref":"#/$defs/d{0}"}}]}}"##, n + 1));
        let doubling = doubling.collect::<Vec<_>>().join(",");
        assert!(refused(&format!(r#"{{"$defs":{{{doubling},"d25":{{}}}}}}"#)).contains("references followed"));
    }
}
