//! `search_files` as a model meets it.

use hermes_tool::Error;
use hermes_tool::fs::{Extent, Fault, Findings, Found, Granularity, Hit, Reason, Tally};
use hermes_tool::testing::FakeHost;
use serde_json::{Value, json};

use super::*;

fn extent() -> Extent {
    Extent { files: 7, skipped: vec![], stopped: None }
}

fn hit(path: &str, number: u64, text: &str, matches: bool) -> Hit {
    Hit { path: path.into(), number, text: text.into(), matches }
}

fn tally(path: &str, count: u64) -> Tally {
    Tally { path: path.into(), count }
}

fn findings(hits: Vec<Hit>, total: u64) -> Findings {
    Findings { hits, files: vec![], total, total_files: 1, masked: 0, extent: extent() }
}

fn call(host: FakeHost, arguments: Value) -> Value {
    host.call(search_files::TOOL, &arguments.to_string()).unwrap().json()
}

/// What the tool answers to these findings.
fn answer(findings: Findings, arguments: Value) -> Value {
    call(FakeHost::new().search(move |_| Ok(findings.clone())), arguments)
}

#[test]
fn few_matches_come_one_by_one() {
    let answer = answer(findings(vec![hit("a.rs", 3, "fn main", true)], 1), json!({ "pattern": "main" }));
    let expected = json!({
        "total_count": 1, "matches": [{ "path": "a.rs", "line": 3, "content": "fn main" }], "truncated": false,
    });
    assert_eq!(answer, expected);
}

#[test]
fn many_matches_are_grouped_by_file() {
    let hits = ["a", "a", "b", "b", "b"].into_iter().zip(1..).map(|(path, n)| hit(path, n, "x", true)).collect();
    let answer = answer(findings(hits, 5), json!({ "pattern": "x" }));
    assert_eq!(answer["matches_text"], "a\n1:x\n2:x\n\nb\n3:x\n4:x\n5:x");
    assert!(answer["matches_format"].as_str().unwrap().contains("NUMBER:text"));
    assert_eq!(answer["matches"], Value::Null);
}

#[test]
fn context_is_marked_and_gaps_are_shown() {
    let hits = vec![hit("a", 1, "x", false), hit("a", 2, "y", true), hit("a", 9, "y", true), hit("b", 10, "y", true)];
    let answer = answer(findings(hits, 3), json!({ "pattern": "y", "context": 1 }));
    assert_eq!(answer["matches_text"], "a\n1-x\n2:y\n--\n9:y\n\nb\n10:y");
}

#[test]
fn truncation_and_totals_are_true() {
    let hits = vec![hit("a", 1, "x", true), hit("a", 2, "x", true)];
    let cut = answer(findings(hits.clone(), 5), json!({ "pattern": "x", "limit": 2, "offset": 1 }));
    assert_eq!((&cut["total_count"], &cut["truncated"], &cut["next_offset"]), (&json!(5), &json!(true), &json!(3)));
    assert_eq!(cut["limit_reason"], "limit of 2 matches");
    assert!(cut["hint"].as_str().unwrap().starts_with("2 more matches: go on with offset 3"));
    let last = answer(findings(hits, 5), json!({ "pattern": "x", "limit": 2, "offset": 3 }));
    assert_eq!((&last["truncated"], &last["next_offset"]), (&json!(false), &Value::Null));
}

#[test]
fn a_search_that_ended_early_does_not_pretend_to_be_whole() {
    let extent = Extent {
        files: 9,
        skipped: vec!["12 binary".into(), "1 too large".into()],
        stopped: Some("10 s are over".into()),
    };
    let answer = answer(Findings { extent, ..findings(vec![hit("a", 1, "x", true)], 1) }, json!({ "pattern": "x" }));
    assert_eq!((&answer["truncated"], &answer["limit_reason"]), (&json!(true), &json!("10 s are over")));
    assert_eq!(
        answer["warning"],
        "the search ended early, and what is counted is only what it saw: 10 s are over; files that were not searched: 12 binary, \
         1 too large"
    );
}

#[test]
fn masked_secrets_are_counted() {
    let found = Findings { masked: 2, ..findings(vec![hit("a", 1, "key = ****", true)], 1) };
    let answer = answer(found, json!({ "pattern": "key" }));
    assert!(answer["warning"].as_str().unwrap().starts_with("secrets in these lines are masked: 2;"));
}

#[test]
fn an_answer_that_would_be_too_long_ends_with_a_whole_line() {
    let hits = (1..=1000).map(|n| hit("a", n, &"é".repeat(400), true)).collect();
    let answer = answer(findings(hits, 1000), json!({ "pattern": "x", "limit": 1000 }));
    let text = answer["matches_text"].as_str().unwrap();
    let shown = text.lines().count() - 1;
    assert!(text.len() <= 90_000 && text.ends_with(&"é".repeat(400)));
    assert_eq!((&answer["truncated"], &answer["next_offset"]), (&json!(true), &json!(shown)));
    assert_eq!(answer["limit_reason"], "an answer holds no more");
}

