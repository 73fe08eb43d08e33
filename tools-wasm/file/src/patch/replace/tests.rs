use proptest::{collection::vec, prelude::*, sample::select, strategy::Strategy as Values};

use super::{
    super::{fold::folded, near::Snippet, splice::apply},
    *,
};

/// The file after a replacement, and the strategy.
fn replaced(file: &str, old: &str, new: &str) -> Result<(String, &'static str), Mismatch> {
    let replaced = replace(file, old, new, false)?;
    Ok((apply(file, &replaced.splices), replaced.strategy))
}

#[track_caller]
fn becomes(file: &str, old: &str, new: &str, expected: &str, strategy: &str) {
    assert_eq!(replaced(file, old, new).as_ref().map(|(text, name)| (text.as_str(), *name)), Ok((expected, strategy)));
}

#[track_caller]
fn not_found(file: &str, old: &str, new: &str) -> Vec<Snippet> {
    match replaced(file, old, new) {
        Err(Mismatch::NotFound { near }) => near,
        other => panic!("expected no match, got {other:?}"),
    }
}

#[test]
fn the_exact_text_is_replaced() {
    becomes("a = 1\nb = 2\n", "b = 2", "b = 3", "a = 1\nb = 3\n", "exact");
    let made = replace("x x x", "x", "y", true).unwrap();
    assert_eq!((made.count, apply("x x x", &made.splices).as_str()), (3, "y y y"));
}

#[test]
fn splices_hold_only_what_changes() {
    let made = replace("say hello world", "hello world", "hello there", false).unwrap();
    assert_eq!(made.splices, [Splice { start: 10, end: 15, text: "there".into() }]);
}

#[test]
fn nothing_and_the_same_are_refused() {
    assert_eq!(replaced("a", "", "b"), Err(Mismatch::Empty));
    assert_eq!(replaced("a", "\u{feff}", "b"), Err(Mismatch::Empty));
    assert_eq!(replaced("a", "a", "a"), Err(Mismatch::Identical));
    assert_eq!(replaced("a\nb", "a\r\nb", "a\nb"), Err(Mismatch::Identical));
}

#[test]
fn several_places_are_named_by_their_lines() {
    let why = replaced("x\ny\nx\n", "x", "z").unwrap_err();
    assert_eq!(why, Mismatch::Several { strategy: "exact", count: 2, lines: vec![1, 3] });
    assert_eq!(
        why.to_string(),
        "old_string was found 2 times, at lines 1, 3; add lines around it to say which one is meant, or set replace_all"
    );
    let why = replaced("a  b\nc\na   b\n", "a b", "z").unwrap_err();
    assert!(matches!(&why, Mismatch::Several { strategy: "whitespace_normalized", lines, .. } if *lines == [1, 3]));
    let why = replaced(&"x\n".repeat(20), "x", "z").unwrap_err();
    assert!(why.to_string().contains("found 20 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …;"), "{why}");
}

#[test]
fn each_strategy_finds_its_kind_of_difference() {
    becomes("if a:\n\tb()  \n", "if a:\n    b()", "if a:\n    c()", "if a:\n\tc()\n", "line_trimmed");
    becomes("let  a =  1;\n", "let a = 1;", "let a = 2;", "let  a =  2;\n", "whitespace_normalized");
    becomes(
        "  f( a,  b );\n  g();\n",
        "f( a, b );\ng();",
        "f( a, c );\ng();",
        "  f( a,  c );\n  g();\n",
        "indentation_flexible",
    );
    becomes("a\n\tb\n", r"a\n\tb", r"a\n\tc", "a\n\tc\n", "escape_normalized");
    becomes("a\nb\nc\n", "\n\nb\n\n", "\n\nx\n\n", "a\nx\nc\n", "trimmed_boundary");
    becomes("say “hi” – now\n", "say \"hi\" - now", "say \"hi\" - later", "say “hi” – later\n", "unicode_normalized");
    becomes(
        "begin\n    f(\n        a,\n        b\n    );\nend\n",
        "begin\n    f(a, b);\nend\n",
        "begin\n    f(a, c);\nend\n",
        "begin\n    f(a, c);\nend\n",
        "block_anchor",
    );
    becomes(
        "begin\n\n\n    x\n\nend\n",
        "begin\n    x\nend\n",
        "begin\n    x\nfin\n",
        "begin\n\n\n    x\n\nfin\n",
        "block_anchor",
    );
    becomes("x = f(\n    a,\n    b)\n", "x = f(a, b)", "x = f(a, b, c)", "x = f(a, b, c)\n", "context_aware");
}

