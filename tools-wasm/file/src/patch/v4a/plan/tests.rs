use proptest::prelude::*;

use super::{
    super::{Change, Why, parse},
    *,
};
use crate::patch::splice::apply;

/// Files in memory, each with its length as version.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fake(BTreeMap<String, String>);

impl Files for Fake {
    fn exists(&mut self, path: &str) -> Result<bool, String> {
        if path == "secret" { Err("it lies outside every grant".into()) } else { Ok(self.0.contains_key(path)) }
    }

    fn read(&mut self, path: &str) -> Result<Option<(String, u64)>, String> {
        if path == "image" {
            Err("it is no text".into())
        } else {
            Ok(self.0.get(path).map(|text| (text.clone(), text.len() as u64)))
        }
    }
}

fn files(all: &[(&str, &str)]) -> Fake {
    Fake(all.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect())
}

impl Fake {
    /// Makes planned changes as the host does: all of them are meant for the files as they are.
    fn commit(&self, planned: &[Planned]) -> Self {
        let mut after = self.clone();
        let edited = |path: &str, version: u64, splices: &[crate::patch::Splice]| {
            assert_eq!(self.0[path].len() as u64, version);
            apply(&self.0[path], splices)
        };
        for Planned { path, change, .. } in planned {
            match change {
                Change::Create(content) => {
                    assert!(!self.0.contains_key(path));
                    after.0.insert(path.clone(), content.clone());
                }
                Change::Edit { version, splices } => {
                    after.0.insert(path.clone(), edited(path, *version, splices));
                }
                Change::Remove { .. } => assert!(after.0.remove(path).is_some()),
                Change::Rename { source, edit } => {
                    assert!(!self.0.contains_key(path));
                    assert!(after.0.remove(source).is_some());
                    let text = edit.as_ref().map(|(version, splices)| edited(source, *version, splices));
                    after.0.insert(path.clone(), text.unwrap_or_else(|| self.0[source].clone()));
                }
            }
        }
        after
    }
}

fn planned(before: &Fake, patch: &str) -> Result<Vec<Planned>, PlanError> {
    plan(&parse(patch).unwrap(), &mut before.clone())
}

/// The file `f` after an update.
#[track_caller]
fn updated(text: &str, hunks: &str) -> String {
    let before = files(&[("f", text)]);
    let planned = planned(&before, &format!("*** Update File: f\n{hunks}")).unwrap_or_else(|why| panic!("{why}"));
    before.commit(&planned).0.remove("f").unwrap()
}

fn failures(before: &Fake, patch: &str) -> Vec<(usize, Why)> {
    let error = planned(before, patch).unwrap_err();
    error.failures.into_iter().map(|failure| (failure.line, failure.why)).collect()
}

fn update_failures(text: &str, hunks: &str) -> Vec<(usize, Why)> {
    failures(&files(&[("f", text)]), &format!("*** Update File: f\n{hunks}"))
}

// Where hunks are.

const TWICE: &str = "class A:\n    def run():\n        x = 1\n\nclass B:\n    def run():\n        x = 1\n";

#[test]
fn a_change_is_made_where_its_context_is() {
    assert_eq!(updated("a\nb\nc\n", "@@\n a\n-b\n+B\n+bb\n c\n"), "a\nB\nbb\nc\n");
    assert_eq!(updated("a\nb\nc\n", "-a\n b\n-c\n"), "b\n");
    assert_eq!(updated("a\n", "-a\n"), "");
}

#[test]
fn the_hint_tells_places_apart() {
    let b = "class A:\n    def run():\n        x = 1\n\nclass B:\n    def run():\n        x = 2\n";
    assert_eq!(updated(TWICE, "@@ class B:\n-        x = 1\n+        x = 2\n"), b);
    assert_eq!(updated(TWICE, "@@ class B @@\n-        x = 1\n+        x = 2\n"), b);
    assert_eq!(updated(TWICE, "@@ class B:\n@@ def run():\n-        x = 1\n+        x = 2\n"), b);
    let a = "class A:\n    def run():\n        x = 2\n\nclass B:\n    def run():\n        x = 1\n";
    assert_eq!(updated(TWICE, "@@ class A:\n-        x = 1\n+        x = 2\n"), a);
}

