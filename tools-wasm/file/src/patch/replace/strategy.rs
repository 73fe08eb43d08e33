//! The ways in which a text may differ from what is in the file and still be the one that is meant.

/// From the strictest to the loosest. The first one that finds a place decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strategy {
    /// Nothing differs but the line breaks, `\r\n` for `\n`.
    Exact,
    /// White space at the start and at the end of lines.
    LineTrimmed,
    /// The amount of white space where there is some.
    WhitespaceNormalized,
    /// Both.
    IndentationFlexible,
    /// Escapes too many.
    EscapeNormalized,
    /// White space and blank lines around the whole text.
    TrimmedBoundary,
    /// Typographic characters for plain ones, or plain for typographic.
    UnicodeNormalized,
    /// Blank lines and line breaks between the first line and the last.
    BlockAnchor,
    /// The same in all lines.
    ContextAware,
}

impl Strategy {
    /// The name that results give.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::LineTrimmed => "line_trimmed",
            Self::WhitespaceNormalized => "whitespace_normalized",
            Self::IndentationFlexible => "indentation_flexible",
            Self::EscapeNormalized => "escape_normalized",
            Self::TrimmedBoundary => "trimmed_boundary",
            Self::UnicodeNormalized => "unicode_normalized",
            Self::BlockAnchor => "block_anchor",
            Self::ContextAware => "context_aware",
        }
    }
}

/// What differs at one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Differences {
    /// White space at a line's start or end, where one of the two has none.
    pub(super) edge: bool,
    /// Indentation, where both have some.
    pub(super) indent: bool,
    /// The amount of white space inside of a line.
    pub(super) run: bool,
    /// What is around the whole text.
    pub(super) boundary: bool,
    /// Typographic characters.
    pub(super) unicode: bool,
    /// Blank lines, or spacing and line breaks at brackets, between the first line and the last.
    pub(super) layout: bool,
    /// Spacing and line breaks at brackets in the first line or the last.
    pub(super) loose: bool,
}

impl Differences {
    /// The strictest strategy that allows for them.
    pub(super) fn strategy(self) -> Strategy {
        match self {
            Self { loose: true, .. } => Strategy::ContextAware,
            Self { layout: true, .. } => Strategy::BlockAnchor,
            Self { unicode: true, .. } => Strategy::UnicodeNormalized,
            Self { boundary: true, .. } => Strategy::TrimmedBoundary,
            Self { edge: true, run: true, .. } => Strategy::IndentationFlexible,
            Self { run: true, .. } => Strategy::WhitespaceNormalized,
            Self { edge, indent, .. } if edge || indent => Strategy::LineTrimmed,
            _ => Strategy::Exact,
        }
    }

    /// Whether the file writes something inside of its lines in another way.
    pub(super) fn in_lines(self) -> bool {
        self.run || self.unicode || self.layout || self.loose
    }
}