#[test]
fn the_strictest_strategy_decides() {
    // The first place differs in spaces, the second only in its indentation.
    becomes("a  b\n    a b\nc\n", "a b\nc\n", "x\nc\n", "a  b\n    x\nc\n", "exact");
    becomes("a  b\nc\n\ta b\n\tc\n", "  a b\n  c\n", "  x\n  c\n", "a  b\nc\n\tx\n\tc\n", "line_trimmed");
}

// Wrong indentation.

const TWO: &str = "def f(x):\n  if x:\n    a()\n  return 1\n";
const TWO_NEW: &str = "def f(x):\n  if x:\n    for y in x:\n      b(y)\n    a()\n  return 2\n";

#[test]
fn a_two_space_block_under_an_unindented_def_comes_out_right_in_a_four_space_file() {
    let file = "import os\n\ndef f(x):\n    if x:\n        a()\n    return 1\n\nf(1)\n";
    let expected =
        "import os\n\ndef f(x):\n    if x:\n        for y in x:\n            b(y)\n        a()\n    return 2\n\nf(1)\n";
    becomes(file, TWO, TWO_NEW, expected, "line_trimmed");
}

#[test]
fn a_two_space_block_under_an_unindented_def_comes_out_right_in_a_tab_file() {
    let file = "def f(x):\n\tif x:\n\t\ta()\n\treturn 1\n";
    let expected = "def f(x):\n\tif x:\n\t\tfor y in x:\n\t\t\tb(y)\n\t\ta()\n\treturn 2\n";
    becomes(file, TWO, TWO_NEW, expected, "line_trimmed");
}

#[test]
fn a_method_that_was_given_without_its_class_comes_out_right() {
    let file = "class A:\n\n    def f(x):\n        if x:\n            a()\n        return 1\n";
    let expected = "class A:\n\n    def f(x):\n        if x:\n            for y in x:\n                b(y)\n            a()\n        return 2\n";
    becomes(file, TWO, TWO_NEW, expected, "line_trimmed");
}

#[test]
fn new_lines_deeper_than_all_old_ones_follow_the_file() {
    becomes(
        "if a:\n    x = 1\nif b:\n    y = 2\n",
        "  y  = 2\n",
        "  if c:\n    y = 2\n",
        "if a:\n    x = 1\nif b:\n    if c:\n        y = 2\n",
        "whitespace_normalized",
    );
}

#[test]
fn text_whose_structure_differs_is_no_match() {
    // In the file c() is inside the if.
    not_found("if a:\n    b()\n    c()\n", "if a:\n  b()\nc()\n", "if a:\n  b()\nd()\n");
}

#[test]
fn an_indentation_that_can_not_be_worked_out_is_refused() {
    let why = replaced("if a:\n    b()\n", "if a:\n  b()\n", "if a:\n\tb()\n  c()\n").unwrap_err();
    assert_eq!(why, Mismatch::Refused { line: 1, why: Refusal::Indentation });
    assert!(why.to_string().contains("at line 1 with other indentation"), "{why}");
}

#[test]
fn a_first_line_without_its_indentation_keeps_that_of_the_file() {
    becomes(
        "    if a :\n        b( )  \n    c\n",
        "if a :\n        b( )\n    c",
        "if a :\n        d()\n    c",
        "    if a :\n        d()\n    c\n",
        "line_trimmed",
    );
}

// Text that differs in substance.

#[test]
fn a_block_with_other_numbers_is_not_overwritten() {
    let file = "def run():\n    alpha = compute(1)\n    beta = 2\n    gamma = 3\n    return alpha\n";
    let old = "def run():\n    alpha = compute(2)\n    beta = 3\n    gamma = 3\n    return alpha\n";
    let near = not_found(file, old, "def run():\n    return 0\n");
    assert_eq!(near[0].line, 1);
    assert!(near[0].text.contains("compute(1)"));
}

