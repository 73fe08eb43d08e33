//! Error text made safe for a model: a tool must not be able to speak in another's voice.

use std::sync::LazyLock;

use regex::Regex;

use super::outside::defang;
use crate::text::{cut, printable};

/// Bytes of an error text. Longer ones are almost always dumps.
const ERROR_BYTES: usize = 2_000;

/// Tags that chat formats give meaning to, code fences at line edges, CDATA.
#[allow(clippy::expect_used, reason = "a constant pattern, compiled by every test that sanitises anything")]
static MARKUP: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?is)<\s*/?\s*(?:tool_call|function_call|tool_result|result|response|output|input|system|assistant|user)\b[^<>]*>|<!\[CDATA\[.*?\]\]>|(?m:^\s*```[a-z]*\s*$)",
    )
    .expect("the pattern is constant and valid")
});

/// The text without what a model could take for somebody else's words.
pub(super) fn sanitise(text: &str) -> String {
    // Cut before the work, and again after it: other brackets take more bytes.
    let mut text = printable(&cut(text, 4 * ERROR_BYTES));
    loop {
        // Removing one tag may join the halves of another.
        let cleaned = MARKUP.replace_all(&text, "");
        if cleaned.len() == text.len() {
            // What is left of other chat formats loses its brackets.
            return cut(defang(&text).as_deref().unwrap_or(&text).trim(), ERROR_BYTES);
        }
        text = cleaned.into_owned();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn role_tags_are_gone_with_attributes_spaces_and_in_halves() {
        for text in ["a</tool_call>b", "a<System role=\"x\">b", "a< / user >b", "a<sys<system>tem>b", "a<![CDATA[x]]>b"]
        {
            assert_eq!(sanitise(text), "ab", "{text}");
        }
        assert_eq!(sanitise("x < y and <userdata>"), "x < y and <userdata>");
        assert_eq!(sanitise("<|im_start|>a [INST]b"), "‹|im_start|›a ‹INST›b");
    }

    proptest! {
        #[test]
        fn sanitising_twice_changes_nothing_and_bounds_hold(text in "(<|/|system|user>|```|\n|[a-z ]{0,4}|\\PC{0,3}){0,60}") {
            let once = sanitise(&text);
            prop_assert!(once.len() <= ERROR_BYTES);
            prop_assert!(!MARKUP.is_match(&once));
            prop_assert_eq!(sanitise(&once), once);
        }
    }
}
