//! Content that is the answer of a tool and not a file: a model that pastes it back would destroy the file.

use crate::read::UNCHANGED;

/// Endings of files in which a number and a bar at the start of a line are data.
const TABLES: [&str; 5] = [".csv", ".psv", ".tsv", ".tbl", ".dat"];

/// Why the content is no file's, or nothing.
pub(super) fn refusal(path: &str, content: &str) -> Option<String> {
    if is_unchanged(content) {
        return Some(
            "the content is read_file's note that the file is unchanged, not a file; there is nothing to write".into(),
        );
    }
    if is_numbered(content) && !TABLES.iter().any(|ending| path.to_ascii_lowercase().ends_with(ending)) {
        let why = "the content has read_file's line numbers in it: leave out the \"N|\" at the start of every line. If they belong \
                   to the file, add it with patch";
        return Some(why.into());
    }
    None
}

/// The note itself, or the answer it came in.
fn is_unchanged(content: &str) -> bool {
    let content = content.trim();
    content == UNCHANGED || (content.starts_with('{') && content.ends_with('}') && content.contains(UNCHANGED))
}

/// Whether most lines carry numbers that count up by one. One line alone proves nothing.
fn is_numbered(content: &str) -> bool {
    let (mut lines, mut counted, mut last) = (0_usize, 0_usize, None);
    for line in content.lines().filter(|line| !line.trim().is_empty()) {
        lines += 1;
        let Some(number) = leading_number(line) else { continue };
        counted += usize::from(last.is_none_or(|last: u64| last.checked_add(1) == Some(number)));
        last = Some(number);
    }
    counted >= 2 && counted * 2 > lines
}

fn leading_number(line: &str) -> Option<u64> {
    line.trim_start().split_once('|')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_lines_are_recognised() {
        for text in ["1|a\n2|b\n", "99|a\n100|\n\n101|b", "  7|a\n  8|b", "1|a\n2|b\n... more\n"] {
            assert!(is_numbered(text), "{text:?}");
        }
    }

    #[test]
    fn other_bars_and_numbers_are_left_alone() {
        for text in
            ["", "1|a", "| 1 | a |\n| 2 | b |", "10|a\n20|b\n30|c", "a|1\nb|2", "1. a\n2. b", "x\ny\nz\n1|a\n2|b"]
        {
            assert!(!is_numbered(text), "{text:?}");
        }
    }

    #[test]
    fn a_table_may_count_its_rows() {
        assert_eq!(refusal("rows.PSV", "1|a\n2|b"), None);
        assert!(refusal("rows.txt", "1|a\n2|b").unwrap().contains("leave out the \"N|\""));
    }

    #[test]
    fn the_note_is_recognised_alone_and_in_its_answer() {
        assert!(refusal("a", &format!(" {UNCHANGED}\n")).is_some());
        assert!(refusal("a", &serde_json::json!({ "status": "unchanged", "hint": UNCHANGED }).to_string()).is_some());
        assert_eq!(refusal("a", &format!("// {UNCHANGED}\nfn main() {{}}")), None);
    }
}
