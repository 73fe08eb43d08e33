//! One decision that outlives its question, as the configuration writes it.
//!
//! ```toml
//! [[approval.allow]]
//! command   = "git push --force origin topic"
//! directory = "/home/ada/project"
//! component = "terminal"           # without it: any
//! exports   = "blake3:51ab…"       # without it: where the task has exported nothing
//!
//! [[approval.allow]]
//! category = "git"
//!
//! [[approval.allow]]
//! tool      = "write_file"
//! arguments = "blake3:9f2c…"
//! ```

use serde::{Deserialize, Serialize};

use crate::text::is_hidden;

use super::{
    question::{Asker, CallExtent, Subject},
    shell::Category,
};

/// Bytes of a command line that is shown to be pasted: some lines of a terminal.
const ALLOW_BYTES: usize = 600;

/// A text as one word of a shell.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Something that is allowed without asking again. Without a component it holds for all; what the host itself writes always names
/// the component that asked, so that no other profits from a decision about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum Remembered {
    /// One exact command in one directory. One more blank or another directory is another command.
    Command {
        /// Its text, byte by byte.
        command: String,
        /// Where: the same words mean something else elsewhere.
        directory: String,
        /// The digest of what the task had exported and aliased, nothing if that was nothing: `rm -rf $X`, approved for one X,
        /// must not pass for another, and `kubectl delete` obeys variables that its text does not name.
        exports: Option<String>,
        /// For whom.
        component: Option<String>,
    },
    /// Commands that have nothing against them but this and other remembered categories.
    Category {
        /// Never a grave one.
        category: Category,
        /// For whom.
        component: Option<String>,
    },
    /// Calls of a tool.
    Call {
        /// Its name.
        tool: String,
        /// The digest of the exact arguments, or nothing for every call.
        arguments: Option<String>,
        /// Of which component.
        component: Option<String>,
    },
}

/// What is written can't be remembered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRemembered {
    /// None or several of them.
    #[error("an entry of approval.allow names exactly one of command, category or tool")]
    NotOne,
    /// A command without its place.
    #[error("command {0:?} needs the directory in which it may run: directory = \"/…\", absolute")]
    NoDirectory(String),
    /// A key beside something it says nothing about.
    #[error("{key} says nothing beside {beside}; remove it")]
    Beside {
        /// The key.
        key: &'static str,
        /// What it stands beside.
        beside: &'static str,
    },
    /// A category that is not approved as a whole.
    #[error("category {0} can't be allowed as a whole; allow its exact commands with command and directory")]
    Grave(Category),
    /// A digest that is none.
    #[error("{key} {text:?} is no digest; it looks like \"blake3:\" and 64 hex digits")]
    NoDigest {
        /// The key.
        key: &'static str,
        /// What it says.
        text: String,
    },
    /// An empty name.
    #[error("{0} is empty")]
    Empty(&'static str),
}

/// How it stands in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exports: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<Category>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    component: Option<String>,
}

impl TryFrom<Written> for Remembered {
    type Error = InvalidRemembered;

    fn try_from(written: Written) -> Result<Self, InvalidRemembered> {
        let Written { command, directory, exports, category, tool, arguments, component } = written;
        let beside = |key, beside| Err(InvalidRemembered::Beside { key, beside });
        if component.as_deref() == Some("") {
            return Err(InvalidRemembered::Empty("component"));
        }
        for (key, digest) in [("exports", &exports), ("arguments", &arguments)] {
            if let Some(text) = digest.clone().filter(|text| !is_digest(text)) {
                return Err(InvalidRemembered::NoDigest { key, text });
            }
        }
        match (command, category, tool) {
            (Some(_), None, None) if arguments.is_some() => beside("arguments", "command"),
            (Some(command), None, None) => match directory {
                Some(directory) if directory.starts_with('/') => {
                    Ok(Self::Command { command, directory, exports, component })
                }
                _ => Err(InvalidRemembered::NoDirectory(command)),
            },
            (None, Some(_), None) if directory.is_some() => beside("directory", "category"),
            (None, Some(_), None) if exports.is_some() => beside("exports", "category"),
            (None, Some(_), None) if arguments.is_some() => beside("arguments", "category"),
            (None, Some(category), None) if category.is_grave() => Err(InvalidRemembered::Grave(category)),
            (None, Some(category), None) => Ok(Self::Category { category, component }),
            (None, None, Some(_)) if directory.is_some() => beside("directory", "tool"),
            (None, None, Some(_)) if exports.is_some() => beside("exports", "tool"),
            (None, None, Some(tool)) if tool.is_empty() => Err(InvalidRemembered::Empty("tool")),
            (None, None, Some(tool)) => Ok(Self::Call { tool, arguments, component }),
            _ => Err(InvalidRemembered::NotOne),
        }
    }
}

impl From<Remembered> for Written {
    fn from(remembered: Remembered) -> Self {
        let nothing = Self {
            command: None,
            directory: None,
            exports: None,
            category: None,
            tool: None,
            arguments: None,
            component: None,
        };
        match remembered {
            Remembered::Command { command, directory, exports, component } => {
                Self { command: Some(command), directory: Some(directory), exports, component, ..nothing }
            }
            Remembered::Category { category, component } => Self { category: Some(category), component, ..nothing },
            Remembered::Call { tool, arguments, component } => {
                Self { tool: Some(tool), arguments, component, ..nothing }
            }
        }
    }
}

