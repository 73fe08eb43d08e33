use std::collections::BTreeSet;

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use toml_edit::DocumentMut;

use super::*;

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    policy: ToolPolicy,
}

fn read(text: &str) -> Result<ToolPolicy, String> {
    toml::from_str::<File>(&format!("[policy]\n{text}")).map(|file| file.policy).map_err(|why| why.to_string())
}

fn policy(text: &str) -> ToolPolicy {
    read(text).unwrap_or_else(|why| panic!("{text}: {why}"))
}

/// What happens to a call.
fn action(policy: &ToolPolicy, tool: &str, arguments: Value) -> PolicyAction {
    policy.decide(tool, None, || arguments).map_or(PolicyAction::Allow, PolicyRule::action)
}

fn set(text: &str, tool: &str, action: PolicyAction) -> Result<String, PolicyLayoutError> {
    let mut document: DocumentMut = text.parse().unwrap();
    let pattern = NamePattern::of_tools(tool).unwrap();
    set_action(document["policy"].as_table_mut().unwrap(), &pattern, action)?;
    Ok(document.to_string())
}

#[test]
fn the_first_match_in_the_order_of_the_file_decides() {
    let policy = policy("\"zoo\" = \"allow\"\n\"z*\" = \"deny\"\n\"a?\" = \"ask\"\n\"*\" = \"hidden\"\n");
    for (tool, expected) in [
        ("zoo", PolicyAction::Allow),
        ("zoom", PolicyAction::Deny),
        ("ab", PolicyAction::Ask),
        ("abc", PolicyAction::Hidden),
        ("A?", PolicyAction::Hidden),
    ] {
        assert_eq!(action(&policy, tool, json!({})), expected, "{tool}");
    }
    assert_eq!(action(&ToolPolicy::default(), "x", json!({})), PolicyAction::Allow);
}

#[test]
fn conditions_compare_and_match_arguments() {
    let policy = policy(
        r#"t = [
            { action = "deny", when = { "/path" = { glob = "*.env" } } },
            { action = "deny", when = { "/force" = true, "/n" = 1 } },
            { action = "ask", when = { "/branch" = ["main", { glob = "release/*" }] } },
            { action = "ask", when = { "/deep/0/a~1b" = 2.5 } },
        ]"#,
    );
    for (arguments, expected) in [
        (json!({"path": "a/b.env"}), PolicyAction::Deny),
        (json!({"path": "a\nb/.env"}), PolicyAction::Deny),
        (json!({"path": ["x.env"]}), PolicyAction::Allow),
        (json!({"path": "env"}), PolicyAction::Allow),
        (json!({"force": true, "n": 1}), PolicyAction::Deny),
        (json!({"force": true, "n": 1.0}), PolicyAction::Deny),
        (json!({"force": true}), PolicyAction::Allow),
        (json!({"force": "true", "n": 1}), PolicyAction::Allow),
        (json!({"branch": "main"}), PolicyAction::Ask),
        (json!({"branch": "release/1"}), PolicyAction::Ask),
        (json!({"branch": "mainly"}), PolicyAction::Allow),
        (json!({"deep": [{"a/b": 2.5}]}), PolicyAction::Ask),
        (json!({}), PolicyAction::Allow),
    ] {
        assert_eq!(action(&policy, "t", arguments.clone()), expected, "{arguments}");
    }
}

#[test]
fn a_rule_for_a_client_or_a_toolset_is_for_no_other() {
    let policy = policy(
        "t = [{ action = \"deny\", client = \"claude*\" }, { action = \"ask\", toolset = \"web\" }]\n\
         u = { action = \"hidden\", client = \"x\" }",
    );
    let decided = |policy: &ToolPolicy, client| policy.decide("t", client, || json!({})).map(PolicyRule::action);
    assert_eq!(decided(&policy, Some("claude-code")), Some(PolicyAction::Deny));
    assert_eq!(decided(&policy, Some("codex")), None);
    assert_eq!(decided(&policy, None), None);
    assert!(policy.hides("u", Some("x")) && !policy.hides("u", Some("y")) && !policy.hides("u", None));
    let policy = policy.with_toolsets(|name| match name {
        "web" => BTreeSet::from(["t".to_owned()]),
        _ => BTreeSet::new(),
    });
    assert_eq!(decided(&policy, Some("codex")), Some(PolicyAction::Ask));
}

