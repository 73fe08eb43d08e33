//! Descriptions never name a tool that is not in the list: a model that reads "then use `web_search`" will call it.
//!
//! The sentence with the name goes, or the list item, or the line. Where nothing would be left, only the name goes.

mod block;
mod find;
mod prose;
mod sentence;

use std::ops::Range;

use serde_json::{Map, Value};

use super::subschema::each_node;

/// What stands for a name where the sentence can't go.
const ANOTHER: &str = "another tool";

/// How often one text is gone through. Twice is what honest texts need: with a sentence gone, its neighbours may read as a
/// mention. Without a bound, a text could be made that takes a round for each of its lines.
const ROUNDS: usize = 4;

/// Which tools a text may name.
#[derive(Clone, Copy)]
pub(crate) struct Mentions<'a> {
    /// Whether there is a tool of that name at all. Other words are just words.
    pub known: &'a dyn Fn(&str) -> bool,
    /// Whether the model is offered it.
    pub offered: &'a dyn Fn(&str) -> bool,
}

impl Mentions<'_> {
    /// The text without mentions, or nothing if it has none.
    pub(crate) fn in_text(&self, text: &str) -> Option<String> {
        let mut found = self.find(text);
        if found.is_empty() {
            return None;
        }
        let mut left = text.to_owned();
        for _ in 0..ROUNDS {
            left = prose::without(&left, &found);
            found = self.find(&left);
            if found.is_empty() {
                break;
            }
        }
        Some(self.replaced(if left.is_empty() { text } else { &left }))
    }

    /// Changes the texts for a reader in a schema, `title` and `description`. Whether any was changed.
    pub(crate) fn in_schema(&self, schema: &mut Value) -> bool {
        let mut changed = false;
        let mut visit = |node: &mut Map<String, Value>| {
            for key in ["title", "description"] {
                if let Some(Value::String(text)) = node.get_mut(key)
                    && let Some(new) = self.in_text(text)
                {
                    *text = new;
                    changed = true;
                }
            }
        };
        if let Value::Object(root) = schema {
            each_node(root, &mut visit);
        }
        changed
    }

    fn find(&self, text: &str) -> Vec<Range<usize>> {
        find::mentions(text, &|name| self.is_absent(name))
    }

    /// A name at the start of a sentence may have a capital.
    fn is_absent(&self, word: &str) -> bool {
        let absent = |name: &str| (self.known)(name) && !(self.offered)(name);
        let mut small = word.to_owned();
        if let Some(first) = small.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        absent(word) || (!(self.known)(word) && absent(&small))
    }

    /// The text with the names themselves replaced. One that resists becomes nothing else.
    fn replaced(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for _ in 0..ROUNDS {
            let found = self.find(&text);
            if found.is_empty() {
                return text;
            }
            let mut new = String::new();
            let mut done = 0;
            for name in found {
                let whole = find::phrase(&text, name);
                if whole.start >= done {
                    new.push_str(&text[done..whole.start]);
                    new.push_str(ANOTHER);
                }
                done = done.max(whole.end);
            }
            new.push_str(&text[done..]);
            text = new;
        }
        ANOTHER.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const KNOWN: [&str; 7] = ["terminal", "process", "web_search", "read_file", "tool", "another", "tool-x"];
    const OFFERED: [&str; 1] = ["read_file"];

    fn mentions() -> Mentions<'static> {
        Mentions { known: &|name| KNOWN.contains(&name), offered: &|name| OFFERED.contains(&name) }
    }

    #[test]
    fn only_tools_that_are_known_and_not_offered_count() {
        assert_eq!(mentions().in_text("Prefer read_file. Or `grep`, or some_other thing, or a process."), None);
        assert_eq!(mentions().in_text("Prefer read_file. Or web_search.").as_deref(), Some("Prefer read_file."));
        assert_eq!(mentions().in_text("Web_search finds pages. Terminal tools do not. Ok.").as_deref(), Some("Ok."));
        assert_eq!(mentions().in_text("Another tool like this tool tools."), None);
        assert_eq!(mentions().in_text("WEB_SEARCH is a variable."), None);
    }

    #[test]
    fn a_text_of_nothing_else_keeps_its_sense() {
        for (text, left) in [
            ("Use the `terminal` tool with care", "Use another tool with care"),
            ("Like web_search(query), or web_search", "Like another tool, or another tool"),
            ("`terminal` process", "another tool"),
            ("- web_search:", "- another tool:"),
        ] {
            assert_eq!(mentions().in_text(text).as_deref(), Some(left));
        }
    }

    #[test]
    fn sentences_that_only_meet_when_others_go_are_seen() {
        let text = "This is a tool\nUse `terminal`.\nprocess data";
        assert_eq!(mentions().in_text(text).as_deref(), Some("This is a tool"));
        let many = format!("It is a tool\n`terminal`\n{}", "process\n".repeat(50));
        assert!(mentions().find(&mentions().in_text(&many).unwrap()).is_empty());
    }

    #[test]
    fn schemas_change_in_titles_and_descriptions_only() {
        let keep = json!({"description": "`terminal`", "enum": ["web_search"]});
        let mut schema = json!({
            "title": "A web_search",
            "description": "Fine.",
            "default": keep,
            "properties": {
                "description": {"type": "string", "description": "Text. Not for web_search."},
                "web_search": {"items": {"anyOf": [{"title": "`process`", "examples": [keep]}]}},
            },
        });
        let expected = json!({
            "title": "another tool",
            "description": "Fine.",
            "default": keep,
            "properties": {
                "description": {"type": "string", "description": "Text."},
                "web_search": {"items": {"anyOf": [{"title": "another tool", "examples": [keep]}]}},
            },
        });
        assert!(mentions().in_schema(&mut schema));
        assert_eq!(schema, expected);
        assert!(!mentions().in_schema(&mut schema));
        assert!(!mentions().in_schema(&mut json!("`terminal`")));
    }

    /// Pieces of descriptions, with and without mentions.
    fn piece() -> impl Strategy<Value = String> {
        prop_oneof![
            prop::sample::select(vec![
                "Reads a file. ",
                "the terminal tool",
                "`process`",
                "web_search",
                "terminal(",
                "tool",
                "another",
                "(e.g. this) ",
                "\n- ",
                "\n  - ",
                "\n1. ",
                "\n2. ",
                "\n\n",
                "\n",
                ": ",
                ":\n",
                ". ",
                "`",
                "\"",
                "**",
                "(",
                ")",
                "\n```\n",
                "# ",
                " ",
                "。",
                "ä",
                "process",
                "terminal",
                "tool-x",
                "read_file",
                "A line that is long enough to have been wrapped by it",
            ])
            .prop_map(str::to_owned),
            "\\PC{0,6}",
        ]
    }

    proptest! {
        #[test]
        fn no_mention_is_left_and_nothing_else_changes(pieces in prop::collection::vec(piece(), 0..20)) {
            let text = pieces.concat();
            match mentions().in_text(&text) {
                None => prop_assert!(mentions().find(&text).is_empty()),
                Some(left) => {
                    prop_assert!(!mentions().find(&text).is_empty());
                    prop_assert!(mentions().find(&left).is_empty(), "{:?}", left);
                    prop_assert!(!left.trim().is_empty());
                    let bare = left.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == "web_search");
                    prop_assert!(!bare || left.contains(|c: char| !c.is_ascii()), "{:?}", left);
                    prop_assert_eq!(mentions().in_text(&left), None);
                }
            }
        }

        #[test]
        fn exactly_the_sentences_with_a_mention_go(
            mut mentioned in prop::collection::vec(any::<bool>(), 1..12),
            kept in any::<prop::sample::Index>(),
            separator in prop::sample::select(vec![" ", "\n", "\n\n", "\n- "]),
        ) {
            *kept.get_mut(&mut mentioned) = false;
            let sentence = |(at, mentioned): (usize, &bool)| {
                if *mentioned { "Not for `terminal`, e.g. 3.5.".to_owned() } else { format!("It does {at}.5 (or. so) \"a. b\" e.g. this.") }
            };
            let all: Vec<String> = mentioned.iter().enumerate().map(sentence).collect();
            let kept: Vec<String> = all.iter().filter(|sentence| !sentence.contains("terminal")).cloned().collect();
            let text = |sentences: Vec<String>| format!("{separator}{}", sentences.join(separator)).trim().to_owned();
            let expected = if kept.len() == all.len() { None } else { Some(text(kept)) };
            prop_assert_eq!(mentions().in_text(&text(all)), expected);
        }
    }
}
