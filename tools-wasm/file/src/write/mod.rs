//! The tool `write_file`.

mod pasted;
mod style;
#[cfg(test)]
mod tests;

use hermes_tool::fs::{self, Change, Changed, Expected, Knowledge, Reason, Write};
use hermes_tool::{Error, Json, Result, args, output, tool};

use self::style::Style;
use crate::syntax::{self, Lint};
use crate::{missing, workspace};

/// Bytes of the old file that say how its lines end.
const HEAD: u64 = 64 * 1024;

#[args]
pub(crate) struct WriteFile {
    /// The file: absolute, or relative to the workspace. Missing folders are made.
    path: String,
    /// The whole new content.
    content: String,
}

#[output]
pub(crate) struct Written {
    bytes_written: u64,
    /// Whether folders had to be made.
    dirs_created: bool,
    lint: Lint,
    /// The real path.
    resolved_path: String,
    files_modified: Vec<String>,
    /// What to look after.
    #[serde(rename = "_warning", skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

/// Writes a whole file: makes it, or replaces all of its content. Use it instead of echo, tee or a heredoc; to change a part of
/// a file use patch.
///
/// Folders are made as needed. Line endings, byte order mark and permissions of an old file are kept. JSON, YAML and TOML that
/// does not parse is refused. Write the text itself, without the `N|` that read_file puts in front of lines.
#[tool(emoji = "✍️", destructive, idempotent, max_result_size = 100_000, check = workspace::available)]
pub(crate) fn write_file(args: WriteFile) -> Result<Json<Written>> {
    let WriteFile { path, content } = args;
    if let Some(why) = pasted::refusal(&path, &content) {
        return Err(Error::invalid(format!("{path} was not written: {why}")));
    }
    let lint = syntax::check(&path, &content).map_err(|mistake| {
        Error::invalid(format!(
            "{path} was not written, the content is {mistake}; send the whole content again, corrected"
        ))
    })?;
    let style = match fs::read(&path, 0, HEAD) {
        Ok(piece) => Style::of(&piece.bytes),
        Err(fault) if fault.reason == Reason::NotFound && path.ends_with('/') => {
            return Err(Error::invalid(format!("{path} names a folder; add the name of the file to write")));
        }
        Err(fault) if fault.reason == Reason::NotFound => Style::default(),
        Err(fault) => return Err(missing::explain(fault, &path)),
    };
    let content = style.apply(content);
    let bytes_written = content.len() as u64;
    let changed = fs::commit(&[Change::Write(Write { path, content, expected: Expected::Anything })])?;
    // The host answers once for each change; there was one.
    let Some(changed) = changed.into_iter().next() else {
        return Err(Error::failed("the host did not say what it wrote"));
    };
    Ok(Json(Written {
        bytes_written,
        dirs_created: changed.folders_created,
        lint,
        warning: warning(&changed),
        files_modified: vec![changed.path.clone()],
        resolved_path: changed.path,
    }))
}

/// What the model should know of a file that it replaced.
fn warning(changed: &Changed) -> Option<String> {
    let why = match changed.knowledge {
        _ if changed.created => return None,
        Knowledge::Whole => return None,
        Knowledge::Unread => "the file existed and was not read in this task: its old content is replaced",
        Knowledge::Partial => {
            "only a part of the file was read in this task: lines that were not read are replaced too"
        }
        Knowledge::Outdated => {
            "the file was changed by somebody else since it was read in this task: that change is replaced too"
        }
    };
    Some(why.into())
}
