//! Whether a text is what its file's name promises: JSON, YAML or TOML that parses.

mod language;
mod parse;

use std::fmt;

use hermes_tool::output;

use self::language::Language;

/// Bytes of YAML or TOML that are parsed. A table of TOML takes twenty times its text of a call's memory, and ten times as much
/// YAML most of its fuel. JSON costs neither.
const MAX_BYTES: usize = 1024 * 1024;

/// What was looked at, in the answer of a tool that wrote.
#[output]
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lint {
    status: Status,
    /// What it was parsed as.
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    /// Why it was not looked at, or what is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

#[output]
#[derive(Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Skipped,
    /// It does not parse, and did not before.
    Error,
}

/// Where a text stops being what it should be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    language: &'static str,
    /// Both count from 1.
    line: usize,
    column: usize,
    what: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { language, line, column, what } = self;
        write!(f, "not valid {language}, line {line}, column {column}: {what}")
    }
}

/// Parses the text as what the path's name says.
pub(crate) fn check(path: &str, text: &str) -> Result<Lint, Mistake> {
    let Some(language) = Language::of(path) else {
        return Ok(skipped("only JSON, YAML and TOML are parsed"));
    };
    if text.len() > MAX_BYTES && matches!(language, Language::Yaml | Language::Toml) {
        return Ok(skipped("it is too large to be parsed"));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = match language {
        Language::Json | Language::Commented => parse::json(text),
        Language::Yaml => parse::yaml(text),
        Language::Toml => parse::toml(text),
    };
    match parsed {
        Ok(()) => Ok(Lint { status: Status::Ok, language: Some(language.name().into()), message: None }),
        Err(_) if language == Language::Commented => Ok(skipped("this file may hold comments, which are not parsed")),
        Err(_) if language == Language::Yaml && is_template(text) => {
            Ok(skipped("this looks like a template that becomes YAML"))
        }
        Err((line, column, what)) => Err(Mistake { language: language.name(), line, column, what }),
    }
}

/// Whether files of this name are parsed at all.
pub(crate) fn concerns(path: &str) -> bool {
    Language::of(path).is_some()
}

/// Parses the text that takes the place of another. A file that did not parse before may be mended in several steps.
pub(crate) fn check_change(path: &str, before: &str, after: &str) -> Result<Lint, Mistake> {
    check(path, after).or_else(|mistake| match check(path, before) {
        Ok(_) => Err(mistake),
        Err(_) => Ok(Lint {
            status: Status::Error,
            language: None,
            message: Some(format!("{mistake}; it was not before either")),
        }),
    })
}

impl Lint {
    /// Of several files: what is wrong, or else what was parsed, or else why nothing was.
    pub(crate) fn of_all(lints: impl IntoIterator<Item = Self>) -> Self {
        let rank = |lint: &Self| match lint.status {
            Status::Error => 0,
            Status::Ok => 1,
            Status::Skipped => 2,
        };
        lints.into_iter().min_by_key(rank).unwrap_or_else(|| skipped("no file has new content"))
    }
}

fn skipped(why: &str) -> Lint {
    Lint { status: Status::Skipped, language: None, message: Some(why.into()) }
}

/// Charts and playbooks are kept in files that are called YAML, and are none until they are filled in.
fn is_template(text: &str) -> bool {
    [("{{", "}}"), ("{%", "%}")].iter().any(|(open, close)| text.contains(open) && text.contains(close))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrong(path: &str, text: &str) -> String {
        check(path, text).unwrap_err().to_string()
    }

    fn status(path: &str, text: &str) -> Status {
        check(path, text).unwrap().status
    }

    #[test]
    fn mistakes_have_their_place() {
        assert_eq!(wrong("a.json", "[\n  1,\n  é]"), "not valid JSON, line 3, column 3: expected value");
        assert_eq!(wrong("a.toml", "a = 1\nb = é\n").split(':').next(), Some("not valid TOML, line 2, column 5"));
        assert_eq!(wrong("a.toml", "a = 1\na = 2\n"), "not valid TOML, line 2, column 1: duplicate key");
        assert!(wrong("a.yaml", "a: [1, 2\nb: 3\n").starts_with("not valid YAML, line 2, column "));
        assert!(wrong("a.yml", "a: b: c\n").starts_with("not valid YAML, line 1, column "));
        assert!(wrong("a.ipynb", "").starts_with("not valid JSON, line 1, column 0: EOF"));
    }

    #[test]
    fn what_parses_is_fine() {
        assert_eq!(status("a.json", "\u{feff}{\"a\": [1, 2.5e3, null]}"), Status::Ok);
        assert_eq!(status("Cargo.TOML", "[a]\nb = 1979-05-27\n"), Status::Ok);
        assert_eq!(status("a.yaml", "a: 1\n---\nb: 2\n...\n"), Status::Ok, "several documents");
        assert_eq!(status("a.yml", "a: !Ref b\nc: !Sub ['x', {}]\n"), Status::Ok, "tags of its own");
        assert_eq!(status("a.yml", "a: &x {b: 1}\nc: *x\n"), Status::Ok, "anchors");
        assert_eq!(status("a.yml", ""), Status::Ok);
    }

    #[test]
    fn deep_json_does_not_end_the_call() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(status("a.json", &deep), Status::Ok);
    }

    #[test]
    fn large_files_are_parsed_where_that_is_cheap() {
        let broken = "[".repeat(MAX_BYTES + 1);
        assert_eq!(status("a.toml", &broken), Status::Skipped);
        assert_eq!(status("a.yaml", &broken), Status::Skipped);
        assert!(check("a.json", &broken).is_err());
    }

    #[test]
    fn comments_are_tolerated_where_they_are_usual() {
        for path in ["tsconfig.json", "web/tsconfig.build.json", ".vscode/settings.json", "a.jsonc", ".eslintrc"] {
            assert_eq!(status(path, "{ // why\n }"), Status::Skipped, "{path}");
        }
        assert_eq!(status("tsconfig.json", "{}"), Status::Ok);
        assert!(check("vscode/settings.json", "{ // why\n }").is_err());
    }

    #[test]
    fn templates_are_not_yaml_yet() {
        assert_eq!(status("templates/a.yaml", "{{- if .Values.x }}\na: 1\n{{- end }}\n"), Status::Skipped);
        assert_eq!(status("a.yaml", "a: \"{{ b }}\"\n"), Status::Ok);
    }

    #[test]
    fn a_change_may_not_break_what_parsed() {
        assert_eq!(check_change("a.json", "{}", "[]").unwrap().status, Status::Ok);
        assert_eq!(check_change("a.json", "{", "[]").unwrap().status, Status::Ok);
        assert!(check_change("a.json", "{}", "[").is_err());
        let lint = check_change("a.json", "{", "[").unwrap();
        assert_eq!(lint.status, Status::Error);
        assert!(lint.message.unwrap().ends_with("; it was not before either"));
    }

    #[test]
    fn the_worst_of_several_files_is_told() {
        let of = |files: &[(&str, &str)]| {
            Lint::of_all(files.iter().map(|(path, text)| check_change(path, "{", text).unwrap())).status
        };
        assert_eq!(of(&[("a.py", ""), ("a.json", "{}")]), Status::Ok);
        assert_eq!(of(&[("a.json", "{}"), ("b.json", "{")]), Status::Error);
        assert_eq!(of(&[]), Status::Skipped);
    }

    #[test]
    fn other_files_are_not_looked_at() {
        for path in ["a.py", "json", "a.json5", "a.jsonl", "dir.json/a.txt"] {
            assert_eq!(status(path, "{"), Status::Skipped, "{path}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[-\\[\\]{}:,\"'|>&*!%#@`a1.= \t\n\u{feff}é?~]{0,60}") {
            for path in ["a.json", "a.yaml", "a.toml"] {
                let _ = check(path, &text);
            }
        }
    }
}
