//! What was decided about something that a call wanted, for the audit.

/// Who decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// The person behind the client that made the call.
    Client,
    /// The person at the terminal of the host.
    Terminal,
    /// A client of the HTTP API.
    Api,
    /// The program that embeds the host.
    Program,
    /// The reviewer of commands.
    Reviewer,
    /// An answer that holds for the session.
    Session,
    /// `approval.allow` or `approval.mode` in hermes.toml.
    Configuration,
    /// The rules of what is never run, or `approval.deny`.
    Rules,
    /// Nobody could be asked, or nobody answered in time.
    Nobody,
}

impl DecidedBy {
    /// As the audit names it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Client => "the person at the client",
            Self::Terminal => "the person at the terminal",
            Self::Api => "a client of the HTTP API",
            Self::Program => "the embedding program",
            Self::Reviewer => "the reviewer",
            Self::Session => "an earlier answer for this session",
            Self::Configuration => "hermes.toml",
            Self::Rules => "the rules",
            Self::Nobody => "nobody: no answer",
        }
    }
}

/// What was decided, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether it may happen.
    pub is_approved: bool,
    /// Who said so.
    pub by: DecidedBy,
}

impl Decision {
    /// It may happen.
    pub const fn approved(by: DecidedBy) -> Self {
        Self { is_approved: true, by }
    }

    /// It may not.
    pub const fn refused(by: DecidedBy) -> Self {
        Self { is_approved: false, by }
    }

    /// The word in the audit.
    pub const fn word(self) -> &'static str {
        if self.is_approved { "approved" } else { "refused" }
    }

    /// What a call is known by that had several: the last one, but a refusal stays.
    pub(crate) fn after(self, before: Option<Self>) -> Self {
        before.filter(|before| !before.is_approved).unwrap_or(self)
    }
}
