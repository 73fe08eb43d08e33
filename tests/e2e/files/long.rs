//! Answers that are too long for one: the tools cut them themselves, and say how to go on.

use super::*;

/// Reads a file to its end by what each answer says, and gives its lines.
fn read_through(host: &Asked, path: &str) -> Vec<String> {
    let (mut lines, mut offset) = (Vec::new(), 1);
    loop {
        let page = host.call("read_file", &json!({ "path": path, "offset": offset, "limit": 2000 }), None).unwrap();
        let content = page["content"].as_str().unwrap_or_else(|| panic!("the host cut it: {page}"));
        let text = |line: &str| line.split_once('|').unwrap().1.to_owned();
        lines.extend(content.lines().map(text));
        match page["next_offset"].as_u64() {
            Some(next) => offset = next,
            None => return lines,
        }
    }
}

#[test]
fn a_long_file_is_read_to_its_end_whatever_is_in_it() {
    let desk = Desk::new();
    let host = desk.with_tools("");
    for line in ["x".repeat(300), "\"".repeat(300), "\t\\".repeat(150), "é".repeat(300)] {
        desk.put("work/long.txt", format!("{line}\n").repeat(1_500));
        let lines = read_through(&host, "long.txt");
        assert_eq!(lines.len(), 1_500);
        assert!(lines.iter().all(|shown| *shown == line), "{line}");
    }
}

#[test]
fn many_matches_come_in_pages_whatever_is_in_them() {
    let desk = Desk::new();
    let host = desk.with_tools("");
    desk.put("work/many.txt", format!("{}\n", "\"".repeat(90)).repeat(1_000));
    let found = host.call("search_files", &json!({ "pattern": "\"", "limit": 1000 }), None).unwrap();
    assert!(found["matches_text"].is_string(), "the host cut it: {found}");
    assert_eq!(found["total_count"], 1_000);
    assert!(found["truncated"].as_bool().unwrap(), "{found}");
}

#[test]
fn a_table_with_many_commas_is_one_argument() {
    let desk = Desk::new();
    let host = desk.with_tools("");
    let table = "a,b,c,d,e,f,g,h\n".repeat(10_000);
    host.call("write_file", &json!({ "path": "t.csv", "content": table }), None).unwrap();
    assert_eq!(desk.get("work/t.csv"), table);
}