#[test]
fn a_hint_may_be_the_first_line_of_the_context() {
    assert_eq!(updated("f:\n x\ng:\n x\n", "@@ g:\n g:\n- x\n+ y\n"), "f:\n x\ng:\n y\n");
}

#[test]
fn a_hint_that_is_not_above_the_lines_is_not_ignored() {
    let gone = [(2, Why::NoHint("def gone():".into()))];
    assert_eq!(update_failures("a\nb\n", "@@ def gone():\n-b\n+c\n"), gone);
    assert_eq!(update_failures("a\nb\n", "@@ def gone():\n+c\n"), gone);
    let text = "def f():\n x = 1\ndef g():\n y = 1\n";
    assert_eq!(update_failures(text, "@@ def g():\n- x = 1\n+ x = 2\n"), [(2, Why::NoHint("def g():".into()))]);
}

#[test]
fn places_that_nothing_tells_apart_are_named() {
    assert_eq!(update_failures(TWICE, "@@\n-        x = 1\n+        x = 2\n"), [(2, Why::Several(vec![3, 7]))]);
    assert_eq!(
        update_failures(TWICE, "@@ def run():\n-        x = 1\n+        x = 2\n"),
        [(2, Why::Several(vec![3, 7]))]
    );
}

#[test]
fn the_order_of_changes_tells_places_apart() {
    assert_eq!(updated("x\na\nx\n", "-a\n+b\n@@\n-x\n+y\n"), "x\nb\ny\n");
    assert_eq!(updated("x\na\nx\n", "-x\n+y\n@@\n-x\n+z\n"), "y\na\nz\n");
}

#[test]
fn changes_out_of_order_are_refused() {
    assert_eq!(update_failures("a\nb\nc\n", "-c\n@@\n-a\n"), [(3, Why::Order(vec![1]))]);
}

#[test]
fn a_change_at_the_end_of_the_file_is_there() {
    assert_eq!(updated("x\na\nx\n", "@@\n-x\n+y\n*** End of File\n"), "x\na\ny\n");
}

#[test]
fn blank_context_is_not_dropped() {
    assert_eq!(updated("a\nb\na\n\nb\n", "@@\n a\n\n-b\n+c\n"), "a\nb\na\n\nc\n");
    assert_eq!(updated("a\n\nb\n", "@@\n-a\n+A\n\n@@\n-b\n+B\n\n"), "A\n\nB\n");
}

// How lines may differ.

#[test]
fn white_space_at_the_end_of_lines_does_not_matter() {
    assert_eq!(updated("a  \nb\t\nc\n", "@@\n a\n-b\n+x\n c \n"), "a  \nx\nc\n");
}

#[test]
fn other_indentation_is_carried_over_to_new_lines() {
    assert_eq!(
        updated(
            "def f():\n\tif a:\n\t\tb()\n",
            "@@\n def f():\n   if a:\n-    b()\n+    c()\n+    if d:\n+      e()\n"
        ),
        "def f():\n\tif a:\n\t\tc()\n\t\tif d:\n\t\t\te()\n"
    );
    let wrong = update_failures("if a:\n    b()\n    c()\n", "@@\n if a:\n-  b()\n c()\n");
    assert_eq!(wrong, [(2, Why::Indentation(1))]);
}

#[test]
fn typographic_characters_do_not_matter_and_stay() {
    assert_eq!(
        updated("say “hi” – x\nend…\n", "@@\n-say \"hi\" - x\n+say \"hi\" - y\n end...\n"),
        "say “hi” – y\nend…\n"
    );
}

