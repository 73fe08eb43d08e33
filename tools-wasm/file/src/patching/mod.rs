//! The tool `patch`: reads the files, lets the logic in [`crate::patch`] work out what changes, and makes all of it or nothing.

mod commit;
mod one;
mod several;
#[cfg(test)]
mod tests;
mod text;

use hermes_tool::{Error, Json, Result, args, output, tool};

use crate::syntax::Lint;
use crate::workspace;

/// Bytes of the diff in an answer. A model that wants to see more reads the file.
const MAX_DIFF: usize = 50_000;

#[args]
pub(crate) struct Patch {
    /// replace: one text in one file. patch: a patch of one or more files.
    mode: Mode,
    /// For replace: the file, absolute or relative to the workspace.
    path: Option<String>,
    /// For replace: the text that goes, as it stands in the file, with enough around it to be there only once.
    old_string: Option<String>,
    /// For replace: the text that takes its place; empty to delete.
    new_string: Option<String>,
    /// For replace: all places instead of the only one.
    #[schema(default = false)]
    replace_all: Option<bool>,
    /// For patch: the patch, in the format shown above.
    patch: Option<String>,
}

#[args]
#[derive(Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Replace,
    Patch,
}

#[output]
pub(crate) struct Patched {
    /// Always true: a patch that can't be made is an error, and no file is changed then.
    #[schema(default = true)]
    success: bool,
    /// What was changed, as a unified diff.
    #[schema(content_media_type = "text/plain")]
    diff: String,
    /// Every file that was changed, made, moved or removed.
    files_modified: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files_created: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files_deleted: Vec<String>,
    lint: Lint,
    /// How the text was found where it was not found exactly as given.
    #[serde(skip_serializing_if = "Option::is_none")]
    strategy: Option<String>,
    /// How many places were replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    replacements: Option<u64>,
    /// What to look after.
    #[serde(rename = "_warning", skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

/// Changes a part of a file, or several files at once. Use it instead of sed, awk or writing a whole file again.
///
/// Mode "replace" puts new_string in place of old_string in the file `path`. old_string must be there exactly once, or set
/// replace_all. White space, indentation and quotes that differ from the file are forgiven, other differences are not.
///
/// Mode "patch" takes a patch that adds, changes, moves and deletes files, all of it or nothing:
/// *** Begin Patch
/// *** Update File: src/a.py
/// @@ def run():
///      first()
/// -    second()
/// +    third()
/// *** Add File: notes.txt
/// +A line.
/// *** Delete File: old.txt
/// *** Move File: x.txt -> y.txt
/// *** End Patch
/// Lines start with a space (context), - (goes) or + (comes); give about three lines of context. A line after @@ that stands
/// above the place says which of several is meant.
///
/// Leave out the `N|` of read_file. Line endings are kept. A change after which JSON, YAML or TOML no longer parses is refused.
#[tool(emoji = "🩹", destructive, max_result_size = 100_000, check = workspace::available)]
pub(crate) fn patch(args: Patch) -> Result<Json<Patched>> {
    let Patch { mode, path, old_string, new_string, replace_all, patch } = args;
    let patched = match (mode, path, old_string, new_string, patch) {
        (Mode::Replace, Some(path), Some(old), Some(new), _) => {
            let all = replace_all.unwrap_or(false);
            commit::make(|| one::draft(&path, &old, &new, all))?
        }
        (Mode::Patch, _, _, _, Some(patch)) => commit::make(|| several::draft(&patch))?,
        (Mode::Replace, ..) => return Err(Error::invalid("mode replace needs path, old_string and new_string")),
        (Mode::Patch, ..) => {
            return Err(Error::invalid("mode patch needs the argument patch, with *** Begin Patch and so on"));
        }
    };
    Ok(Json(patched))
}