#[test]
fn long_lines_are_cut() {
    let answer = answer(findings(vec![hit("a", 1, &"x".repeat(501), true)], 1), json!({ "pattern": "x" }));
    assert_eq!(answer["matches"][0]["content"], format!("{}... [truncated]", "x".repeat(500)));
}

#[test]
fn files_and_counts_are_paged_by_file() {
    let findings =
        || Findings { files: vec![tally("a", 3), tally("b", 4)], total: 12, total_files: 3, ..findings(vec![], 12) };
    let files = answer(findings(), json!({ "pattern": "x", "output_mode": "files_only", "limit": 2 }));
    assert_eq!((&files["files"], &files["total_count"]), (&json!(["a", "b"]), &json!(3)));
    assert_eq!((&files["truncated"], &files["next_offset"]), (&json!(true), &json!(2)));
    let counts = answer(findings(), json!({ "pattern": "x", "output_mode": "count", "limit": 2 }));
    assert_eq!((&counts["counts"], &counts["total_count"]), (&json!({ "a": 3, "b": 4 }), &json!(12)));
    assert_eq!(counts["limit_reason"], "limit of 2 files");
}

#[test]
fn the_host_is_asked_for_what_the_model_asked_for() {
    let host = FakeHost::new().search(|query| {
        let filter = &query.filter;
        assert_eq!((query.pattern.as_str(), filter.path.as_str()), ("a+", "src"));
        assert_eq!((filter.globs.as_slice(), filter.hidden, filter.ignored), (&["*.rs".to_owned()][..], true, false));
        assert_eq!((filter.skip, filter.take, query.context), (2, 7, 3));
        assert_eq!(query.granularity, Granularity::Lines);
        Ok(findings(vec![], 0))
    });
    let answer = call(
        host,
        json!({
            "pattern": "a+", "target": "grep", "path": "src", "file_glob": "*.rs", "limit": 7, "offset": 2, "context": 3,
            "hidden": true,
        }),
    );
    assert_eq!((&answer["total_count"], &answer["matches"]), (&json!(0), &json!([])));
    assert!(answer["hint"].as_str().unwrap().starts_with("nothing in 7 files;"));
}

#[test]
fn an_offset_past_the_end_is_said_to_be() {
    let answer = answer(findings(vec![], 3), json!({ "pattern": "x", "offset": 10 }));
    assert_eq!((&answer["truncated"], &answer["next_offset"]), (&json!(false), &Value::Null));
    assert_eq!(answer["hint"], "offset 10 is past the end: there are 3 matches");
}

#[test]
fn a_pattern_that_is_none_comes_back_with_the_hosts_words() {
    let host =
        FakeHost::new().search(|_| Err(Fault { reason: Reason::Invalid, message: "unclosed group at 4".into() }));
    let why = host.call(search_files::TOOL, r#"{"pattern": "main("}"#).unwrap_err();
    assert!(matches!(&why, Error::Invalid(message) if message == "unclosed group at 4"));
}

#[test]
fn files_are_found_by_name() {
    let host = FakeHost::new().find(|filter| {
        assert_eq!((filter.globs.as_slice(), filter.take), (&["*main*".to_owned()][..], 50));
        Ok(Found { paths: vec!["src/main.rs".into()], total: 1, extent: extent() })
    });
    let answer = call(host, json!({ "pattern": "main", "target": "files" }));
    assert_eq!(answer, json!({ "total_count": 1, "files": ["src/main.rs"], "truncated": false }));
}

#[test]
fn a_glob_that_is_not_used_is_said_to_be() {
    let host = FakeHost::new().find(|_| Ok(Found { paths: vec!["a".into()], total: 2, extent: extent() }));
    let answer = call(host, json!({ "pattern": "*", "target": "find", "file_glob": "*.py", "limit": 1 }));
    assert!(answer["warning"].as_str().unwrap().contains("file_glob is for contents"));
    assert_eq!((&answer["truncated"], &answer["limit_reason"]), (&json!(true), &json!("limit of 1 files")));
}

#[test]
fn a_missing_directory_comes_with_names_like_it() {
    let host = FakeHost::new()
        .file("source/a", "")
        .search(|query| Err(hermes_tool::fs::stat(&query.filter.path).unwrap_err()));
    let why = host.call(search_files::TOOL, r#"{"pattern": "x", "path": "sorce"}"#).unwrap_err();
    assert_eq!(why.message(), "/workspace/sorce does not exist; did you mean: source/");
}

#[test]
fn the_schema_bounds_what_may_be_asked_for() {
    let schema = FakeHost::new().parameters(search_files::TOOL);
    let properties = &schema["properties"];
    assert_eq!(schema["required"], json!(["pattern"]));
    assert_eq!(properties["target"]["enum"], json!(["content", "files", "grep", "find"]));
    assert_eq!(properties["output_mode"]["enum"], json!(["content", "files_only", "count"]));
    assert_eq!(
        (&properties["limit"]["maximum"], &properties["context"]["maximum"]),
        (&json!(MAX_LIMIT), &json!(MAX_CONTEXT))
    );
}