#[test]
fn context_without_its_space_is_understood() {
    assert_eq!(
        updated("def f():\n    a\n    b\n", "@@\ndef f():\n    a\n-    b\n+    c\n"),
        "def f():\n    a\n    c\n"
    );
}

#[test]
fn lines_that_differ_in_substance_are_not_found() {
    let wrong = update_failures("alpha = compute(1)\nbeta = 2\n", "@@\n alpha = compute(2)\n-beta = 2\n+beta = 3\n");
    let [(2, Why::NotFound(near))] = wrong.as_slice() else { panic!("{wrong:?}") };
    assert_eq!(near[0].text, "alpha = compute(1)\nbeta = 2");
}

// Line breaks.

#[test]
fn crlf_files_stay_so_whatever_the_patch_has() {
    assert_eq!(updated("a\r\nb\r\n", "@@\n a\n-b\n+x\n+y\n"), "a\r\nx\r\ny\r\n");
    assert_eq!(updated("a\nb\r\nc\n", "@@\r\n-b\r\n+x\r\n+y\r\n"), "a\nx\r\ny\r\nc\n");
    assert_eq!(updated("\u{feff}a\r\n", "@@\n-a\n+b\n"), "\u{feff}b\r\n");
}

#[test]
fn a_missing_last_line_break_stays_missing_unless_the_patch_says_so() {
    let mark = "\\ No newline at end of file\n";
    assert_eq!(updated("a\nb", "@@\n a\n-b\n+c\n"), "a\nc");
    assert_eq!(updated("a\nb", &format!("@@\n a\n-b\n{mark}+c\n")), "a\nc\n");
    assert_eq!(updated("a\nb", &format!("@@\n a\n-b\n{mark}+b\n")), "a\nb\n");
    assert_eq!(updated("a\nb\n", &format!("@@\n a\n-b\n+c\n{mark}")), "a\nc");
    assert_eq!(updated("a\n", &format!("@@\n a\n+c\n{mark}")), "a\nc");
    assert_eq!(updated("a\nb", "@@\n a\n-b\n"), "a");
}

// Lines that are only added.

#[test]
fn lines_without_context_come_after_the_hint_or_at_the_end() {
    assert_eq!(updated("a\nb\n", "@@ a\n+x\n"), "a\nx\nb\n");
    assert_eq!(updated("a\nb\n", "@@\n+x\n+y\n"), "a\nb\nx\ny\n");
    assert_eq!(updated("a\nb", "+x\n"), "a\nb\nx");
    assert_eq!(updated("", "+x\n"), "x\n");
    assert_eq!(updated("a\n", "+x\n@@\n+y\n"), "a\nx\ny\n");
    assert_eq!(update_failures("a\nb\na\n", "@@ a\n+x\n"), [(2, Why::Several(vec![2, 4]))]);
}

// Several files.

#[test]
fn every_kind_of_operation_is_planned_with_its_diff() {
    let before = files(&[("a", "1\n"), ("b", "2\n"), ("c", "3\n"), ("d", "4\n")]);
    let patch = "*** Update File: a\n-1\n+one\n*** Delete File: b\n*** Move File: c -> x/c\n*** Update File: d\n\
                 *** Move to: e\n@@\n-4\n+four\n*** Add File: n\n+new\n";
    let made = planned(&before, patch).unwrap();
    assert_eq!(before.commit(&made), files(&[("a", "one\n"), ("x/c", "3\n"), ("e", "four\n"), ("n", "new\n")]));
    let diffs: String = made.iter().map(|planned| planned.diff.as_str()).collect();
    assert_eq!(
        diffs,
        "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-2\n\
         diff --git a/c b/x/c\nrename from c\nrename to x/c\n\
         diff --git a/d b/e\nrename from d\nrename to e\n--- a/d\n+++ b/e\n@@ -1 +1 @@\n-4\n+four\n\
         --- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+new\n"
    );
}