#[test]
fn arguments_are_only_looked_at_where_a_rule_wants_them() {
    let policy = policy("a = \"deny\"\nb = [{ action = \"ask\", when = { \"/x\" = 1 } }, \"deny\"]");
    let unread = || -> Value { panic!("the arguments were read") };
    assert!(policy.decide("a", None, unread).is_some());
    assert!(policy.decide("c", None, unread).is_none());
    assert_eq!(action(&policy, "b", json!({"x": 1})), PolicyAction::Ask);
    assert_eq!(action(&policy, "b", json!({"x": 2})), PolicyAction::Deny);
}

#[test]
fn a_condition_does_not_uncover_a_hidden_tool() {
    let policy = policy("t = [{ action = \"allow\", when = { \"/x\" = 1 } }, \"hidden\"]");
    assert!(policy.hides("t", None));
}

#[test]
fn mistakes_are_named() {
    for (text, says) in [
        ("t = \"yes\"", "unknown variant `yes`"),
        ("t = true", "\"allow\", \"ask\", \"deny\" or \"hidden\""),
        ("t = []", "empty list"),
        ("t = [[\"ask\"]]", "no further list"),
        ("\"a b\" = \"ask\"", "matches no tool's name"),
        ("\"\" = \"ask\"", "matches no tool's name"),
        ("\"a[b\" = \"ask\"", "matches no tool's name"),
        ("t = { when = { \"/a\" = 1 } }", "missing field `action`"),
        ("t = { action = \"ask\", whn = {} }", "unknown field `whn`"),
        ("t = { action = \"ask\", when = { \"path\" = 1 } }", "no JSON pointer"),
        ("t = { action = \"ask\", when = { \"/a~2\" = 1 } }", "no JSON pointer"),
        ("t = { action = \"ask\", when = { \"/a\" = [] } }", "would never match"),
        ("t = { action = \"ask\", when = { \"/a\" = { like = \"x\" } } }", "unknown field `like`"),
        ("t = { action = \"ask\", when = { \"/a\" = { glob = \"a[\" } } }", "can't be read"),
        ("t = { action = \"ask\", when = { \"/a\" = nan } }", "no number"),
        ("t = { action = \"hidden\", when = { \"/a\" = 1 } }", "before its arguments are known"),
        ("t = { action = \"allow\", why = \"x\" }", "`why` is shown where"),
        (&format!("t = {{ action = \"deny\", why = \"{}\" }}", "x".repeat(501)), "501 bytes"),
    ] {
        let why = read(text).unwrap_err();
        assert!(why.contains(says), "{text}: {why}");
    }
}

#[test]
fn a_rule_is_named_with_all_that_it_depends_on() {
    let policy = policy(
        "\"a*\" = { action = \"deny\", client = \"c\", toolset = \"web\", when = { \"/x\" = [1, { glob = \"y*\" }] } }",
    );
    let expected = r#""a*" in the toolset "web" for the client "c" when /x is 1 or is like "y*""#;
    assert_eq!(policy.rules()[0].to_string(), expected);
}

#[test]
fn an_action_is_set_where_it_takes_effect_and_comments_stay() {
    for (before, tool, after) in [
        ("[policy]\n# all\n\"*\" = \"ask\" # x\n", "t", "[policy]\nt = \"deny\"\n# all\n\"*\" = \"ask\" # x\n"),
        ("[policy] # p\nt = 'ask' # x\n", "t", "[policy] # p\nt = \"deny\" # x\n"),
        (
            "[policy]\nt = { action = \"ask\", why = \"w\" } # x\n",
            "t",
            "[policy]\nt = { action = \"deny\", why = \"w\" } # x\n",
        ),
        (
            "[policy]\nt = { action = \"ask\", when = { \"/a\" = 1 } } # x\n",
            "t",
            "[policy]\nt = [{ action = \"ask\", when = { \"/a\" = 1 } }, \"deny\"] # x\n",
        ),
        (
            "[policy]\nt = [\n    { action = \"ask\", client = \"c\" }, # c\n    \"allow\", # x\n]\n",
            "t",
            "[policy]\nt = [\n    { action = \"ask\", client = \"c\" }, # c\n    \"deny\", # x\n]\n",
        ),
        ("[policy]\nu = \"ask\"\n", "t*", "[policy]\nu = \"ask\"\n\"t*\" = \"deny\"\n"),
        (
            "[policy]\n\"t*\" = { action = \"ask\", when = { \"/a\" = 1 } }\n\"*\" = \"allow\"\n",
            "t",
            "[policy]\n\"t*\" = { action = \"ask\", when = { \"/a\" = 1 } }\nt = \"deny\"\n\"*\" = \"allow\"\n",
        ),
    ] {
        assert_eq!(set(before, tool, PolicyAction::Deny).as_deref(), Ok(after), "{before}");
    }
    let why = set("[policy]\n[[policy.t]]\naction = \"ask\"\n", "t", PolicyAction::Deny).unwrap_err();
    assert!(why.to_string().contains("change it by hand"), "{why}");
}

