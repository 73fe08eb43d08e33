//! Text made to break the judge: no panic, and an answer in bounded time.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{Category, Verdict, judged};
use crate::approval::shell::limits;

/// What counts as hanging. Texts within the limits take a second at most on an idle machine; how fast they are is the benchmark's to say.
const PATIENCE: Duration = Duration::from_secs(120);

fn answers(text: &str) -> super::Judgement {
    let start = Instant::now();
    let judgement = judged(text);
    assert!(start.elapsed() < PATIENCE, "{:?} for {:?}", start.elapsed(), text.chars().take(60).collect::<String>());
    judgement
}

#[rustfmt::skip]
const FRAGMENTS: &[&str] = &[
    "$(", ")", "${", "}", "`", "\"", "'", "(", "((", "))", "$((", "{", "<<", "<<-", "<<<", "EOF", "EOF\n", "\n", "\t", " ", "[", "]", "[[", "]]",
    "$[", "$'", "$\"", "if ", "then ", "else ", "fi ", "for ", "in ", "do ", "done ", "case ", "esac ", "while ", "|", "&", "&&", ";", ";;", "#", "\\", "a",
    "x=", "=", "~", "*", "?", "!", "@", "%", "/", "<(", ">(", ">", "<", ">&", "2>", "function ", "f()", "f ", "{a,b}", "{1..9}", "${x:-", "${x//", "${x:", "${!",
    "\0", "é", "\u{f8ff}", "\u{202e}", "$", "-", "0", "==", "=~", "+=", "a[", "rm ", "-rf ", "sudo ", "eval ", "sh -c ", "xargs ", "find . -exec ", "$x", "$@", "$IFS",
    "x=$x$x;", "f() { f; };", "alias f=f;", "sed 's/", "awk '{", "git -c ", "env -S ", "ssh -o ", "kill -", "dd of=", "/dev/", "tee ", "trap ", "\\x", "\\u", "9999999999",
];

proptest! {
    #[test]
    fn any_text_gets_an_answer(text in any::<String>()) {
        answers(&text);
    }

    #[test]
    fn any_bytes_get_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        answers(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_mixture_of_shell_gets_an_answer(parts in proptest::collection::vec(proptest::sample::select(FRAGMENTS), 0..40)) {
        answers(&parts.concat());
    }

    #[test]
    fn nothing_around_a_deletion_of_everything_makes_it_allowed(
        before in proptest::collection::vec(proptest::sample::select(FRAGMENTS), 0..6),
    ) {
        // A line of its own runs unless the text before it swallows the line: then it is a quote, a comment or a fault.
        let before = before.concat();
        let alone = judged(&before);
        prop_assume!(alone.reasons.iter().all(|reason| !matches!(reason.category, Category::Unparsed | Category::Limit)));
        let judgement = answers(&format!("{before}\n\nrm -rf /\n"));
        prop_assert!(judgement.verdict > Verdict::Allow, "{before:?}");
    }
}

#[test]
fn nesting_bombs_are_refused_and_not_followed() {
    for (open, close) in [
        ("(", ")"),
        ("$(", ")"),
        ("{ ", "; }"),
        ("\"$(", ")\""),
        ("${x:-", "}"),
        ("$((", "))"),
        ("((", "))"),
        ("<(", ")"),
        ("if ", "; then x; fi"),
        ("while ", "; do x; done"),
        ("case x in x) ", ";; esac"),
        ("f() { ", "; }"),
        ("sudo ", ""),
        ("eval ", ""),
        ("time ", ""),
        ("! ", ""),
        ("sh -c '", "'"),
        ("env -S ", ""),
        ("timeout 1 ", ""),
        ("{", "}"),
        ("{a,", "}"),
        ("[[ ", " ]]"),
        ("x=(", ")"),
        ("a[", "]"),
        ("`", "`"),
        ("find -exec ", " ;"),
        ("xargs ", ""),
        ("command ", ""),
        ("for x in 1 2 3 4 5 6 7 8; do ", "; done"),
    ] {
        for depth in [10, 100, 5_000] {
            let closed = format!("{}x{}", open.repeat(depth), close.repeat(depth));
            answers(&closed);
            let unclosed = open.repeat(depth);
            answers(&unclosed);
        }
    }
    assert_eq!(judged(&"$(".repeat(5_000)).verdict, Verdict::Ask);
    assert_eq!(judged(&format!("{}ls{}", "( ".repeat(500), " )".repeat(500))).verdict, Verdict::Ask);
    assert_eq!(judged(&format!("{}ls", "sudo ".repeat(500))).verdict, Verdict::Ask);
}

#[test]
fn a_megabyte_is_not_read() {
    for text in ["a".repeat(1 << 20), "$(".repeat(1 << 19), "'".repeat((1 << 20) + 1), "ls;".repeat(1 << 19)] {
        let judgement = answers(&text);
        assert_eq!(judgement.verdict, Verdict::Ask);
        assert_eq!(judgement.reasons.first().map(|reason| reason.category), Some(Category::Limit));
    }
}

#[test]
fn the_longest_text_that_is_read_takes_bounded_time() {
    for piece in [
        "nice -x a ",
        "xterm -x a sudo ",
        "unheard sudo rm -rf a;",
        "tmux 'sudo rm x' ",
        "a",
        "a ",
        "ls;",
        "$x",
        "$(ls)",
        "'a'",
        "\"a\"",
        "{a,b}",
        "{",
        "a{b",
        "$((1",
        "((a) ",
        "$((a) )",
        "$((')",
        "((\"",
        "<<E\n",
        "cat <<E\nE\n",
        "a[",
        ";a[",
        "x=$x$x;",
        "#",
        "\n",
        "\\",
        "`ls`",
        "`",
        "*",
        "a|",
        "ls&&",
        "~/",
        "rm /;",
        "f() { f; }; ",
        "if a;then b;fi;",
        "for i in 1 2 3;do a;done;",
        "x=1 ",
        "> a ",
        "sed s/a/b/;",
        "case a in a) b;; esac;",
        "\u{f8ff}",
        "é",
        "a/../",
        "../",
        "chmod 777 a;",
        "[[ a ]];",
        "sudo ",
        "/* ",
        "\" ",
        "' ",
    ] {
        let text = piece.repeat(limits::COMMAND_BYTES / piece.len());
        answers(&text);
    }
}

#[test]
fn functions_and_aliases_that_call_themselves_end() {
    for text in [
        "f() { f; }; f",
        "f() { g; }; g() { f; }; f",
        "alias a=b b=a; a",
        "alias ls='ls -l'; ls",
        "f() { eval f; }; f",
        "x='eval $x'; eval $x",
        "trap 'trap x EXIT' EXIT",
    ] {
        answers(text);
    }
}
