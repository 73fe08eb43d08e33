//! What the audit keeps of a call's arguments: the command, the URL or the path in them, in one line, with secrets masked.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::{capability::fs::mask, text::one_line};

/// Bytes of a summary. A usual command or path fits, and a line of the audit stays a line on a screen.
const SUMMARY_BYTES: usize = 200;

/// Bytes of a text that are looked at. What comes later would not be shown.
const LOOKED_AT: usize = 4 << 10;

/// Names of arguments that say what a call does, the most telling first. Others may hold anything and are not kept.
const COMMANDS: [&str; 2] = ["command", "cmd"];
const URLS: [&str; 2] = ["url", "uri"];
const PATHS: [&str; 5] = ["path", "file_path", "file", "directory", "workdir"];

/// Parts of the names of options whose value is a secret.
const SECRET_OPTIONS: [&str; 7] = ["password", "passwd", "passphrase", "token", "secret", "key", "credential"];

/// Options whose value is a name and a secret with a colon between.
const USER_OPTIONS: [&str; 2] = ["-u", "--user"];

/// What stands in a secret's place.
const MASK: &str = "***";

/// The summary of arguments, which are a JSON object. Nothing where they have none of these members.
pub(super) fn summary(arguments: &str) -> Option<String> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(arguments).ok()?;
    let text = |names: &[&str]| {
        let mut found = names.iter().filter_map(|name| members.get(*name));
        found.find_map(|raw| serde_json::from_str::<String>(raw.get()).ok())
    };
    let shown = text(&COMMANDS)
        .map(|command| masked_options(&cut(&command)))
        .or_else(|| text(&URLS).map(|url| without_query(&cut(&url))))
        .or_else(|| text(&PATHS).map(|path| cut(&path)))?;
    let mut bytes = shown.into_bytes();
    mask(&mut bytes);
    // Masking keeps text valid.
    Some(one_line(&String::from_utf8(bytes).unwrap_or_default(), SUMMARY_BYTES)).filter(|line| !line.is_empty())
}

fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(LOOKED_AT)].to_owned()
}

/// An address without what follows `?` or `#`, and without a user's name and password: tokens stand there.
fn without_query(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let (address, rest) = url.split_at(end);
    let address = match address.split_once("://") {
        Some((scheme, after)) => {
            let (place, path) = after.split_at(after.find('/').unwrap_or(after.len()));
            let host = place.rsplit_once('@').map_or(place, |(_, host)| host);
            format!("{scheme}://{host}{path}")
        }
        None => address.to_owned(),
    };
    if rest.is_empty() { address } else { format!("{address}?…") }
}

/// A command with the values of options masked that are secrets by their name: `--password x`, `--token=x`, `-u ada:x`.
fn masked_options(command: &str) -> String {
    let mut shown: Vec<String> = Vec::new();
    let mut before: Option<String> = None;
    for word in command.split_whitespace() {
        let option = word.split('=').next().unwrap_or_default().to_ascii_lowercase();
        let is_secret =
            |option: &str| option.starts_with('-') && SECRET_OPTIONS.iter().any(|part| option.contains(part));
        shown.push(match (&before, word.split_once('=')) {
            (Some(option), _) if is_secret(option) && !word.starts_with('-') => MASK.to_owned(),
            (Some(option), _) if USER_OPTIONS.contains(&option.as_str()) && word.contains(':') => {
                format!("{}:{MASK}", word.split(':').next().unwrap_or_default())
            }
            (_, Some((name, _))) if is_secret(&option) => format!("{name}={MASK}"),
            _ => word.to_owned(),
        });
        before = (!word.contains('=')).then_some(option);
    }
    shown.join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_summary_is_the_command_the_url_or_the_path() {
        for (arguments, expected) in [
            (json!({"command": "git push\n origin", "workdir": "/p"}), Some("git push origin")),
            (json!({"url": "https://ada:pw@example.org/a?token=x#y", "path": "/p"}), Some("https://example.org/a?…")),
            (json!({"path": "src/\u{1b}[2Jmain.rs", "content": "secret"}), Some("src/[2Jmain.rs")),
            (json!({"password": "x", "query": "y"}), None),
            (json!({"command": ["rm"]}), None),
            (json!({"path": ""}), None),
        ] {
            assert_eq!(summary(&arguments.to_string()).as_deref(), expected, "{arguments}");
        }
        assert_eq!(summary("[1]"), None);
    }

    #[test]
    fn secrets_in_a_command_are_masked() {
        for (command, expected) in [
            ("mysqladmin --password hunter2 status", "mysqladmin --password *** status"),
            ("vault login --token=hunter2", "vault login --token=***"),
            ("curl -u ada:hunter2 http://x/", "curl -u ada:*** http://x/"),
            ("ssh -i key host", "ssh -i key host"),
        ] {
            assert_eq!(summary(&json!({"command": command}).to_string()).as_deref(), Some(expected));
        }
        let github = summary(&json!({"command": "echo ghp_0123456789abcdefghijABCDEFGHIJ012345"}).to_string()).unwrap();
        assert!(!github.contains("ghp_0123456789abcdef"), "{github}");
    }

    proptest! {
        #[test]
        fn a_summary_is_one_bounded_line_and_keeps_no_value_of_a_secret_option(
            words in "\\PC{0,300}",
            name in "(password|api-key|token)",
            value in "[a-zA-Z0-9]{12,20}",
        ) {
            let command = format!("run --{name} {value} {words}");
            let line = summary(&json!({"command": command}).to_string()).unwrap();
            prop_assert!(line.len() <= SUMMARY_BYTES && !line.contains(char::is_control));
            prop_assume!(!words.contains(&value));
            prop_assert!(!line.contains(&value), "{}", line);
        }
    }
}
