//! What a judgement says.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Effect;

/// What may happen with a command. Ordered: the worst of many is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing stands against it.
    Allow,
    /// A person decides.
    Ask,
    /// No approval can buy it.
    Never,
}

/// Why a command is not simply allowed. A decision can be bound to one of these, unless it is grave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Deletes the root, a home or a system directory.
    SystemDelete,
    /// Deletes a tree.
    RecursiveDelete,
    /// Deletes what lies outside the workspace, or what can't be known.
    Delete,
    /// Overwrites what a file held so that it can't be had back.
    Overwrite,
    /// Formats, wipes or writes a disk.
    Disk,
    /// Turns the machine off.
    Power,
    /// Multiplies processes without end.
    ForkBomb,
    /// Ends every process.
    KillAll,
    /// Ends processes.
    Kill,
    /// Makes files open to everyone or gives them away.
    Permissions,
    /// Writes where the system or its configuration lies.
    SystemWrite,
    /// Writes keys, credentials or their settings.
    CredentialWrite,
    /// Writes what runs by itself later: shell start files, units, hooks, timetables.
    Persistence,
    /// Writes a project's settings file that often holds secrets.
    ProjectSettings,
    /// Reads keys or credentials.
    CredentialRead,
    /// Sends keys, credentials or the environment elsewhere.
    Exfiltration,
    /// Gives a shell to the network.
    ReverseShell,
    /// Runs what was just downloaded.
    DownloadedCode,
    /// Runs what was just decoded.
    DecodedCode,
    /// Runs a program text that is not shell text.
    InlineCode,
    /// Runs a file that the same line makes.
    WrittenCode,
    /// Feeds text to a shell or an interpreter.
    PipedCode,
    /// The command itself is only known when it runs.
    UnknownCommand,
    /// The target of something dangerous is only known when it runs.
    UnknownTarget,
    /// Takes another user's rights.
    Privilege,
    /// Changes what later commands mean: loaders, start files, search paths.
    Environment,
    /// Stops, starts or changes services.
    Service,
    /// Throws away work or history of a repository.
    Git,
    /// Deletes or changes data of a database.
    Sql,
    /// Stops or deletes containers and their data.
    Container,
    /// Deletes or changes things of a cluster or a cloud.
    Cloud,
    /// Changes timetables.
    Schedule,
    /// Installs or removes software of the system, or runs a package's scripts.
    Packages,
    /// Changes users, groups or their passwords.
    Accounts,
    /// Changes the firewall, routes, mounts or the kernel.
    SystemState,
    /// Stops, restarts or changes the host that runs the agent.
    Host,
    /// A command of Windows that deletes or hides code.
    Windows,
    /// Text that reads differently from what it does.
    Obscured,
    /// Text that could not be parsed.
    Unparsed,
    /// Text beyond the limits.
    Limit,
    /// Asks for less confinement than it has.
    Escalation,
}

impl Category {
    /// Whether a decision about one command of this kind says nothing about the next. Such a command is approved by its exact
    /// text alone, never as a kind: one approved upload of a key must not open the way for all uploads. What is left are kinds
    /// that a developer does many times a day and that stay within the project or the user's own things.
    ///
    /// Every category is named, so that a new one has to be decided on.
    pub fn is_grave(self) -> bool {
        match self {
            Self::RecursiveDelete
            | Self::Kill
            | Self::InlineCode
            | Self::Service
            | Self::Git
            | Self::Sql
            | Self::Container
            | Self::Packages => false,
            Self::SystemDelete
            | Self::Delete
            | Self::Overwrite
            | Self::Disk
            | Self::Power
            | Self::ForkBomb
            | Self::KillAll
            | Self::Permissions
            | Self::SystemWrite
            | Self::CredentialWrite
            | Self::Persistence
            | Self::ProjectSettings
            | Self::CredentialRead
            | Self::Exfiltration
            | Self::ReverseShell
            | Self::DownloadedCode
            | Self::DecodedCode
            | Self::WrittenCode
            | Self::PipedCode
            | Self::UnknownCommand
            | Self::UnknownTarget
            | Self::Privilege
            | Self::Environment
            | Self::Cloud
            | Self::Schedule
            | Self::Accounts
            | Self::SystemState
            | Self::Host
            | Self::Windows
            | Self::Obscured
            | Self::Unparsed
            | Self::Limit
            | Self::Escalation => true,
        }
    }

    /// Whether commands of this kind lose something that can't be had back. Such a kind is not allowed for good by one answer, where it
    /// may be allowed as a kind at all.
    pub fn is_destructive(self) -> bool {
        self.is_grave() || matches!(self, Self::RecursiveDelete | Self::Git | Self::Sql | Self::Container)
    }

    /// Whether the text could not be read for what it does. Who only reads text can't decide about it.
    pub fn is_unreadable(self) -> bool {
        matches!(self, Self::Obscured | Self::Unparsed | Self::Limit)
    }
}

/// The name that configuration and answers use: `recursive-delete`.
impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// One thing that stands against a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// Its kind.
    pub category: Category,
    /// The very thing, for the person who is asked.
    pub detail: String,
}

/// One simple command as it would run, taken out of its wrappers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parsed {
    /// The program, as written once its quotes and variables are resolved.
    pub program: String,
    /// Its arguments. `…` stands for what is only known when it runs.
    pub arguments: Vec<String>,
    /// The wrappers it was taken out of, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub through: Vec<String>,
}

/// The verdict on one command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// The worst that was found.
    pub verdict: Verdict,
    /// Everything that was found, worst first.
    pub reasons: Vec<Reason>,
    /// The simple commands, in the order in which they were found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Parsed>,
    /// What it would do, as far as that can be derived.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// Whether a rule stands against it, wherever it runs. A command that only lacks a model is not suspect.
    #[serde(skip)]
    pub is_suspect: bool,
}