impl Remembered {
    /// What an approval of exactly this is remembered as. Nothing where the directory is not known.
    pub(super) fn exactly(asker: &Asker, subject: &Subject) -> Option<Self> {
        let component = Some(asker.component.clone());
        match subject {
            Subject::Command { command, directory, exports, .. } => Self::Command {
                command: command.clone(),
                directory: directory.clone()?,
                exports: exports.clone(),
                component,
            },
            Subject::Call { arguments, .. } => {
                Self::Call { tool: asker.tool.clone(), arguments: Some(digest(arguments.as_bytes())), component }
            }
        }
        .readable()
    }

    /// What an approval of all of this kind is remembered as. Nothing where a category is grave. A call's kind is its tool.
    pub(super) fn kind(asker: &Asker, subject: &Subject) -> Vec<Self> {
        let component = Some(asker.component.clone());
        let entries: Option<Vec<Self>> = match subject {
            Subject::Command { judgement, .. } => {
                let mut categories: Vec<_> = judgement.reasons.iter().map(|reason| reason.category).collect();
                categories.sort();
                categories.dedup();
                let of = |category| Self::Category { category, component: component.clone() }.readable();
                categories.into_iter().map(of).collect()
            }
            Subject::Call { extent: CallExtent::SameArguments, .. } => None,
            Subject::Call { .. } => {
                Self::Call { tool: asker.tool.clone(), arguments: None, component }.readable().map(|it| vec![it])
            }
        };
        entries.unwrap_or_default()
    }

    /// The command line by which the operator allows it. Nothing where a person could not read it whole.
    pub(super) fn allow_command(&self, options: &str) -> Option<String> {
        let mut line = "hermes-host approvals allow".to_owned();
        let mut add = |option: &str, text: Option<&String>| {
            if let Some(text) = text {
                line += &format!(" --{option} {}", quoted(text));
            }
        };
        match self {
            Self::Command { command, directory, exports, component } => {
                add("command", Some(command));
                add("directory", Some(directory));
                add("exports", exports.as_ref());
                add("component", component.as_ref());
            }
            Self::Category { category, component } => {
                add("category", Some(&category.to_string()));
                add("component", component.as_ref());
            }
            Self::Call { tool, arguments, component } => {
                add("tool", Some(tool));
                add("arguments", arguments.as_ref());
                add("component", component.as_ref());
            }
        }
        line += options;
        (line.len() <= ALLOW_BYTES && !line.chars().any(is_hidden)).then_some(line)
    }

    /// Itself, if it could be read back: what is written must never make the operator's file unreadable, and the rules of the
    /// file hold for answers too.
    fn readable(self) -> Option<Self> {
        Written::from(self).try_into().ok()
    }

    /// Whether it is about this component.
    pub(super) fn is_for(&self, asker: &Asker) -> bool {
        let (Self::Command { component, .. } | Self::Category { component, .. } | Self::Call { component, .. }) = self;
        component.as_deref().is_none_or(|component| component == asker.component)
    }
}

/// The digest of exact arguments or exports. The same values in another order are others: that asks once too often, never too
/// seldom.
pub(super) fn digest(bytes: &[u8]) -> String {
    format!("blake3:{}", blake3::hash(bytes).to_hex())
}

fn is_digest(text: &str) -> bool {
    let hex = |digits: &str| digits.len() == 64 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    text.strip_prefix("blake3:").is_some_and(hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Remembered, String> {
        toml::from_str(text).map_err(|why| why.to_string())
    }

    #[test]
    fn what_is_written_is_read_back() {
        let digest = digest(b"{}");
        for text in [
            "command = \"git push -f\\n\"\ndirectory = \"/p\"\n".to_owned(),
            "command = \"x\"\ndirectory = \"/p\"\ncomponent = \"terminal\"\n".to_owned(),
            "category = \"recursive-delete\"\n".to_owned(),
            "tool = \"write_file\"\n".to_owned(),
            format!("tool = \"write_file\"\narguments = \"{digest}\"\ncomponent = \"file\"\n"),
        ] {
            let remembered = read(&text).unwrap();
            let written: toml::Table = toml::Table::try_from(&remembered).unwrap();
            assert_eq!(written, text.parse().unwrap());
            assert_eq!(read(&written.to_string()), Ok(remembered));
        }
    }

    #[test]
    fn what_is_unclear_is_an_error_that_names_it() {
        for (text, says) in [
            ("", "exactly one of"),
            ("command = \"x\"\ndirectory = \"/p\"\ntool = \"t\"", "exactly one of"),
            ("command = \"x\"", "needs the directory"),
            ("command = \"x\"\ndirectory = \"p\"", "needs the directory"),
            ("command = \"x\"\ndirectory = \"/p\"\narguments = \"D\"", "arguments says nothing beside command"),
            ("category = \"git\"\ndirectory = \"/p\"", "directory says nothing beside category"),
            ("category = \"exfiltration\"", "exfiltration can't be allowed as a whole"),
            ("category = \"system-delete\"", "system-delete can't be allowed as a whole"),
            ("category = \"gti\"", "unknown variant"),
            ("tool = \"\"", "tool is empty"),
            ("tool = \"t\"\narguments = \"blake3:12\"", "no digest"),
            ("command = \"x\"\ndirectory = \"/p\"\nexports = \"A=1\"", "exports \"A=1\" is no digest"),
            ("category = \"git\"\nexports = \"D\"", "exports says nothing beside category"),
            ("tool = \"t\"\nargument = \"x\"", "unknown field"),
            ("tool = \"t\"\ncomponent = \"\"", "component is empty"),
        ] {
            let why = read(&text.replace("\"D\"", &format!("\"{}\"", digest(b"")))).unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
    }
}