/// What a pattern means, written without the library.
fn is_like(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|skipped| is_like(rest, &name[skipped..])),
        Some((b'?', rest)) => !name.is_empty() && is_like(rest, &name[1..]),
        Some((c, rest)) => name.first() == Some(c) && is_like(rest, &name[1..]),
    }
}

#[derive(Clone, Debug)]
struct Written {
    action: PolicyAction,
    /// Wanted of the argument `x`.
    wanted: Option<u8>,
    client: Option<String>,
}

impl Written {
    fn text(&self) -> String {
        let when = self.wanted.map(|n| format!(", when = {{ \"/x\" = {n} }}")).unwrap_or_default();
        let client = self.client.as_ref().map(|name| format!(", client = \"{name}\"")).unwrap_or_default();
        format!("{{ action = \"{}\"{when}{client} }}", self.action)
    }
}

fn written() -> impl Strategy<Value = Written> {
    let action = prop_oneof![Just(PolicyAction::Allow), Just(PolicyAction::Ask), Just(PolicyAction::Deny)];
    let (wanted, client) = (prop::option::of(0..3u8), prop::option::of("[ab*]{1,2}"));
    (action, wanted, client).prop_map(|(action, wanted, client)| Written { action, wanted, client })
}

/// Keys in the order of the file, each with its rules.
fn table() -> impl Strategy<Value = Vec<(String, Vec<Written>)>> {
    let entry = ("[ab*?]{1,3}", prop::collection::vec(written(), 1..3));
    prop::collection::vec(entry, 0..6).prop_map(|mut entries| {
        let mut seen = BTreeSet::new();
        entries.retain(|(key, _)| seen.insert(key.clone()));
        entries
    })
}

fn text(table: &[(String, Vec<Written>)]) -> String {
    let rules = |rules: &[Written]| rules.iter().map(Written::text).collect::<Vec<_>>().join(", ");
    table.iter().map(|(key, written)| format!("\"{key}\" = [{}] # {key}\n", rules(written))).collect()
}

proptest! {
    #[test]
    fn a_pattern_means_the_same_without_the_library(pattern in "[ab*?_-]{1,6}", name in "[ab_-]{0,8}") {
        let matched = NamePattern::of_tools(&pattern).unwrap().matches(&name);
        prop_assert_eq!(matched, is_like(pattern.as_bytes(), name.as_bytes()));
    }

    #[test]
    fn the_matcher_is_the_first_rule_of_the_file_that_matches(
        table in table(),
        tool in "[ab]{1,3}",
        client in prop::option::of("[ab]{1,2}"),
        x in prop::option::of(0..3u8),
    ) {
        let policy = policy(&text(&table));
        let arguments = x.map_or_else(|| json!({}), |x| json!({"x": x}));
        let found = policy.decide(&tool, client.as_deref(), || arguments).map(PolicyRule::action);
        let rules = table.iter().flat_map(|(key, rules)| rules.iter().map(move |rule| (key, rule)));
        let expected = rules.into_iter().find(|(key, rule)| {
            is_like(key.as_bytes(), tool.as_bytes())
                && rule.wanted.is_none_or(|wanted| x == Some(wanted))
                && rule.client.as_ref().is_none_or(|name| {
                    client.as_ref().is_some_and(|client| is_like(name.as_bytes(), client.as_bytes()))
                })
        });
        prop_assert_eq!(found, expected.map(|(_, rule)| rule.action));
    }

    #[test]
    fn what_is_set_holds_and_changes_no_other_tool(table in table(), tool in "[ab]{1,3}", other in "[ab]{1,3}") {
        prop_assume!(tool != other);
        let before = format!("[policy]\n{}", text(&table));
        let after = set(&before, &tool, PolicyAction::Deny).unwrap();
        let [was, is] = [&before, &after].map(|text| toml::from_str::<File>(text).unwrap().policy);
        prop_assert_eq!(is.decide(&tool, None, || json!({})).map(PolicyRule::action), Some(PolicyAction::Deny));
        let of_other = |policy: &ToolPolicy| policy.decide(&other, Some("a"), || json!({"x": 1})).map(PolicyRule::action);
        prop_assert_eq!(of_other(&was), of_other(&is));
        for (key, _) in &table {
            prop_assert!(after.contains(&format!("# {key}\n")), "{}", after);
        }
    }
}
