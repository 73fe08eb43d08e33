//! Lines that are found and given.

use std::ops::Range;

use super::*;

#[test]
fn matching_lines_are_given_in_order_with_their_numbers() {
    let tree = Tree::new([("b", "x\nno\nx y x\r\n"), ("a/c", "no\nno\nx"), ("d", "no\n")]);
    let findings = tree.search(&lines("x"));
    assert_eq!(show(&findings), ["a/c:3:x", "b:1:x", "b:3:x y x"]);
    assert_eq!(tallies(&findings), [("a/c", 1), ("b", 2)]);
    assert_eq!((findings.total, findings.total_files, findings.extent.files), (3, 2, 3));
    assert_eq!(findings.extent, Extent { files: 3, ..Extent::default() });
}

#[test]
fn parts_of_the_lines_join_up_and_totals_stay_true() {
    let tree = Tree::new([]);
    (0..200).for_each(|n| tree.add(format!("{}/{n}", n % 9), "x\n-\n".repeat(n % 5)));
    let whole = tree.search(&lines("x"));
    assert_eq!((whole.total, whole.hits.len(), whole.total_files), (400, 400, 160));
    let mut hits = Vec::new();
    for skip in (0..420).step_by(7) {
        let filter = Filter { skip, take: 7, ..all() };
        let part = tree.search(&Query { filter, ..lines("x") });
        assert_eq!((part.total, part.total_files), (400, 160));
        assert!(part.files.iter().all(|tally| whole.files.contains(tally)));
        hits.extend(part.hits);
    }
    assert_eq!(hits, whole.hits);
}

#[test]
fn files_with_matches_are_counted() {
    let tree = Tree::new([("a", "x\nx\n"), ("b", "no"), ("c", "x"), ("d", "x\n\nx x\n")]);
    let filter = Filter { skip: 1, take: 1, ..all() };
    let part = tree.search(&Query { filter, granularity: Granularity::Files, ..lines("x") });
    assert_eq!(tallies(&part), [("c", 1)]);
    assert_eq!((part.hits.len(), part.total, part.total_files), (0, 5, 3));
}

#[test]
fn nothing_is_given_where_nothing_is_taken() {
    let tree = Tree::new([("a", "x\n")]);
    let findings = tree.search(&Query { filter: Filter { take: 0, ..all() }, ..lines("x") });
    assert_eq!((findings.hits.len(), findings.files.len(), findings.total), (0, 0, 1));
}

#[test]
fn context_comes_once_and_does_not_count() {
    let tree = Tree::new([("a", "1\nx\n3\nx\n5\n6\nx\n")]);
    let query = Query { context: 1, ..lines("x") };
    assert_eq!(show(&tree.search(&query)), ["a-1-1", "a:2:x", "a-3-3", "a:4:x", "a-5-5", "a-6-6", "a:7:x"]);
    // Lines that match but are not taken are context.
    let filter = Filter { skip: 1, take: 1, ..all() };
    let part = tree.search(&Query { filter, context: 2, ..lines("x") });
    assert_eq!(show(&part), ["a-2-x", "a-3-3", "a:4:x", "a-5-5", "a-6-6"]);
    assert_eq!(tallies(&part), [("a", 3)]);
}

#[test]
fn globs_and_ignore_files_hold_for_contents_too() {
    let tree = Tree::new([(".ignore", "b.rs"), ("a.rs", "x"), ("b.rs", "x"), ("c.py", "x"), (".d.rs", "x")]);
    let findings = tree.search(&Query { filter: globs(["*.rs"]), ..lines("x") });
    assert_eq!((show(&findings), findings.extent.files), (vec!["a.rs:1:x".into()], 1));
}

#[test]
fn what_is_no_text_is_counted_and_not_searched() {
    let tree = Tree::new([("a", "x"), ("b", "x\0"), ("c", "x\0")]);
    tree.add("utf-16", b"\xff\xfex\0\n\0y\0\xfc\0");
    tree.add("mark", "\u{feff}x");
    tree.add("latin", b"x caf\xe9 \xff");
    let findings = tree.search(&lines("^[xy]"));
    assert_eq!(show(&findings), ["a:1:x", "latin:1:x caf\u{fffd} \u{fffd}", "mark:1:x", "utf-16:1:x", "utf-16:2:yü"]);
    assert_eq!((findings.extent.files, findings.extent.skipped), (4, vec!["2 binary".into()]));
}

#[test]
fn long_lines_are_cut_between_characters() {
    let tree = Tree::new([("a", "xäää\n"), ("b", "xa\n")]);
    tree.add("c", b"x\xff\xff\xff");
    for (width, texts) in [(0, ["", "", ""]), (2, ["x", "xa", "x"]), (4, ["xä", "xa", "x\u{fffd}"])] {
        let findings = tree.search(&Query { width, ..lines("x") });
        assert_eq!(findings.hits.iter().map(|hit| hit.text.as_str()).collect::<Vec<_>>(), texts);
    }
}

#[test]
fn a_match_beyond_the_width_counts() {
    let tree = Tree::new([("a", &("-".repeat(600) + "x"))]);
    let findings = tree.search(&lines("x"));
    assert_eq!((findings.total, findings.hits[0].text.len()), (1, 500));
}

fn mask(whole: &[u8], range: Range<usize>) -> (Vec<u8>, u32) {
    let text = String::from_utf8(whole.to_vec()).unwrap();
    let masked = text.replace("secret", "******");
    (masked.as_bytes()[range.clone()].to_vec(), text[range].matches("secret").count() as u32)
}

#[test]
fn secrets_are_masked_in_the_lines_that_are_given() {
    let tree = Tree::new([("a", "key: secret x\nmore secret\n"), ("b", "key: secret x\n"), ("c", "key: secret x\n")]);
    let rules = Rules { mask: Some(&mask), ..RULES };
    let query = Query { filter: Filter { take: 2, ..all() }, context: 1, ..lines("key") };
    let findings = tree.at("", |start| search(start, &query, &rules, &in_time())).unwrap();
    assert_eq!(show(&findings), ["a:1:key: ****** x", "a-2-more ******", "b:1:key: ****** x"]);
    assert_eq!(findings.masked, 3);
    // The end of a secret may be beyond the width: what is shown of it is masked all the same.
    let cut = tree.at("", |start| search(start, &Query { width: 8, ..query.clone() }, &rules, &in_time()));
    assert_eq!(show(&cut.unwrap()), ["a:1:key: ***", "a-2-more ***", "b:1:key: ***"]);
}

#[test]
fn a_pattern_does_not_find_out_what_a_secret_is() {
    let tree = Tree::new([("a", "key: secret x\nno secr here\n")]);
    let rules = Rules { mask: Some(&mask), ..RULES };
    for granularity in [Granularity::Lines, Granularity::Files] {
        let query = Query { granularity, ..lines("sec") };
        let findings = tree.at("", |start| search(start, &query, &rules, &in_time())).unwrap();
        assert_eq!(findings.total, 1, "only the line in which it is no secret");
    }
}

#[test]
fn a_bad_pattern_is_refused_before_anything_is_read() {
    let tree = Tree::new([("a", "x")]);
    let bad = tree.at("", |start| search(start, &lines("("), &RULES, &in_time()));
    assert!(matches!(bad, Err(Problem::Invalid(text)) if text.contains("unclosed group")));
}
