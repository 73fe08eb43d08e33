//! What flows from one command into the next.

/// What is known about a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flow {
    /// Its text, if that is known.
    pub(crate) text: Option<String>,
    /// Whether it comes from another command or a file, not from the caller's empty input.
    pub(crate) fed: bool,
    /// Whether it comes from the network.
    pub(crate) downloaded: bool,
    /// Whether a decoder made it.
    pub(crate) decoded: bool,
    /// What secret it holds.
    pub(crate) secret: Option<String>,
}

impl Flow {
    /// The input that a command line starts with: nothing.
    pub(crate) fn inherited() -> Self {
        Self::default()
    }

    /// A stream whose content is not known.
    pub(crate) fn unknown() -> Self {
        Self { fed: true, ..Self::default() }
    }

    /// A stream of known text.
    pub(crate) fn text(text: String) -> Self {
        Self { text: Some(text), fed: true, ..Self::default() }
    }

    /// One stream after the other.
    pub(crate) fn join(&mut self, other: Self) {
        self.text = None;
        self.fed |= other.fed;
        self.downloaded |= other.downloaded;
        self.decoded |= other.decoded;
        if self.secret.is_none() {
            self.secret = other.secret;
        }
    }
}
