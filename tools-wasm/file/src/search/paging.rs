//! How far a search came: what there is beyond the findings that are given, and what was not looked at.

use hermes_tool::fs::{Extent, Filter};

use super::Searched;

/// The findings of one call among all of them.
pub(super) struct Paging {
    /// How many are given, by the measure that `offset` counts in.
    pub(super) given: u64,
    /// How many there are by that measure.
    pub(super) total: u64,
    /// What is counted: `matches` or `files`.
    pub(super) unit: &'static str,
}

impl Paging {
    /// Adds to the answer what there is to say.
    pub(super) fn note(self, searched: &mut Searched, filter: &Filter, extent: &Extent) {
        let Self { given, total, unit } = self;
        let next = filter.skip.saturating_add(given);
        let more = given > 0 && next < total;
        searched.truncated = more || extent.stopped.is_some();
        searched.next_offset = more.then_some(next);
        searched.limit_reason = match &extent.stopped {
            _ if more && given < filter.take.into() => Some("an answer holds no more".into()),
            _ if more => Some(format!("limit of {} {unit}", filter.take)),
            stopped => stopped.clone(),
        };
        if let Some(why) = &extent.stopped {
            searched.warn(&format!("the search ended early, and what is counted is only what it saw: {why}"));
        }
        if !extent.skipped.is_empty() {
            searched.warn(&format!("files that were not searched: {}", extent.skipped.join(", ")));
        }
        searched.hint = if more {
            let rest = total - next;
            Some(format!(
                "{rest} more {unit}: go on with offset {next}, or narrow it down with path, file_glob or the pattern"
            ))
        } else if total == 0 {
            Some(format!(
                "nothing in {} files; ignored files are not searched, hidden ones only with hidden",
                extent.files
            ))
        } else if given == 0 {
            Some(format!("offset {} is past the end: there are {total} {unit}", filter.skip))
        } else {
            None
        };
    }
}

impl Searched {
    /// Adds a warning to those that are there.
    pub(super) fn warn(&mut self, what: &str) {
        match &mut self.warning {
            Some(warning) => warning.extend(["; ", what]),
            None => self.warning = Some(what.to_owned()),
        }
    }
}
