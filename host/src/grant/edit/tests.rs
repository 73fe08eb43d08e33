use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::grant::Secrets;

/// A file of a test's own, beside folders `a` to `d`.
struct Bench {
    dir: TempDir,
    file: GrantFile,
}

impl Bench {
    fn new(text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c", "d"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        let file = GrantFile { path: dir.path().join("hermes.toml"), named: false, workspace: dir.path().into() };
        fs::write(&file.path, text).unwrap();
        Self { dir, file }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    fn folder(&self, name: &str, access: Access) -> FolderGrant {
        FolderGrant::new(self.at(name), access)
    }

    fn unwanted(&self, name: &str, access: Access) -> Unwanted {
        Unwanted { written: self.at(name), place: self.at(name), access }
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.file.path).unwrap().replace(self.at("").to_str().unwrap(), "/x/")
    }

    fn folders(&self) -> Vec<FolderGrant> {
        self.file.read().unwrap().tool("w").map(|grant| grant.folders().to_vec()).unwrap_or_default()
    }
}

fn digest() -> Digest {
    Digest::of(b"bytes")
}

#[test]
fn only_the_grant_itself_changes() {
    let text = "# my grants\n\ncontext_window   = 1000 # small\n\n[tools.other]  # mine\nlimits = {memory='1MiB'}\n\n# a guard\n[hooks.h]\non_failure='allow'\n# the end\n";
    let bench = Bench::new(text);
    bench.file.grant("w", &digest(), &[bench.folder("a", Access::Read)]).unwrap();
    let section =
        format!("[tools.w]\ndigest = \"{}\"\nfs = [\n    {{ path = \"/x/a\", access = \"read\" }},\n]\n", digest());
    assert_eq!(bench.text(), text.replace("\n# a guard", &format!("\n{section}\n# a guard")));
    let mut open = bench.folder("b", Access::Write);
    open.secrets = Secrets::Shown;
    bench.file.grant("w", &digest(), &[bench.folder("a", Access::Write), open]).unwrap();
    let section = section
        .replace("\"read\" },", "\"write\" },\n    { path = \"/x/b\", access = \"write\", secrets = \"show\" },");
    assert_eq!(bench.text(), text.replace("\n# a guard", &format!("\n{section}\n# a guard")));
    bench.file.revoke("w", &[]).unwrap();
    assert_eq!(bench.text(), text);
}

#[test]
fn lines_that_end_as_on_windows_still_do() {
    let text = "# head\r\n\r\n# of o\r\n[tools.o] # x\r\nlimits = { fuel = 1 }\r\n";
    let bench = Bench::new(text);
    bench.file.grant("w", &digest(), &[bench.folder("a", Access::Read)]).unwrap();
    assert!(bench.text().ends_with("access = \"read\" },\r\n]\r\n"), "{}", bench.text());
    bench.file.revoke("w", &[]).unwrap();
    assert_eq!(bench.text(), text);
}

#[test]
fn the_head_of_a_file_stays_whatever_comes_and_goes() {
    for head in ["", "# head\n", "# head\n\n", "# head\n# more\n"] {
        let bench = Bench::new(head);
        bench.file.grant("w", &digest(), &[bench.folder("a", Access::Read)]).unwrap();
        assert!(bench.text().starts_with(head), "{head:?}: {}", bench.text());
        bench.file.revoke("w", &[]).unwrap();
        assert_eq!(bench.text().trim_end(), head.trim_end());
    }
}

#[test]
fn comments_above_a_section_go_with_it_unless_an_empty_line_parts_them() {
    let section = |name: &str, rest: &str| format!("[tools.{name}]\ndigest = \"{}\"\n{rest}", digest());
    let fs = "fs = [{ path = \"a\", access = \"read\" }]\n";
    for (before, after) in [
        (
            format!("# head\n\n# of w\n{}\n# of o\n{}", section("w", fs), section("o", "")),
            format!("# head\n\n# of o\n{}", section("o", "")),
        ),
        (format!("{}\n# aside\n\n{}", section("o", ""), section("w", fs)), format!("{}\n# aside\n", section("o", ""))),
        (
            "# head\n\n[tools.w]\n[[tools.w.fs]]\npath = \"a\"\naccess = \"read\"\n[hooks.h]\n".into(),
            "# head\n\n[hooks.h]\n".into(),
        ),
    ] {
        let bench = Bench::new(&before);
        bench.file.revoke("w", &[]).unwrap();
        assert_eq!(bench.text(), after, "{before}");
    }
}

#[test]
fn a_place_that_is_granted_already_is_granted_as_it_is_named_now() {
    let rows = r#"{ path = "a", access = "write", secrets = "show" }, { path = "b/../a", access = "write" }"#;
    let bench = Bench::new(&format!("[tools.w]\ndigest = \"{}\"\nfs = [{rows}]\n", digest()));
    bench.file.grant("w", &digest(), &[bench.folder("a", Access::Read)]).unwrap();
    assert_eq!(bench.folders(), [bench.folder("a", Access::Read)]);
}

