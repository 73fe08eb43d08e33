//! Changing `[policy]` with its comments, its layout and its order kept.

use toml_edit::{Array, Item, Table, TableLike, Value, value};

use super::{NamePattern, PolicyAction};

/// The table is written in a way that is not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} in [policy] is written in a way that is not understood; change it by hand")]
pub struct PolicyLayoutError(String);

impl PolicyLayoutError {
    pub(crate) fn of(key: &str) -> Self {
        Self(key.to_owned())
    }
}

/// Sets what happens to calls of a tool where no condition says otherwise: rules with conditions stay. The entry of one tool is put
/// before the first one that would decide about this tool in any case, so that it takes effect.
pub fn set_action(policy: &mut Table, pattern: &NamePattern, action: PolicyAction) -> Result<(), PolicyLayoutError> {
    let key = pattern.as_str();
    match policy.get_mut(key) {
        Some(item) => replace(item, action).ok_or_else(|| PolicyLayoutError(key.to_owned()))?,
        None => drop(policy.insert(key, value(action.word()))),
    }
    if pattern.is_exact() {
        move_before_the_decisive(policy, key);
    }
    Ok(())
}

fn replace(item: &mut Item, action: PolicyAction) -> Option<()> {
    match item {
        Item::Value(written) => match written {
            Value::Array(list) => replace_in_list(list, action),
            other if is_decisive_value(other) => set_in_place(other, action),
            // It has conditions: the action is what holds where they are not met.
            Value::InlineTable(rule) => {
                let (mut list, mut rule) = (Array::new(), rule.clone());
                rule.decor_mut().clear();
                list.push(rule);
                list.push(action.word());
                let decor = written.decor().clone();
                *written = Value::Array(list);
                *written.decor_mut() = decor;
                Some(())
            }
            _ => None,
        },
        Item::Table(rule) if is_decisive(rule) => set_word(rule, action),
        _ => None,
    }
}

/// The first rule that would decide in any case is changed; without one the action goes to the end.
fn replace_in_list(list: &mut Array, action: PolicyAction) -> Option<()> {
    let Some(decisive) = list.iter_mut().find(|rule| is_decisive_value(rule)) else {
        let layout = list.iter().last().and_then(|last| last.decor().prefix().cloned());
        let mut word = Value::from(action.word());
        if let Some(layout) = layout {
            word.decor_mut().set_prefix(layout);
        }
        list.push_formatted(word);
        return Some(());
    };
    set_in_place(decisive, action)
}

fn set_in_place(rule: &mut Value, action: PolicyAction) -> Option<()> {
    match rule {
        Value::InlineTable(rule) => set_word(rule, action),
        word => {
            let decor = word.decor().clone();
            *word = action.word().into();
            *word.decor_mut() = decor;
            Some(())
        }
    }
}

fn set_word(rule: &mut dyn TableLike, action: PolicyAction) -> Option<()> {
    let word = rule.get_mut("action")?.as_value_mut()?;
    let decor = word.decor().clone();
    *word = action.word().into();
    *word.decor_mut() = decor;
    // A reason stands beside these alone.
    if !matches!(action, PolicyAction::Ask | PolicyAction::Deny) {
        rule.remove("why");
    }
    Some(())
}

/// Whether a rule matches whatever the arguments, the client and the toolset are.
fn is_decisive(rule: &dyn TableLike) -> bool {
    ["when", "client", "toolset"].iter().all(|key| !rule.contains_key(key))
}

fn is_decisive_value(rule: &Value) -> bool {
    match rule {
        Value::String(_) => true,
        Value::InlineTable(rule) => is_decisive(rule),
        Value::Array(rules) => rules.iter().any(is_decisive_value),
        _ => false,
    }
}

fn move_before_the_decisive(policy: &mut Table, key: &str) {
    let mut order: Vec<String> = policy.iter().map(|(key, _)| key.to_owned()).collect();
    let decides = |(other, item): (&str, &Item)| {
        let matches = NamePattern::of_tools(other).is_ok_and(|pattern| pattern.matches(key));
        other != key && matches && item.as_value().is_some_and(is_decisive_value)
    };
    let own = order.iter().position(|other| other == key);
    let first = policy.iter().position(decides);
    let (Some(own), Some(first)) = (own, first) else { return };
    if first > own {
        return;
    }
    let key = order.remove(own);
    order.insert(first, key);
    let place = |key: &str| order.iter().position(|other| other == key);
    policy.sort_values_by(|one, _, other, _| place(one.get()).cmp(&place(other.get())));
}
