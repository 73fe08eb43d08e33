//! A patch of several files.

use hermes_tool::fs::{self, Change, Expected, Fault, Kind, Reason, Remove, Rename, Write};
use hermes_tool::{Error, Result};

use super::commit::{Draft, edit};
use super::{MAX_DIFF, one, text};
use crate::patch::{self, Files, Planned, parse, plan};
use crate::syntax;

pub(super) fn draft(patch: &str) -> Result<Draft> {
    let operations = parse(patch).map_err(|why| Error::invalid(format!("no file was changed: {why}")))?;
    let mut host = Host { denied: false };
    let planned = plan(&operations, &mut host).map_err(|why| match host.denied {
        true => Error::denied(why),
        false => Error::failed(why),
    })?;
    let mut draft = Draft::default();
    for planned in planned {
        add_diff(&mut draft.diff, &planned.diff);
        add(&mut draft, planned)?;
    }
    Ok(draft)
}

/// The host's files.
struct Host {
    /// Whether a file was refused.
    denied: bool,
}

impl Host {
    fn said(&mut self, fault: Fault) -> String {
        self.denied |= fault.reason == Reason::Denied;
        fault.message
    }
}

impl Files for Host {
    fn exists(&mut self, path: &str) -> Result<bool, String> {
        match fs::stat(path) {
            Ok(metadata) if metadata.kind == Kind::File => Ok(true),
            Ok(_) => Err("it is not a file".into()),
            Err(fault) if fault.reason == Reason::NotFound => Ok(false),
            Err(fault) => Err(self.said(fault)),
        }
    }

    fn read(&mut self, path: &str) -> Result<Option<(String, u64)>, String> {
        match text::read(path) {
            Ok(read) => Ok(Some(read)),
            Err(fault) if fault.reason == Reason::NotFound => Ok(None),
            Err(fault) => Err(self.said(fault)),
        }
    }
}

fn add(draft: &mut Draft, planned: Planned) -> Result<()> {
    let path = planned.path;
    match planned.change {
        patch::Change::Create(content) => {
            let lint = syntax::check(&path, &content)
                .map_err(|mistake| Error::failed(format!("no file was changed: {path} would be {mistake}")))?;
            draft.lints.push(lint);
            draft.changes.push(Change::Write(Write {
                path,
                content: content.into_bytes(),
                expected: Expected::Nothing,
            }));
        }
        patch::Change::Edit { version, splices } => {
            draft.lints.push(reread(&path, &path, &splices)?);
            draft.changes.push(edit(path, version, splices));
        }
        patch::Change::Remove { version } => draft.changes.push(Change::Remove(Remove { path, version })),
        patch::Change::Rename { source, edit: changed } => {
            if let Some((version, splices)) = changed {
                draft.lints.push(reread(&source, &path, &splices)?);
                draft.changes.push(edit(source.clone(), version, splices));
            }
            draft.changes.push(Change::Rename(Rename { source, target: path }));
        }
    }
    Ok(())
}

/// What the parser says of a file after a change. It is read once more, where there is a parser, so that the plan need not hold the
/// texts of all files.
fn reread(source: &str, name: &str, splices: &[patch::Splice]) -> Result<syntax::Lint> {
    let text = if syntax::concerns(name) { text::read(source)?.0 } else { String::new() };
    one::lint(name, &text, splices)
}

/// Puts one more file's diff behind the others, as far as there is room.
fn add_diff(all: &mut String, diff: &str) {
    const CUT: &str = "# the rest is too large to show\n";
    if all.ends_with(CUT) {
        return;
    }
    let room = MAX_DIFF.saturating_sub(all.len());
    if diff.len() <= room {
        all.push_str(diff);
        return;
    }
    let whole_lines = diff.char_indices().take_while(|(at, _)| *at < room).filter(|(_, c)| *c == '\n').last();
    // A line break is one byte.
    all.push_str(&diff[..whole_lines.map_or(0, |(at, _)| at + 1)]);
    all.push_str(CUT);
}
