//! The tool `search_files`.

mod content;
mod names;
mod paging;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use hermes_tool::fs::Filter;
use hermes_tool::{Json, Result, args, output, tool};

use crate::workspace;

/// Findings that are given where nothing is said.
const DEFAULT_LIMIT: u32 = 50;

/// Findings that may be asked for. The schema repeats it, since it takes literals.
const MAX_LIMIT: u32 = 1_000;

/// Lines before and after a match that may be asked for. More is what read_file is for.
const MAX_CONTEXT: u32 = 20;

#[args]
pub(crate) struct SearchFiles {
    /// What to look for. In contents: a regular expression in the syntax of Rust's regex crate and ripgrep. Among files: a glob
    /// such as *.rs or src/**/test_*.py; a name without wildcards is looked for anywhere in the names.
    pattern: String,
    /// What to search: the contents of files, or the files' names. grep and find mean the same.
    #[schema(default = "content")]
    target: Option<Target>,
    /// The directory or file to search in.
    #[schema(default = ".")]
    path: Option<String>,
    /// Only search contents of files that fit this glob, such as *.py or *.{ts,tsx}. `!` in front leaves them out.
    file_glob: Option<String>,
    /// How many findings to give at most.
    #[schema(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<u32>,
    /// How many findings to leave out at the start, to go on from an earlier call.
    #[schema(default = 0)]
    offset: Option<u64>,
    /// For contents: the matching lines, only the files they are in, or how many there are in each file.
    #[schema(default = "content")]
    output_mode: Option<Mode>,
    /// Lines to show before and after each match.
    #[schema(maximum = 20, default = 0)]
    context: Option<u32>,
    /// Also search files and folders whose name starts with a dot.
    #[schema(default = false)]
    hidden: Option<bool>,
}

#[args]
#[derive(Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Target {
    Content,
    Files,
    Grep,
    Find,
}

#[args]
#[derive(Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Content,
    FilesOnly,
    Count,
}

#[output]
#[derive(Default)]
pub(crate) struct Searched {
    /// How many there are: matching lines, or files where files were asked for.
    total_count: u64,
    /// The matching lines, where they are few.
    #[serde(skip_serializing_if = "Option::is_none")]
    matches: Option<Vec<Match>>,
    /// How to read `matches_text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    matches_format: Option<String>,
    /// The matching lines, grouped by file.
    #[schema(content_media_type = "text/plain")]
    #[serde(skip_serializing_if = "Option::is_none")]
    matches_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<String>>,
    /// Matching lines in each file.
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<BTreeMap<String, u64>>,
    /// Whether there are more than are given.
    #[schema(default = false)]
    truncated: bool,
    /// Why not all are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_reason: Option<String>,
    /// The offset to go on with.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
    /// What was not searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[output]
pub(crate) struct Match {
    path: String,
    line: u64,
    content: String,
}

/// Searches the contents of files with a regular expression, or finds files by name. Use it instead of grep, rg, find or ls.
///
/// What .gitignore leaves out is not searched, and hidden files only if `hidden` is set. Escape what should be taken literally:
/// `foo\(`, `a\.b`. Examples: pattern "fn main" with file_glob "*.rs"; pattern "TODO|FIXME" with output_mode "count"; target
/// "files" with pattern "*.toml".
#[tool(emoji = "🔎", read_only, idempotent, parallel_safe, max_result_size = 100_000, check = workspace::available)]
pub(crate) fn search_files(args: SearchFiles) -> Result<Json<Searched>> {
    let filter = Filter {
        path: args.path.filter(|path| !path.is_empty()).unwrap_or_else(|| ".".into()),
        globs: args.file_glob.filter(|glob| !glob.is_empty()).into_iter().collect(),
        hidden: args.hidden.unwrap_or(false),
        ignored: false,
        skip: args.offset.unwrap_or(0),
        take: args.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT),
    };
    match args.target.unwrap_or(Target::Content) {
        Target::Files | Target::Find => names::find(filter, &args.pattern).map(Json),
        Target::Content | Target::Grep => {
            let context = args.context.unwrap_or(0).min(MAX_CONTEXT);
            let mode = args.output_mode.unwrap_or(Mode::Content);
            content::search(filter, args.pattern, mode, context).map(Json)
        }
    }
}