#[test]
fn other_bytes_are_given_what_is_named_and_nothing_else() {
    let bench = Bench::new("");
    let folders = [bench.folder("a", Access::Write), bench.folder("b", Access::Read)];
    bench.file.grant("w", &digest(), &folders).unwrap();
    let other = Digest::of(b"other");
    let granted = bench.file.grant("w", &other, &[bench.folder("b", Access::Read)]).unwrap();
    assert_eq!(granted.left_out, [bench.folder("a", Access::Write)]);
    assert_eq!((granted.grant.digest, bench.folders()), (Some(other), vec![bench.folder("b", Access::Read)]));
    // Without a name, it is all that the others had.
    let granted = bench.file.grant("w", &digest(), &[]).unwrap();
    assert_eq!((granted.grant.digest, bench.folders().len()), (Some(digest()), 1));
    let none = bench.file.grant("nobody", &other, &[]).unwrap_err().to_string();
    assert!(none.contains("nobody has no grant") && none.contains("--read"), "{none}");
}

#[test]
fn a_grant_that_was_for_a_name_is_bound_to_bytes() {
    let bench = Bench::new("[tools]\nw = { limits = { fuel = 1 } } # keep\n");
    bench.file.grant("w", &digest(), &[bench.folder("a", Access::Read)]).unwrap();
    let expected = format!(
        "[tools]\nw = {{ limits = {{ fuel = 1 }}, digest = \"{}\", fs = [\n    {{ path = \"/x/a\", access = \"read\" }},\n] }} # keep\n",
        digest()
    );
    assert_eq!(bench.text(), expected);
    bench.file.revoke("w", &[]).unwrap();
    assert!(bench.text().contains("fuel = 1"));
}

#[test]
fn what_is_named_goes_or_nothing_does() {
    let bench = Bench::new("");
    let folders = [bench.folder("a", Access::Read), bench.folder("b", Access::Write), bench.folder("c", Access::Write)];
    bench.file.grant("w", &digest(), &folders).unwrap();
    let before = bench.text();
    for unwanted in [
        vec![bench.unwanted("d", Access::Read)],
        vec![bench.unwanted("a", Access::Write)],
        vec![bench.unwanted("b", Access::Read), bench.unwanted("d", Access::Read)],
    ] {
        let why = bench.file.revoke("w", &unwanted).unwrap_err();
        assert!(matches!(&why, EditError::NothingToRevoke(text) if text.contains("nothing was changed")), "{why}");
        assert_eq!(bench.text(), before);
    }
    // A folder that is gone can be named still.
    fs::remove_dir(bench.at("c")).unwrap();
    let unwanted = [bench.unwanted("b", Access::Read), bench.unwanted("c", Access::Write)];
    let revoked = bench.file.revoke("w", &unwanted).unwrap();
    assert_eq!((revoked.removed, bench.folders()), (folders[1..].to_vec(), folders[..1].to_vec()));
    let why = bench.file.revoke("x", &[]).unwrap_err().to_string();
    assert!(why.contains("x is granted nothing") && why.contains("those who have some: w"), "{why}");
}

#[test]
fn nothing_is_made_for_a_revocation() {
    let bench = Bench::new("");
    fs::remove_file(&bench.file.path).unwrap();
    assert!(matches!(bench.file.revoke("w", &[]), Err(EditError::NothingToRevoke(_))));
    assert_eq!(fs::read_dir(bench.dir.path()).unwrap().count(), 4);
}

#[test]
fn a_file_that_is_not_understood_is_not_touched() {
    for text in ["[tools.w]\nfs = [\n", "[tools.w]\nfss = []\n", "tools = 1\n", "[tools.w]\nfs = [{ path = \"a\" }]\n"]
    {
        let bench = Bench::new(text);
        let why = bench.file.grant("w", &digest(), &[bench.folder("a", Access::Read)]).unwrap_err().to_string();
        assert!(why.contains("line ") && why.contains("column "), "{why}");
        assert_eq!(bench.text(), text);
    }
}

#[test]
fn grants_at_the_same_time_lose_nothing() {
    let bench = Bench::new("# head\n");
    let (names, digest) = (["a", "b", "c", "d"], digest());
    std::thread::scope(|scope| {
        for component in ["v", "w", "x"] {
            for name in names {
                let (bench, digest) = (&bench, &digest);
                scope.spawn(move || bench.file.grant(component, digest, &[bench.folder(name, Access::Read)]).unwrap());
            }
        }
    });
    let config = bench.file.read().unwrap();
    for component in ["v", "w", "x"] {
        assert_eq!(config.tool(component).unwrap().folders().len(), 4);
    }
    assert!(bench.text().starts_with("# head\n"));
}

