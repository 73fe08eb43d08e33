//! `[policy]` as it is written. The order of the file is kept: the parser sorts tables by their keys, so each key comes with its place.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error, IntoDeserializer, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::{Number, Value};
use toml::Spanned;

use super::{
    InvalidRule, NamePattern, PolicyAction, PolicyRule, ToolPolicy,
    condition::{Condition, Wanted},
    rule::{ToolsetScope, WHY_BYTES},
};

impl<'de> Deserialize<'de> for ToolPolicy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PolicyVisitor)
    }
}

struct PolicyVisitor;

impl<'de> Visitor<'de> for PolicyVisitor {
    type Value = ToolPolicy;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("patterns of tool names, each with an action, a rule or a list of them")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ToolPolicy, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let place = key.span().start;
            let pattern = NamePattern::of_tools(key.get_ref()).map_err(A::Error::custom)?;
            let WrittenRules(rules) = map.next_value()?;
            if rules.is_empty() {
                return Err(A::Error::custom(InvalidRule::NoRule(key.into_inner())));
            }
            let rules: Result<Vec<_>, _> = rules.into_iter().map(|rule| rule.checked(&pattern)).collect();
            entries.push((place, rules.map_err(A::Error::custom)?));
        }
        entries.sort_by_key(|(place, _)| *place);
        Ok(ToolPolicy { rules: entries.into_iter().flat_map(|(_, rules)| rules).collect() })
    }
}

/// What stands at one key.
struct WrittenRules(Vec<WrittenRule>);

/// One rule at a key.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    action: PolicyAction,
    #[serde(default)]
    when: BTreeMap<String, WrittenValues>,
    client: Option<String>,
    toolset: Option<String>,
    why: Option<String>,
}

impl WrittenRule {
    fn plain(action: PolicyAction) -> Self {
        Self { action, when: BTreeMap::new(), client: None, toolset: None, why: None }
    }

    fn checked(self, pattern: &NamePattern) -> Result<PolicyRule, InvalidRule> {
        let Self { action, when, client, toolset, why } = self;
        let conditions = when.into_iter().map(|(pointer, values)| Condition::new(&pointer, values.checked()?));
        let when: Vec<Condition> = conditions.collect::<Result<_, _>>()?;
        match (action, &why) {
            (PolicyAction::Hidden, _) if !when.is_empty() => return Err(InvalidRule::HiddenWhen),
            (PolicyAction::Allow | PolicyAction::Hidden, Some(_)) => return Err(InvalidRule::WhyBeside(action.word())),
            (_, Some(why)) if why.len() > WHY_BYTES => return Err(InvalidRule::LongWhy(why.len())),
            _ => {}
        }
        Ok(PolicyRule {
            pattern: pattern.clone(),
            action,
            when,
            client: client.as_deref().map(NamePattern::new).transpose()?,
            toolset: toolset.map(|name| ToolsetScope { name, tools: Default::default() }),
            why,
        })
    }
}

impl<'de> Deserialize<'de> for WrittenRules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RulesVisitor { is_list_taken: true })
    }
}

/// An element of a list: a list in a list would say nothing new.
struct ListedRule(WrittenRules);

impl<'de> Deserialize<'de> for ListedRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RulesVisitor { is_list_taken: false }).map(Self)
    }
}

struct RulesVisitor {
    is_list_taken: bool,
}

impl<'de> Visitor<'de> for RulesVisitor {
    type Value = WrittenRules;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"allow\", \"ask\", \"deny\" or \"hidden\", or a rule like { action = \"ask\", when = { \"/path\" = \"x\" } }")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<WrittenRules, E> {
        let action = PolicyAction::deserialize(word.into_deserializer())?;
        Ok(WrittenRules(vec![WrittenRule::plain(action)]))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WrittenRules, A::Error> {
        let rule = WrittenRule::deserialize(MapAccessDeserializer::new(map))?;
        Ok(WrittenRules(vec![rule]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<WrittenRules, A::Error> {
        if !self.is_list_taken {
            return Err(A::Error::custom("a list of rules holds no further list"));
        }
        let mut rules = Vec::new();
        while let Some(ListedRule(WrittenRules(more))) = seq.next_element()? {
            rules.extend(more);
        }
        Ok(WrittenRules(rules))
    }
}

/// What an argument may be: one value, or a list of them.
struct WrittenValues(Vec<WrittenValue>);

enum WrittenValue {
    Equals(Value),
    Glob(String),
    NoNumber(f64),
}

impl WrittenValues {
    fn checked(self) -> Result<Vec<Wanted>, InvalidRule> {
        let one = |value| match value {
            WrittenValue::Equals(value) => Ok(Wanted::Equals(value)),
            WrittenValue::Glob(pattern) => Wanted::glob(&pattern),
            WrittenValue::NoNumber(number) => Err(InvalidRule::NoNumber(number)),
        };
        self.0.into_iter().map(one).collect()
    }
}

impl<'de> Deserialize<'de> for WrittenValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValuesVisitor { is_list_taken: true })
    }
}

struct ListedValue(WrittenValues);

impl<'de> Deserialize<'de> for ListedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValuesVisitor { is_list_taken: false }).map(Self)
    }
}

/// A text that is matched, not compared.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenGlob {
    glob: String,
}

struct ValuesVisitor {
    is_list_taken: bool,
}

impl ValuesVisitor {
    fn equals<E>(value: impl Into<Value>) -> Result<WrittenValues, E> {
        Ok(WrittenValues(vec![WrittenValue::Equals(value.into())]))
    }
}

impl<'de> Visitor<'de> for ValuesVisitor {
    type Value = WrittenValues;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, true, false, { glob = \"…\" }, or a list of them")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<WrittenValues, E> {
        Self::equals(text)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<WrittenValues, E> {
        Self::equals(value)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<WrittenValues, E> {
        Self::equals(number)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<WrittenValues, E> {
        match Number::from_f64(number) {
            Some(number) => Self::equals(Value::Number(number)),
            None => Ok(WrittenValues(vec![WrittenValue::NoNumber(number)])),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WrittenValues, A::Error> {
        let WrittenGlob { glob } = WrittenGlob::deserialize(MapAccessDeserializer::new(map))?;
        Ok(WrittenValues(vec![WrittenValue::Glob(glob)]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<WrittenValues, A::Error> {
        if !self.is_list_taken {
            return Err(A::Error::custom("a list of values holds no further list"));
        }
        let mut values = Vec::new();
        while let Some(ListedValue(WrittenValues(more))) = seq.next_element()? {
            values.extend(more);
        }
        Ok(WrittenValues(values))
    }
}
