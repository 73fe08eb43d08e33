//! One argument of a command.

/// Stands in a text for a part that is only known when the command runs. A command that holds this very character is taken
/// to be unknown there too, which leans to asking.
pub(crate) const UNKNOWN: char = '\u{f8ff}';

/// How much is known about an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sure {
    /// All of it.
    Known,
    /// A part is not known, but it stays one argument.
    Part,
    /// A part is not known and may become any number of arguments, options among them.
    Split,
}

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arg {
    /// Its text, [`UNKNOWN`] for what is not known.
    pub(crate) text: String,
    pub(crate) sure: Sure,
    /// Whether it is a pattern of files.
    pub(crate) glob: bool,
    /// Whether it is the file of a process substitution.
    pub(crate) process: bool,
}

impl Arg {
    pub(crate) fn known(text: impl Into<String>) -> Self {
        Self { text: text.into(), sure: Sure::Known, glob: false, process: false }
    }

    pub(crate) fn unknown(sure: Sure) -> Self {
        Self { text: UNKNOWN.into(), sure, glob: false, process: false }
    }

    pub(crate) fn is_known(&self) -> bool {
        self.sure == Sure::Known
    }

    /// Whether it starts like an option. A lone `-` is an operand.
    pub(crate) fn is_option(&self) -> bool {
        self.text.len() > 1 && self.text.starts_with('-')
    }

    /// For a person.
    pub(crate) fn shown(&self) -> String {
        self.text.replace(UNKNOWN, "…")
    }
}
