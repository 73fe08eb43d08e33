//! The same answers as ripgrep's, where that is installed. No rule here takes back a hidden name: ripgrep would then show it.

use std::{
    collections::BTreeMap,
    process::{Command, Stdio},
};

use proptest::prelude::*;

use super::*;

/// What ripgrep prints, sorted. Nothing where it is not installed.
fn ripgrep(tree: &Tree, arguments: &[&str]) -> Option<Vec<String>> {
    let mut command = Command::new("rg");
    command.args(["--no-config", "--no-require-git", "--no-ignore-global", "--no-ignore-parent"]);
    let output = command.args(arguments).current_dir(tree.path()).stdin(Stdio::null()).output().ok()?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.is_empty() || complaint.starts_with("No files were searched"), "{complaint}");
    let mut lines: Vec<String> = String::from_utf8(output.stdout).unwrap().lines().map(String::from).collect();
    lines.sort();
    Some(lines)
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

fn trees() -> impl Strategy<Value = BTreeMap<String, String>> {
    let folder = prop::sample::select(vec!["", "a/", "b/", "a/b/", "b/a/", "a/.h/", "a/a/b/"]);
    let name = prop::sample::select(vec!["x.rs", "y.rs", "x.txt", "z.log", ".d", "c"]);
    let file =
        (folder.clone(), name, "[xy \\n]{0,12}").prop_map(|(folder, name, text)| (format!("{folder}{name}"), text));
    let rule = prop::sample::select(vec![
        "*.log", "/a", "b/", "!x.rs", "a/*.txt", "**/b", "a/**", "x.*", "!c", "*", "![a-c]/", "/x.txt", "#c", "!a/b/",
        "c ", "a/**/c",
    ]);
    let rules = prop::collection::vec(rule, 0..4).prop_map(|rules| rules.join("\n"));
    let kind = prop::sample::select(vec![".gitignore", ".ignore"]);
    let rules = (folder, kind, rules).prop_map(|(folder, name, rules)| (format!("{folder}{name}"), rules));
    (prop::collection::vec(file, 1..20), prop::collection::vec(rules, 0..4))
        .prop_map(|(files, rules)| files.into_iter().chain(rules).collect())
}

fn grown(files: &BTreeMap<String, String>) -> Tree {
    let tree = Tree::new([]);
    files.iter().for_each(|(path, text)| tree.add(path, text));
    tree
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_files_are_those_of_ripgrep(files in trees(), hidden: bool, ignored: bool) {
        let tree = grown(&files);
        let mut arguments = vec!["--files"];
        arguments.extend(hidden.then_some("--hidden"));
        arguments.extend(ignored.then_some("--no-ignore"));
        let Some(expected) = ripgrep(&tree, &arguments) else { return Ok(()) };
        prop_assert_eq!(tree.paths(&Filter { hidden, ignored, ..all() }), expected);
    }

    #[test]
    fn globs_fit_as_those_of_ripgrep_do(
        files in trees(),
        wanted in prop::sample::subsequence(vec!["*.rs", "a/*", "**/b/*.txt", "x*", "a/**", "{c,y.rs}", "b/**/*.rs", "/x.rs"], 0..3),
        unwanted in prop::sample::subsequence(vec!["!x.rs", "!b", "!a/*.rs", "!**/a/b", "!z.*"], 0..3),
    ) {
        let tree = grown(&files);
        let globs: Vec<&str> = [wanted, unwanted].concat();
        let mut arguments = vec!["--files", "--hidden", "--no-ignore"];
        globs.iter().for_each(|glob| arguments.extend(["-g", glob]));
        let Some(expected) = ripgrep(&tree, &arguments) else { return Ok(()) };
        let globs = globs.into_iter().map(String::from).collect();
        prop_assert_eq!(tree.paths(&Filter { globs, hidden: true, ignored: true, ..all() }), expected);
    }

    #[test]
    fn lines_and_counts_are_those_of_ripgrep(
        files in trees(),
        pattern in prop::sample::select(vec!["x", "^x", "y$", "x.*y", "^$", "[^x]y", "x|y ", "(?i)X", r"\bx\b", r"x\s+y", ""]),
    ) {
        let tree = grown(&files);
        let Some(expected) = ripgrep(&tree, &["-n", "--no-heading", "--with-filename", "-e", pattern]) else { return Ok(()) };
        let findings = tree.search(&lines(pattern));
        prop_assert_eq!(sorted(show(&findings)), expected);
        let Some(expected) = ripgrep(&tree, &["-c", "--with-filename", "-e", pattern]) else { return Ok(()) };
        let findings = tree.search(&Query { granularity: Granularity::Files, ..lines(pattern) });
        let counts = tallies(&findings).into_iter().map(|(path, count)| format!("{path}:{count}")).collect();
        prop_assert_eq!(sorted(counts), expected);
    }
}