#[test]
fn every_operation_sees_what_those_before_it_did() {
    let after = |all: &[(&str, &str)], patch: &str| {
        let before = files(all);
        before.commit(&planned(&before, patch).unwrap_or_else(|why| panic!("{why}")))
    };
    let twice = "*** Update File: a\n-1\n+one\n*** Update File: ./a\n one\n+two\n";
    assert_eq!(after(&[("a", "1\n")], twice), files(&[("a", "one\ntwo\n")]));
    let made_and_changed = "*** Add File: a\n+1\n*** Update File: a\n-1\n+2\n*** Move File: a -> b\n";
    assert_eq!(after(&[], made_and_changed), files(&[("b", "2\n")]));
    let moved_and_changed = "*** Move File: a -> b\n*** Update File: b\n-1\n+2\n*** Add File: a\n+new\n";
    assert_eq!(after(&[("a", "1\n")], moved_and_changed), files(&[("a", "new\n"), ("b", "2\n")]));
    let swapped = "*** Move File: a -> t\n*** Move File: b -> a\n*** Move File: t -> b\n";
    assert_eq!(after(&[("a", "1\n"), ("b", "2\n")], swapped), files(&[("a", "2\n"), ("b", "1\n")]));
    let replaced = "*** Delete File: b\n*** Move File: a -> b\n";
    assert_eq!(after(&[("a", "1\n"), ("b", "2\n")], replaced), files(&[("b", "1\n")]));
    let made_anew = "*** Delete File: a\n*** Add File: a\n+2\n";
    assert_eq!(after(&[("a", "1\n")], made_anew), files(&[("a", "2\n")]));
    assert_eq!(after(&[], "*** Add File: a\n+1\n*** Delete File: a\n"), files(&[]));
    let back = "*** Move File: a -> b\n*** Move File: b -> a\n";
    assert_eq!(after(&[("a", "1\n")], back), files(&[("a", "1\n")]));
}

#[test]
fn a_file_that_is_no_text_can_be_moved_and_removed() {
    let before = files(&[("image", "")]);
    assert_eq!(before.commit(&planned(&before, "*** Move File: image -> i\n").unwrap()), files(&[("i", "")]));
    assert_eq!(before.commit(&planned(&before, "*** Delete File: image\n").unwrap()), files(&[]));
    let why = failures(&before, "*** Update File: image\n+x\n");
    assert_eq!(why, [(1, Why::Unreadable("it is no text".into()))]);
}

#[test]
fn operations_that_do_not_fit_the_files_are_refused() {
    let before = files(&[("a", "1\n"), ("b", "2\n")]);
    for (patch, why) in [
        ("*** Add File: a\n+x\n", Why::Exists),
        ("*** Update File: x\n+x\n", Why::Missing),
        ("*** Delete File: x\n", Why::Missing),
        ("*** Move File: x -> y\n", Why::Missing),
        ("*** Move File: a -> b\n", Why::Taken("b".into())),
        ("*** Move File: a -> ./a\n", Why::Taken("a".into())),
        ("*** Update File: a\n*** Move to: b\n+x\n", Why::Taken("b".into())),
        ("*** Update File: a\n-1\n+1\n", Why::Unchanged),
        ("*** Delete File: secret\n", Why::Unreadable("it lies outside every grant".into())),
    ] {
        assert_eq!(failures(&before, patch), [(1, why)], "{patch}");
    }
}

#[test]
fn all_failures_are_told_together_and_nothing_is_planned() {
    let before = files(&[("a", "one\ntwo\nthree\n"), ("b", "2\n")]);
    let patch =
        "*** Update File: a\n-ona\n-two\n+x\n*** Add File: b\n+x\n*** Update File: b\n-2\n+3\n*** Delete File: c\n";
    let error = planned(&before, patch).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no file was changed\nline 2 of the patch: the context and the lines to remove were not found in a. Did you mean one of \
         these places?\n\n1|one\n2|two\n\nline 5 of the patch: b already exists; to change it use *** Update File:\n\
         line 10 of the patch: c does not exist; to make it use *** Add File:"
    );
    let many: String = (0..30).map(|n| format!("*** Delete File: x{n}\n")).collect();
    let many = planned(&before, &many).unwrap_err();
    assert_eq!((many.failures.len(), many.more), (10, 20));
    assert!(many.to_string().ends_with("and 20 more failures"));
}

