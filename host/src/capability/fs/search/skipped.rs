//! Why files were not looked at, and how many.

use std::collections::BTreeMap;

/// A reason for leaving out a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Skip {
    /// It is not there any more, or another thing is there now, or the walk ended: nothing to report.
    Gone,
    /// Its content is no text.
    Binary,
    /// It has more bytes than are read.
    TooLarge,
    /// It has lines that take too long to search.
    LongLines,
    /// The system refused to open or read it.
    Unreadable,
    /// It is never handed out.
    Refused,
    /// It has another name, which may lie outside.
    HardLinked,
    /// A device, a pipe or a socket.
    NotRegular,
    /// A symbolic link.
    Link,
    /// A folder below too many others.
    TooDeep,
    /// A file of ignore rules that can't be used.
    IgnoreFile,
}

impl Skip {
    fn label(self) -> Option<&'static str> {
        Some(match self {
            Self::Gone => return None,
            Self::Binary => "binary",
            Self::TooLarge => "too large",
            Self::LongLines => "with overlong lines",
            Self::Unreadable => "unreadable",
            Self::Refused => "never shown",
            Self::HardLinked => "hard-linked",
            Self::NotRegular => "not regular",
            Self::Link => "symbolic, not followed",
            Self::TooDeep => "too deep",
            Self::IgnoreFile => "unusable as ignore file",
        })
    }
}

/// How often each reason occurred.
#[derive(Debug, Default)]
pub(super) struct Skipped(BTreeMap<Skip, u64>);

impl Skipped {
    pub(super) fn add(&mut self, skip: Skip) {
        *self.0.entry(skip).or_default() += 1;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (skip, count) in &other.0 {
            *self.0.entry(*skip).or_default() += count;
        }
    }

    /// For people, always in the same order: `12 binary`.
    pub(super) fn describe(&self) -> Vec<String> {
        self.0.iter().filter_map(|(skip, count)| Some(format!("{count} {}", skip.label()?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_in_one_order_and_what_is_gone_is_not_told() {
        let (mut one, mut other) = (Skipped::default(), Skipped::default());
        [Skip::Refused, Skip::Gone, Skip::Binary].into_iter().for_each(|skip| one.add(skip));
        [Skip::Binary, Skip::TooLarge].into_iter().for_each(|skip| other.add(skip));
        one.merge(&other);
        assert_eq!(one.describe(), ["2 binary", "1 too large", "1 never shown"]);
    }
}
