//! Jupyter notebooks as text: the cells and what they printed, without the JSON round them and without pictures.

mod cells;
mod show;

use hermes_tool::{Result, fs};

use self::cells::Notebook;
use super::Read;
use super::answer::Answer;
use super::page::Page;
use crate::missing;

/// The largest notebook that is taken apart: what the host gives at once.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Whether the name is that of a notebook.
pub(super) fn is_one(path: &str) -> bool {
    path.len() > 6 && path.as_bytes()[path.len() - 6..].eq_ignore_ascii_case(b".ipynb")
}

/// The lines of the notebook as text; or why it is to be read like any other file.
pub(super) fn read(path: &str, first: u64, count: u32) -> Result<Result<Answer, String>> {
    let piece = fs::read(path, 0, MAX_BYTES).map_err(|fault| missing::explain(fault, path))?;
    let size = piece.metadata.size;
    if size > MAX_BYTES {
        return Ok(Err(format!("a notebook of {size} bytes is too large to be shown as text: this is its JSON")));
    }
    let notebook: Notebook = match serde_json::from_slice(&piece.bytes) {
        Ok(notebook) => notebook,
        Err(why) => return Ok(Err(format!("this is not a valid notebook ({why}), it is shown as it is"))),
    };
    let masked = piece.masked;
    // Two copies of a large notebook are enough.
    drop(piece.bytes);
    let text = show::text(notebook);
    let skip = usize::try_from(first - 1).unwrap_or(usize::MAX);
    let lines = || text.split_inclusive('\n');
    let start: usize = lines().take(skip).map(str::len).sum();
    let length: usize = lines().skip(skip).take(count as usize).map(str::len).sum();
    // Both are sums of the lengths of whole lines.
    let bytes = &text.as_bytes()[start..start + length];
    let total = lines().count() as u64;
    let note = "shown are the cells of the notebook; line numbers are those of this text, not of the file".to_owned();
    let answer = Page { bytes, first, count, total, size, masked }.answer(Some(note));
    Ok(Ok(Answer { rest: Read { extracted_document: Some(true), ..answer.rest }, ..answer }))
}

#[cfg(test)]
mod tests {
    use hermes_tool::testing::FakeHost;
    use serde_json::{Value, json};

    fn notebook() -> String {
        json!({
            "cells": [
                { "cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "text"] },
                {
                    "cell_type": "code", "execution_count": 3, "metadata": {}, "source": "print(1)\n1 / 0",
                    "outputs": [
                        { "output_type": "stream", "name": "stdout", "text": ["1\n"] },
                        { "output_type": "display_data", "data": { "image/png": "iVBORw0KGgo=", "text/plain": ["<Figure>"] } },
                        { "output_type": "error", "ename": "ZeroDivisionError", "evalue": "division by zero", "traceback": [] },
                    ],
                },
                { "cell_type": "raw", "metadata": {}, "source": [] },
            ],
            "metadata": { "language_info": { "name": "python" } }, "nbformat": 4, "nbformat_minor": 5,
        })
        .to_string()
    }

    fn call(host: &FakeHost, arguments: Value) -> Value {
        host.call(crate::read::read_file::TOOL, &arguments.to_string()).unwrap().json()
    }

    #[test]
    fn cells_are_shown_and_pictures_are_named() {
        let host = FakeHost::new().file("a.ipynb", notebook());
        let answer = call(&host, json!({ "path": "a.ipynb" }));
        let expected = "1|[cell 1: markdown]\n2|# Title\n3|text\n4|\n5|[cell 2: code, run 3]\n6|print(1)\n7|1 / 0\n8|[output]\n9|1\n\
                        10|<Figure>\n11|[image/png, not shown]\n12|ZeroDivisionError: division by zero\n13|\n14|[cell 3: raw]";
        assert_eq!(answer["content"], expected);
        assert_eq!((&answer["extracted_document"], &answer["total_lines"]), (&json!(true), &json!(14)));
        assert_eq!(answer["file_size"], notebook().len());
    }

    #[test]
    fn a_notebook_is_paged_like_a_file() {
        let host = FakeHost::new().file("a.IPYNB", notebook());
        let answer = call(&host, json!({ "path": "a.IPYNB", "offset": 5, "limit": 2 }));
        assert_eq!(answer["content"], "5|[cell 2: code, run 3]\n6|print(1)");
        assert_eq!((&answer["next_offset"], &answer["truncated_by"]), (&json!(7), &json!("lines")));
        let answer = call(&host, json!({ "path": "a.IPYNB", "offset": 50 }));
        assert_eq!((&answer["content"], &answer["truncated"]), (&json!(""), &json!(false)));
    }

    #[test]
    fn what_is_no_notebook_is_shown_as_it_is() {
        for text in ["{\"cells\": [", "[1]", "{\"nbformat\": 3}"] {
            let host = FakeHost::new().file("a.ipynb", text);
            let answer = call(&host, json!({ "path": "a.ipynb" }));
            assert_eq!(answer["content"], format!("1|{text}"));
            assert_eq!(answer["extracted_document"], Value::Null);
            assert!(answer["hint"].as_str().unwrap().starts_with("this is not a valid notebook ("), "{answer}");
        }
    }

    #[test]
    fn a_missing_notebook_is_missing() {
        let host = FakeHost::new().file("b.ipynb", "");
        let why = host.call(crate::read::read_file::TOOL, r#"{"path": "a.ipynb"}"#).unwrap_err();
        assert!(why.message().contains("did you mean: b.ipynb"), "{why}");
    }
}
