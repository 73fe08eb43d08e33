//! Globs that files must fit.

use std::path::Path;

use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};

use super::records::Problem;

/// Globs of one call. A person gives a few; a list of names is not what they are for.
const GLOBS: usize = 100;

/// Bytes of a glob. No path that it could fit is longer.
const GLOB_BYTES: usize = 4_096;

/// Globs in two sets: one of the first must fit, if there are any, and none of the second may.
pub(super) struct Globs {
    wanted: Option<GlobSet>,
    unwanted: Option<GlobSet>,
}

impl Globs {
    pub(super) fn new(globs: &[String]) -> Result<Self, Problem> {
        if globs.len() > GLOBS {
            return Err(Problem::Invalid(format!("{} globs are too many; give {GLOBS} at most", globs.len())));
        }
        let (unwanted, wanted): (Vec<&String>, Vec<_>) = globs.iter().partition(|glob| glob.starts_with('!'));
        Ok(Self { wanted: set(&wanted)?, unwanted: set(&unwanted)? })
    }

    /// Whether a file fits, by its path below the start.
    pub(super) fn fit(&self, path: &Path) -> bool {
        if self.wanted.is_none() && self.unwanted.is_none() {
            return true;
        }
        let path = Candidate::new(path);
        self.wanted.as_ref().is_none_or(|set| set.is_match_candidate(&path))
            && !self.unwanted.as_ref().is_some_and(|set| set.is_match_candidate(&path))
    }

    /// Whether nothing in a folder is wanted because a glob with `!` names the folder.
    pub(super) fn leave_out(&self, folder: &Path) -> bool {
        self.unwanted.as_ref().is_some_and(|set| set.is_match(folder))
    }
}

fn set(globs: &[&String]) -> Result<Option<GlobSet>, Problem> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for shown in globs {
        let invalid = |why: String| Problem::Invalid(format!("the glob {shown:?} can't be used: {why}"));
        let glob = shown.strip_prefix('!').unwrap_or(shown);
        if glob.len() > GLOB_BYTES {
            let start: String = glob.chars().take(40).collect();
            return Err(Problem::Invalid(format!(
                "the glob that starts with {start:?} has more than {GLOB_BYTES} bytes"
            )));
        }
        if glob.is_empty() {
            return Err(invalid("it is empty".into()));
        }
        let glob = GlobBuilder::new(&anchored(glob)).literal_separator(true).backslash_escape(true).build();
        set.add(glob.map_err(|why| invalid(why.kind().to_string()))?);
    }
    set.build().map(Some).map_err(|why| Problem::Invalid(format!("the globs can't be used together: {}", why.kind())))
}

/// The glob for whole paths. Without a slash it is for names, in any folder; one at the end stands for all in such folders.
fn anchored(glob: &str) -> String {
    let (body, tail) = match glob.strip_suffix('/') {
        Some(folder) => (folder, "/**"),
        None => (glob, ""),
    };
    match body.strip_prefix("./").or(body.strip_prefix('/')) {
        Some(anchored) => format!("{anchored}{tail}"),
        None if body.contains('/') => format!("{body}{tail}"),
        None => format!("**/{body}{tail}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn globs(globs: &[&str]) -> Result<Globs, Problem> {
        Globs::new(&globs.iter().map(|glob| glob.to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn globs_fit_names_or_whole_paths() {
        for (glob, fitting, others) in [
            ("*.rs", &["a.rs", "x/y/a.rs", ".rs"][..], &["a.RS", "a.rs.bak", "rs"][..]),
            ("src/*.rs", &["src/a.rs"], &["a.rs", "src/x/a.rs", "x/src/a.rs"]),
            ("/a.rs", &["a.rs"], &["x/a.rs"]),
            ("./a.rs", &["a.rs"], &["x/a.rs"]),
            ("src/**/*.rs", &["src/a.rs", "src/x/y/a.rs"], &["x/src/a.rs"]),
            ("**/src/*.rs", &["src/a.rs", "x/src/a.rs"], &["src/x/a.rs"]),
            ("*.{rs,toml}", &["a.rs", "x/b.toml"], &["a.md"]),
            ("[ab]?.c", &["ax.c", "x/by.c"], &["cx.c", "a.c"]),
            ("src/", &["src/a", "x/src/y/a"], &["src", "srcs/a"]),
            ("a/src/", &["a/src/x"], &["x/a/src/x"]),
            (r"\!x", &["!x"], &["x", "y"]),
            (r"\*", &["*", "x/*"], &["a"]),
            ("!*.md", &["a.rs", "x"], &["a.md", "x/a.md"]),
            ("!x/*.md", &["a.md", "y/x/a.md"], &["x/a.md"]),
        ] {
            let globs = globs(&[glob]).unwrap();
            fitting.iter().for_each(|path| assert!(globs.fit(Path::new(path)), "{glob} fits {path}"));
            others.iter().for_each(|path| assert!(!globs.fit(Path::new(path)), "{glob} does not fit {path}"));
        }
    }

    #[test]
    fn one_wanted_glob_must_fit_and_no_unwanted_one() {
        let globs = globs(&["!test*", "*.rs", "*.py"]).unwrap();
        for (path, fits) in [("a.rs", true), ("a.py", true), ("test.rs", false), ("a.md", false)] {
            assert_eq!(globs.fit(Path::new(path)), fits, "{path}");
        }
    }

    #[test]
    fn only_an_unwanted_folder_is_left_out() {
        let globs = globs(&["*.rs", "!target", "!a/b"]).unwrap();
        for (folder, left_out) in
            [("target", true), ("x/target", true), ("a/b", true), ("x/a/b", false), ("src", false)]
        {
            assert_eq!(globs.leave_out(Path::new(folder)), left_out, "{folder}");
        }
    }

    #[test]
    fn a_bad_glob_is_named() {
        for glob in ["a[", "{a", "[z-a]", "!", ""] {
            match globs(&["*.rs", glob]) {
                Err(Problem::Invalid(text)) => assert!(text.contains(&format!("{glob:?}")), "{text}"),
                _ => panic!("{glob} was accepted"),
            }
        }
        assert!(globs(&vec!["*"; GLOBS + 1]).is_err());
        assert!(globs(&[&"x".repeat(GLOB_BYTES + 1)]).is_err());
    }

    proptest! {
        #[test]
        fn no_glob_makes_it_panic(glob in "[a-c*?!{},/\\[\\]\\\\.^-]{0,20}", path in "[a-c/.]{0,12}") {
            if let Ok(globs) = globs(&[&glob]) {
                globs.fit(Path::new(&path));
                globs.leave_out(Path::new(&path));
            }
        }
    }
}