#[test]
fn files_that_have_nothing_to_do_with_each_other_are_forgotten_one_by_one() {
    let names = |patch: &str| -> Vec<Vec<String>> {
        let operations = parse(patch).unwrap();
        groups(&operations)
            .iter()
            .map(|group| group.iter().map(|operation| operation.path.to_owned()).collect())
            .collect()
    };
    assert_eq!(names("*** Delete File: a\n*** Delete File: b\n*** Add File: a\n"), [vec!["a", "a"], vec!["b"]]);
    assert_eq!(
        names("*** Delete File: a\n*** Delete File: b\n*** Move File: c -> d\n*** Move File: d -> b\n"),
        [vec!["a"], vec!["b", "c", "d"]]
    );
}

/// A patch that makes one text of another: every run of changed lines is a hunk, with a line of context on both sides.
fn patch_of(old: &[String], new: &[String]) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
    let mut patch = String::from("*** Begin Patch\n*** Update File: f\n");
    for op in similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new) {
        if matches!(op, similar::DiffOp::Equal { .. }) {
            continue;
        }
        let (before, after) = (op.old_range().start, op.old_range().end);
        patch.push_str("@@\n");
        let mut push =
            |sign: char, lines: &[&str]| lines.iter().for_each(|line| patch.push_str(&format!("{sign}{line}\n")));
        push(' ', &old[before.saturating_sub(1)..before]);
        push('-', &old[op.old_range()]);
        push('+', &new[op.new_range()]);
        push(' ', &old[after..(after + 1).min(old.len())]);
    }
    patch
}

proptest! {
    #[test]
    fn a_patch_of_two_texts_makes_one_of_the_other_or_is_refused(
        old in prop::collection::vec("[a-d]{0,2}", 1..12),
        new in prop::collection::vec("[a-d]{0,2}", 1..12),
        crlf: bool,
        broken: bool,
    ) {
        // An empty last line without a break is no line.
        let broken = broken || [&old, &new].iter().any(|lines| lines.last().is_some_and(String::is_empty));
        // A file without any line break does not show which it has.
        let ending = if crlf && (broken || old.len() > 1) { "\r\n" } else { "\n" };
        let text = |lines: &[String]| lines.join(ending) + if broken { ending } else { "" };
        let before = files(&[("f", &text(&old))]);
        prop_assume!(old != new);
        match planned(&before, &patch_of(&old, &new)) {
            Ok(made) => prop_assert_eq!(&before.commit(&made).0["f"], &text(&new)),
            // Hunks may share a line of context, or fit several places: refused, never wrong.
            Err(error) => prop_assert!(
                error.failures.iter().all(|failure| matches!(failure.why, Why::Several(_) | Why::Order(_))),
                "{}", error
            ),
        }
    }

    #[test]
    fn no_patch_of_any_text_makes_it_panic(
        text in "([ab“\u{a0} \t]{0,3}\r?\n?){0,8}",
        lines in prop::collection::vec("([-+ ]?[ab\"“ \t]{0,3}|@@ ?a?|\\*\\*\\* End of File|\\\\ No newline)", 1..10),
    ) {
        let patch = format!("*** Update File: f\n{}", lines.join("\n"));
        if let Ok(operations) = parse(&patch) {
            let before = files(&[("f", &text)]);
            if let Ok(made) = plan(&operations, &mut before.clone()) {
                let _ = before.commit(&made);
            }
        }
    }
}
