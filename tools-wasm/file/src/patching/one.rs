//! One text in one file.

use hermes_tool::{Error, Result};

use super::commit::{Draft, edit};
use super::{MAX_DIFF, text};
use crate::missing;
use crate::patch::{Names, Splice, apply, diff, replace};
use crate::syntax::{self, Lint};

pub(super) fn draft(path: &str, old: &str, new: &str, all: bool) -> Result<Draft> {
    let (text, version) = text::read(path).map_err(|fault| missing::explain(fault, path))?;
    let replaced =
        replace(&text, old, new, all).map_err(|why| Error::failed(format!("{path} was not changed: {why}")))?;
    let lint = lint(path, &text, &replaced.splices)?;
    let name = Some(path.trim_start_matches('/'));
    Ok(Draft {
        diff: diff(Names { old: name, new: name }, &text, &replaced.splices, MAX_DIFF),
        changes: vec![edit(path.to_owned(), version, replaced.splices)],
        lints: vec![lint],
        strategy: (replaced.strategy != "exact").then(|| replaced.strategy.to_owned()),
        replacements: Some(replaced.count as u64),
    })
}

/// What the parser says of the text with these changes. The new text is made only where there is a parser: it may be large.
pub(super) fn lint(path: &str, text: &str, splices: &[Splice]) -> Result<Lint> {
    let after = if syntax::concerns(path) { apply(text, splices) } else { String::new() };
    syntax::check_change(path, text, &after)
        .map_err(|mistake| Error::failed(format!("no file was changed: after that, {path} would be {mistake}")))
}
