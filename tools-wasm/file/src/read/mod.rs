//! The tool `read_file`.

mod answer;
mod escape;
mod image;
mod notebook;
mod number;
mod page;
#[cfg(test)]
mod tests;

use hermes_tool::fs::{self, Excerpt, LinesQuery};
use hermes_tool::{Result, args, output, tool};

use self::answer::Answer;
use self::page::Page;
use crate::{cut, missing, workspace};

/// Lines that are shown where nothing is said.
const DEFAULT_LINES: u32 = 500;

/// Lines that may be asked for: a model that reads more at once loses the thread. The schema repeats it, since it takes
/// literals.
const MAX_LINES: u32 = 2_000;

/// Characters of a line that are shown. Longer ones are minified code or data, and their start says what they are.
const MAX_LINE: usize = 2_000;

/// What a second reading of the same lines is answered with. `write_file` knows it again.
pub(crate) const UNCHANGED: &str = "you were given these lines before in this task, and the file has not changed since: use \
    what you have. If it is gone from your context, ask for the lines with another limit.";

#[args]
pub(crate) struct ReadFile {
    /// The file: absolute, or relative to the workspace.
    path: String,
    /// The first line to show; lines count from 1.
    #[schema(minimum = 1, default = 1)]
    offset: Option<u64>,
    /// How many lines to show at most.
    #[schema(minimum = 1, maximum = 2000, default = 500)]
    limit: Option<u32>,
}

#[output]
#[derive(Default)]
pub(crate) struct Read {
    /// `unchanged` where the lines were given before and are not repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    /// The file that is unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The lines, each as `N|text`.
    #[schema(content_media_type = "text/plain")]
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// Of the whole file.
    total_lines: u64,
    /// In bytes.
    file_size: u64,
    /// Whether lines follow that are not shown.
    #[schema(default = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
    #[schema(default = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    is_binary: Option<bool>,
    #[schema(default = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    is_image: Option<bool>,
    /// What ended the lines: `lines`, the limit; `bytes`, the size of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated_by: Option<String>,
    /// The offset to go on with.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
    /// Whether the lines are those of a text made from the file, not of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    extracted_document: Option<bool>,
    /// Of an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    /// Of an image, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u64>,
    /// Of an image, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dedup: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_returned: Option<bool>,
    /// What to know about the answer, where there is something.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// Reads a text file. Use it instead of cat, head, tail or sed.
///
/// Each line comes as `N|text`: the number and the bar are not in the file, leave them out of what you write or patch. A long
/// file comes in parts: `offset` and `limit` choose the lines, `next_offset` says where to go on. Jupyter notebooks are shown
/// as text; images and other binary files are described, not shown. To find a place in a file, use search_files first.
#[tool(emoji = "📖", read_only, idempotent, parallel_safe, check = workspace::available)]
pub(crate) fn read_file(args: ReadFile) -> Result<Answer> {
    let first = args.offset.unwrap_or(1).max(1);
    let count = args.limit.unwrap_or(DEFAULT_LINES).clamp(1, MAX_LINES);
    let mut note = None;
    if notebook::is_one(&args.path) {
        match notebook::read(&args.path, first, count)? {
            Ok(answer) => return Ok(answer),
            Err(why) => note = Some(why),
        }
    }
    let query = LinesQuery { path: args.path, first, count, width: cut::width(MAX_LINE) };
    let excerpt = fs::lines(&query).map_err(|fault| missing::explain(fault, &query.path))?;
    Ok(match excerpt {
        excerpt if excerpt.binary => not_text(&query.path, &excerpt).into(),
        excerpt if excerpt.seen > 0 => unchanged(query.path, &excerpt).into(),
        excerpt => Page::of(&excerpt, &query).answer(note),
    })
}

fn not_text(path: &str, excerpt: &Excerpt) -> Read {
    let read = Read {
        content: Some(String::new()),
        file_size: excerpt.metadata.size,
        truncated: Some(false),
        is_binary: Some(true),
        is_image: Some(false),
        hint: Some("this is a binary file: read_file shows text only".into()),
        ..Read::default()
    };
    match image::look(path) {
        Some(image) => image.describe(read),
        None => read,
    }
}

fn unchanged(path: String, excerpt: &Excerpt) -> Read {
    Read {
        status: Some("unchanged".into()),
        path: Some(path),
        total_lines: excerpt.total,
        file_size: excerpt.metadata.size,
        dedup: Some(true),
        content_returned: Some(false),
        hint: Some(UNCHANGED.into()),
        ..Read::default()
    }
}