#[test]
fn other_strings_names_and_signs_are_no_match() {
    for (file, old) in [
        ("s = \"a  b\"\n", "s = \"a b\""),
        ("s = \"a,b\"\n", "s = \"a, b\""),
        ("s = 'f(\n)'\n", "s = 'f()'"),
        ("returnx\n", "return x"),
        ("a = = b\n", "a == b"),
        ("a - -b\n", "a --b"),
        ("xfoo( a)\n", "foo(a)"),
        ("x.foo( a)\n", "foo(a)"),
        ("foo( a).x\n", "foo(a)"),
        ("a =  1.5\n", "a = 1"),
        ("// see f(a)\nrun(b)\n", "// see f(a) run(b)"),
        ("# note, old\nf( )\n", "# note,\nold\nf()"),
        ("x\n-y\n", "x -y"),
    ] {
        not_found(file, old, "z");
    }
}

// Escapes.

#[test]
fn a_text_that_was_escaped_too_often_is_unescaped_with_its_replacement() {
    becomes("f(\"a\")\n  g()\n", r#"f(\"a\")\n  g()"#, r#"f(\"b\")\n  g()"#, "f(\"b\")\n  g()\n", "escape_normalized");
    becomes("p(\"a\\n\")\n", r#"p(\"a\n\")"#, r#"q(\"a\n\")"#, "q(\"a\\n\")\n", "escape_normalized");
    becomes("if a:\n\tb\n", r"if a:\n    b", r"if a:\n    c", "if a:\n\tc\n", "escape_normalized");
}

#[test]
fn backslashes_that_may_be_too_many_are_refused() {
    let refused = Err(Mismatch::Refused { line: 2, why: Refusal::Escapes });
    assert_eq!(replaced("#\nsay('it')\n", r"say(\'it\')", r"say(\'it\\\'s\')"), refused);
    assert_eq!(replaced("#\nsay(\"a\")\n", r#"say(\"a\")"#, r#"say(\"a\n\")"#), refused);
    assert_eq!(replaced("#\na\nb\n", r"a\nb", r#"a\nprint("b\n")"#), refused);
}

#[test]
fn escapes_that_the_file_has_are_no_mistake() {
    becomes(r"p('a\n')", r"p('a\n')", r"p('it\'s\n')", r"p('it\'s\n')", "exact");
    becomes("p('a\\n',  1)\n", r"p('a\n', 1)", r"p('it\'s\n', 1)", "p('it\\'s\\n',  1)\n", "whitespace_normalized");
}

// Typography.

#[test]
fn plain_text_finds_typographic_and_the_other_way_round() {
    becomes(
        "“One” — it’s 5\u{a0}km… and “two”\n",
        "\"One\" -- it's 5 km... and \"two\"",
        "\"One\" -- it's 6 km... and \"three\"",
        "“One” — it’s 6\u{a0}km… and “three”\n",
        "unicode_normalized",
    );
    becomes("a 'b' - c\n", "a ‘b’ – c", "a ‘b’ – d", "a 'b' - d\n", "unicode_normalized");
    becomes("yes — no\nx\n", "yes - no\nx", "yes - maybe\nx", "yes — maybe\nx\n", "unicode_normalized");
}

#[test]
fn unchanged_lines_keep_their_characters() {
    becomes(
        "“a”  \nb\n\u{a0}c…\n",
        "\"a\"\nb\n c...\n",
        "\"a\"\nB\n c...\n",
        "“a”  \nB\n\u{a0}c…\n",
        "unicode_normalized",
    );
}

// Line breaks.

#[test]
fn a_crlf_file_keeps_crlf_on_all_lines_of_the_replacement() {
    becomes("a\r\nb\r\nc\r\n", "a\nb\n", "a\nx\ny\n", "a\r\nx\r\ny\r\nc\r\n", "exact");
    becomes("a\r\n\tb\r\nc\r\n", "a\n  b\nc\n", "a\n  x\n  y\nc\n", "a\r\n\tx\r\n\ty\r\nc\r\n", "line_trimmed");
    becomes("a\r\nb", "b", "b\nc", "a\r\nb\r\nc", "exact");
}

#[test]
fn mixed_line_breaks_stay_mixed() {
    becomes("1\r\n2\n3\r\n4\n", "2\n3\n", "2\nx\n3\n", "1\r\n2\nx\r\n3\r\n4\n", "exact");
    becomes("1\r\n2 \n3\r\n4\n", "1\n2\n3\n", "1\n2\nx\n", "1\r\n2 \nx\r\n4\n", "line_trimmed");
}

#[test]
fn a_byte_order_mark_is_kept_and_not_matched() {
    becomes("\u{feff}a = 1\nb\n", "a = 1\nb", "a = 2\nb", "\u{feff}a = 2\nb\n", "exact");
    becomes("\u{feff}a = 1\nb\n", "\u{feff}a = 1", "\u{feff}a = 2", "\u{feff}a = 2\nb\n", "exact");
    becomes("\u{feff}a  = 1\nb\n", "  a = 1\n", "  c\n  a = 1\n", "\u{feff}c\na  = 1\nb\n", "indentation_flexible");
}

// Whole lines.

#[test]
fn replacing_whole_lines_keeps_the_last_line_break() {
    becomes("  a\n  b\nc\n", "a\nb\n", "x", "  x\nc\n", "line_trimmed");
    becomes("  a\n  b", "a\nb\n", "a\nx\n", "  a\n  x", "trimmed_boundary");
    becomes("  a\n  b\nc\n", "a\nb\n", "", "c\n", "line_trimmed");
    becomes("c\n  a\n  b", "a\nb\n", "", "c", "trimmed_boundary");
    becomes("  a\n  b\n  c\n", "a\nb\nc", "a\nb", "  a\n  b\n", "line_trimmed");
    becomes("  a\n  b\n", "a\nb", "a\nb\nc", "  a\n  b\n  c\n", "line_trimmed");
}

#[test]
fn whole_lines_do_not_match_parts_of_lines() {
    not_found("x( a ) + y\n", "( a )\n", "");
    not_found("f( a); g()\n", "f(a);\n", "h();\n");
    not_found("x = f( a)\n", "\nf(a)", "\ng(a)");
}

#[test]
fn a_part_of_a_line_leaves_the_rest_alone() {
    becomes("  x = [f(a,  b), 1]; // y\n", "f(a, b)", "g(b)", "  x = [g(b), 1]; // y\n", "whitespace_normalized");
    becomes("x =\tf( a ) ;\n", " f( a )", "f()", "x =f() ;\n", "whitespace_normalized");
    becomes("x = f( a)\ny\n", "f(a)\n", "", "x = \ny\n", "context_aware");
    becomes("(a  b) c\n", "a b)\tc", "d) c", "(d) c\n", "whitespace_normalized");
}

#[test]
fn what_is_already_there_is_told() {
    assert_eq!(replaced("x\n  b\n", r"x\n  b", "x\n  b"), Err(Mismatch::Unchanged { line: 1 }));
}

// Bounds.

#[test]
fn a_text_that_repeats_itself_ends_in_an_answer() {
    let file = "x \n".repeat(100_000);
    let old = " x\n".repeat(2_000);
    assert_eq!(replaced(&file, &old, "y"), Err(Mismatch::TooMany));
    let file = "x ".repeat(PLACES + 1);
    assert_eq!(replace(&file, "x", "y", true), Err(Mismatch::TooMany));
    let file = "x\n".repeat(1000);
    assert_eq!(replace(&file, "x", &"y".repeat(INSERTED / 1000 + 1), true), Err(Mismatch::TooLarge));
}

#[test]
fn a_large_text_is_searched_in_exact_form_only() {
    let old = "a b\n".repeat(FUZZY_BYTES / 4 + 1);
    assert!(matches!(replaced(&old.replace(' ', "  "), &old, "x"), Err(Mismatch::NotFound { .. })));
}

/// A file of small lines, some of which are found only by the looser strategies.
fn lines() -> impl Values<Value = Vec<String>> {
    let line = ("( {0,4}|\t)", select(vec!["f(a, b)", "x = “1”", "{", "}", "", "g( c )"]), " {0,2}");
    vec(line.prop_map(|(indent, text, trail)| format!("{indent}{text}{trail}")), 1..8)
}

proptest! {
    #[test]
    fn an_exact_match_does_what_replacing_does(text in "[ab\\nä]{0,20}", old in "[ab\\nä]{1,3}", new in "[abc\\n]{0,3}") {
        match replace(&text, &old, &new, true) {
            Ok(made) if made.strategy == "exact" => {
                prop_assert_eq!(made.count, text.matches(&old).count());
                prop_assert_eq!(apply(&text, &made.splices), text.replace(&old, &new));
                let once = replace(&text, &old, &new, false);
                prop_assert_eq!(once.is_ok(), made.count == 1);
                if let Ok(once) = once {
                    prop_assert_eq!(apply(&text, &once.splices), text.replacen(&old, &new, 1));
                }
            }
            _ => prop_assert!(old == new || !text.contains(&old)),
        }
    }

    #[test]
    fn only_matched_lines_change(
        before in lines(), wanted in lines(), after in lines(), crlf: bool, new in "([a-z]{1,3}\\n){1,3}",
    ) {
        let ending = if crlf { "\r\n" } else { "\n" };
        let join = |lines: &[String]| lines.iter().flat_map(|line| [line, ending]).collect::<String>();
        let (before, after) = (format!("first{ending}{}", join(&before)), format!("last{ending}{}", join(&after)));
        let file = format!("{before}START{ending}{}END{ending}{after}", join(&wanted));
        // Other spacing and typography than in the file.
        let plain: String = wanted.iter().map(|line| line.replace(['“', '”'], "\"").trim().replace("( ", "(") + "\n").collect();
        if let Ok(made) = replace(&file, &format!("START\n{plain}END\n"), &format!("START\n{new}END\n"), false) {
            let text = apply(&file, &made.splices);
            let middle = text.strip_prefix(before.as_str()).and_then(|text| text.strip_suffix(after.as_str()));
            prop_assert!(middle.is_some(), "{text:?}");
            let middle = middle.unwrap();
            prop_assert_eq!(middle.matches('\n').count(), middle.matches(ending).count());
            let bare: String = middle.lines().map(|line| line.trim().to_owned() + "\n").collect();
            prop_assert_eq!(bare, format!("START\n{new}END\n"));
        }
    }

    #[test]
    fn splices_are_in_order_and_inside(file in "[ab (\\n\\t“]{0,40}", old in "[ab (\\n\\t\"]{1,6}", new in "[abc (\\n\\t]{0,6}") {
        if let Ok(made) = replace(&file, &old, &new, true) {
            prop_assert!(made.splices.windows(2).all(|pair| pair[0].end <= pair[1].start));
            prop_assert!(made.splices.iter().all(|splice| splice.start <= splice.end && splice.end <= file.len()));
            let _ = apply(&file, &made.splices);
        }
    }

    #[test]
    fn a_loose_match_changes_the_characters_that_were_asked_for_and_no_others(
        file in "[ab(, \\n\\t“…]{0,30}", old in "[ab(, \\n\"….]{1,6}", new in "[cd(, \\n]{0,6}",
    ) {
        let solid = |text: &str| -> Vec<u8> {
            folded(text, Dash::Double).filter(|byte| !byte.is_ascii_whitespace()).collect()
        };
        if let Ok(made) = replace(&file, &old, &new, false) {
            let (before, after) = (solid(&file), solid(&apply(&file, &made.splices)));
            let (old, new) = (solid(&old), solid(&new));
            let replaced = |at: usize| [&before[..at], &new, &before[at + old.len()..]].concat();
            let meant = (0..before.len() + 1).filter(|at| before[*at..].starts_with(&old)).any(|at| replaced(at) == after);
            prop_assert!(meant, "{} made {:?}", made.strategy, apply(&file, &made.splices));
        }
    }

    #[test]
    fn no_text_makes_it_panic(
        file in "(\\PC|[\\n\\r\\t \u{a0}…—“”'\"\\\\n]){0,60}",
        old in "(\\PC|[\\n\\r\\t \u{a0}…—“”'\"\\\\n]){0,20}",
        new in "(\\PC|[\\n\\r\\t \u{a0}…—“”'\"\\\\n]){0,20}",
        cut in any::<prop::sample::Index>(),
        all: bool,
    ) {
        let _ = replace(&file, &old, &new, all);
        // A part of the file with other white space: more likely to be found.
        let places: Vec<usize> = file.char_indices().map(|(at, _)| at).chain([file.len()]).collect();
        let part = &file[places[cut.index(places.len())]..];
        if let Ok(made) = replace(&file, &part.replace([' ', '\u{a0}'], "  "), &new, all) {
            let _ = apply(&file, &made.splices);
        }
    }
}