/// The ways in which an operator may have laid the section out. `@` stands for the digest, `!` for a comment.
const LAYOUTS: [&str; 10] = [
    "",
    "[tools.w]\ndigest = \"@\"\n",
    "! of w\n[tools.w] !\ndigest = \"@\" !\nfs = [] !\n",
    "[tools.w]\nfs = [{ path = \"a\", access = \"read\" }] !\ndigest = \"@\"\n",
    "[tools.w]\ndigest = \"@\"\nfs = [{ path = \"a\", access = \"read\" }, { path = \"b\", access = \"write\" }]\n",
    "[tools.w]\ndigest = \"@\"\nfs = [ !\n  ! x\n  { path = \"a\", access = \"read\" }, !\n  { path = \"b\", access = \"write\" } !\n  ! y\n]\n",
    "[tools.w]\ndigest = \"@\"\n\n[[tools.w.fs]] !\npath = \"a\" !\naccess = \"read\"\n! next\n[[tools.w.fs]]\naccess = \"write\"\npath = \"b\"\n",
    "[tools]\nw = { digest = \"@\", fs = [{ path = \"a\", access = \"read\" }] } !\n",
    "[tools]\nw.digest = \"@\"\nw.fs = [{ path = \"a\", access = \"read\", secrets = \"show\" }] !\n",
    "[tools.w.limits] !\nfuel = 7\n[tools.w]\ndigest = \"@\"\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn in_every_layout_the_file_says_what_was_done_and_the_rest_stays(
        layout in 0..LAYOUTS.len(),
        before in prop::sample::select(vec!["", "# head\n\n", "# head\ncontext_window = 9\n", "[hooks.h]\non_failure = \"allow\"\n"]),
        after in prop::sample::select(vec!["", "\n# tail\n", "[tools.z] # z\nlimits = { fuel = 1 }\n", "\n# k\n[hooks.k]\n"]),
        steps in prop::collection::vec((any::<bool>(), 0..4_usize, any::<bool>()), 1..6),
    ) {
        let layout = LAYOUTS[layout].replace('@', &digest().to_string()).replace('!', "# note");
        let bench = Bench::new(&format!("{before}{layout}{after}"));
        let others = |config: &Config| {
            let tools: Vec<_> = config.tools().filter(|(name, _)| *name != "w").map(|(_, grant)| grant.clone()).collect();
            let hooks: Vec<_> = config.hooks().map(|(name, hook)| (name.clone(), *hook)).collect();
            (tools, hooks, config.context_window)
        };
        let untouched = others(&bench.file.read().unwrap());
        let places = |rows: &[FolderGrant]| -> Vec<(PathBuf, Access)> {
            let mut places: Vec<_> = rows.iter().map(|row| (row.located(&bench.at("")).unwrap(), row.access)).collect();
            places.sort_by(|one, other| one.0.cmp(&other.0));
            places
        };
        let mut expected = places(&bench.folders());
        for (grants, at, writes) in steps {
            let (name, access) = (["a", "b", "c", "d"][at], if writes { Access::Write } else { Access::Read });
            let comments = bench.text().matches('#').count();
            if grants {
                bench.file.grant("w", &digest(), &[bench.folder(name, access)]).unwrap();
                expected.retain(|(place, _)| *place != bench.at(name));
                expected.push((bench.at(name), access));
                expected.sort_by(|one, other| one.0.cmp(&other.0));
                prop_assert_eq!(bench.text().matches('#').count(), comments);
            } else {
                let is_there = expected.iter().any(|(place, had)| *place == bench.at(name) && (!writes || *had == Access::Write));
                prop_assert_eq!(bench.file.revoke("w", &[bench.unwanted(name, access)]).is_ok(), is_there);
                expected.retain(|(place, _)| !is_there || *place != bench.at(name));
            }
            prop_assert_eq!(&places(&bench.folders()), &expected);
            prop_assert_eq!(&others(&bench.file.read().unwrap()), &untouched);
            for mark in ["# head", "# tail", "# z", "# k"] {
                prop_assert!(!before.contains(mark) && !after.contains(mark) || bench.text().contains(mark), "{}", mark);
            }
        }
    }

    #[test]
    fn a_grant_and_its_revocation_leave_the_same_behind(
        layout in prop::sample::select(vec!["", "# head\n\n[hooks.h]\non_failure = \"allow\"\n", "[tools.w]\ndigest = \"@\"\nlimits = { fuel = 3 }\n"]),
        names in prop::collection::btree_set(prop::sample::select(vec!["a", "b", "c", "d"]), 1..4),
    ) {
        let text = layout.replace('@', &digest().to_string());
        let bench = Bench::new(&text);
        let folders: Vec<FolderGrant> = names.iter().map(|name| bench.folder(name, Access::Write)).collect();
        let before = bench.file.read().unwrap();
        bench.file.grant("w", &digest(), &folders).unwrap();
        prop_assert_eq!(bench.folders(), folders);
        bench.file.revoke("w", &[]).unwrap();
        prop_assert_eq!(bench.file.read().unwrap(), before);
        prop_assert_eq!(bench.text(), text);
    }
}
