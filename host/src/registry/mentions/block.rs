//! Text as its reader sees it: paragraphs, list items, headings, code.

use std::ops::Range;

use super::sentence::{is_wrapped, sentences};

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    /// Empty lines.
    Blank,
    /// Lines of prose.
    Paragraph,
    /// `# One line`.
    Heading,
    /// An item of a list or a row of a table, with the depth of its marker, and its number if it has one. An indented line
    /// is one without a marker. Deeper lines belong to it.
    Item { indent: usize, number: Option<u32>, marked: bool },
    /// Between fences, fences included.
    Code,
}

/// Some lines of the text.
#[derive(Debug)]
pub(super) struct Block {
    /// What it is.
    pub(super) shape: Shape,
    /// All of it.
    pub(super) range: Range<usize>,
    /// Sentences, or lines of code. Before them is a marker or a fence, after them the end of the line.
    pub(super) parts: Vec<Part>,
}

/// What goes or stays as a whole.
#[derive(Debug)]
pub(super) struct Part {
    /// Where it is.
    pub(super) range: Range<usize>,
    /// Whether it was dropped.
    pub(super) gone: bool,
}

/// The blocks of a text, in order; together they are all of it.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut start = 0;
    let mut fence: Option<&str> = None;
    let mut before = "";
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        let shape = if fence.or(mark).is_some() { Shape::Code } else { shape(line) };
        match blocks.last_mut() {
            Some(last) if goes_on(last.shape, shape, fence.is_some(), before, line) => last.range.end = range.end,
            _ => blocks.push(Block { shape, range, parts: Vec::new() }),
        }
        fence = match fence {
            None => mark,
            open => open.filter(|_| mark != open),
        };
        before = line;
    }
    for block in &mut blocks {
        block.parts = parts(text, block).into_iter().map(|range| Part { range, gone: false }).collect();
    }
    blocks
}

/// Whether a line belongs to the block before it.
fn goes_on(last: Shape, line: Shape, in_code: bool, before: &str, text: &str) -> bool {
    match (last, line) {
        (Shape::Blank, Shape::Blank) | (Shape::Paragraph, Shape::Paragraph) => true,
        (Shape::Code, Shape::Code) => in_code,
        (Shape::Item { indent, .. }, Shape::Item { indent: inner, marked: false, .. }) if inner > indent => true,
        (Shape::Paragraph | Shape::Item { .. }, Shape::Paragraph | Shape::Item { marked: false, .. }) => {
            is_wrapped(before, text)
        }
        _ => false,
    }
}

fn shape(line: &str) -> Shape {
    let inner = line.trim();
    if inner.is_empty() {
        Shape::Blank
    } else if inner.starts_with('#') && inner.trim_start_matches('#').starts_with(' ') {
        Shape::Heading
    } else if marker(inner) > 0 || depth(line) > 0 {
        let digits = inner.trim_start_matches('(').split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        let marked = marker(inner) > 0;
        Shape::Item { indent: depth(line), number: digits.parse().ok().filter(|_| marked), marked }
    } else {
        Shape::Paragraph
    }
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Bytes of the marker of a list item: `- `, `1. `, `2) `, `(3) `, `a) `; none for other lines.
fn marker(line: &str) -> usize {
    let Some(space) = line.find(' ') else { return 0 };
    let word = &line[..space];
    let bullet = ["-", "*", "+", "•", "–", "—", "|"].contains(&word);
    let name = word.trim_start_matches('(').trim_end_matches([')', '.']);
    let number = !name.is_empty() && name.len() <= 3 && name.bytes().all(|b| b.is_ascii_digit());
    let letter = name.len() == 1 && word.ends_with(')');
    if bullet || ((number || letter) && word.ends_with([')', '.'])) { space + 1 } else { 0 }
}

fn parts(text: &str, block: &Block) -> Vec<Range<usize>> {
    let Range { start, end } = block.range;
    match block.shape {
        Shape::Blank => Vec::new(),
        Shape::Paragraph | Shape::Heading => sentences(text, start..end),
        Shape::Item { .. } => {
            let body = text[start..end].trim_start();
            sentences(text, end - body.len() + marker(body)..end)
        }
        Shape::Code => lines_of_code(text, block.range.clone()),
    }
}

/// Lines between the fences. The fences stay as long as there are any.
fn lines_of_code(text: &str, block: Range<usize>) -> Vec<Range<usize>> {
    let mut at = block.start;
    let mut lines = Vec::new();
    for line in text[block.clone()].split_inclusive('\n') {
        lines.push(at..at + line.trim_end().len());
        at += line.len();
    }
    let is_fence = |line: &Range<usize>| text[line.clone()].trim_start().starts_with(['`', '~']);
    if lines.len() > 1 && lines.last().is_some_and(is_fence) {
        lines.pop();
    }
    lines.remove(0);
    lines.retain(|line| !line.is_empty());
    if lines.is_empty() { vec![block] } else { lines }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_in_the_block_that_a_reader_sees() {
        let text = "# Head\nOne. Two.\nthree\n\n\n- a\n  more\n  2) b\n(3) c\n```py\ncode\n\n# code\n```\n| x | y |\n bare\nend";
        let item = |indent, number| Shape::Item { indent, number, marked: true };
        let expected = [
            (Shape::Heading, "# Head\n", 1),
            (Shape::Paragraph, "One. Two.\nthree\n", 3),
            (Shape::Blank, "\n\n", 0),
            (item(0, None), "- a\n  more\n", 2),
            (item(2, Some(2)), "  2) b\n", 1),
            (item(0, Some(3)), "(3) c\n", 1),
            (Shape::Code, "```py\ncode\n\n# code\n```\n", 2),
            (item(0, None), "| x | y |\n bare\n", 2),
            (Shape::Paragraph, "end", 1),
        ];
        let found = blocks(text).into_iter().map(|block| (block.shape, &text[block.range], block.parts.len()));
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}
