//! Tables that fit the terminal.
//!
//! Where a table is too wide, its least important columns leave it: their cells stand below each row, with the names of their columns.
//! The last column that stays is wrapped within itself. No line is longer than the terminal, unless one word is.

use std::fmt::Write;

use textwrap::{Options, WordSplitter, core::display_width};

use super::output::{BOLD, styled};

/// Between two columns.
const GAP: usize = 2;

/// Below a row.
const INDENT: &str = "    ";

/// A space at which no line is broken.
const TIED: &str = "\u{a0}";

/// What the last column needs at least: narrower, and it would be one word a line.
const LAST_COLUMN: usize = 20;

/// A column's name and its importance. The least important ones leave first; among equals, those to the right.
pub(super) type Column = (String, u8);

/// Rows under headings.
pub(super) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new<N: Into<String>>(columns: impl IntoIterator<Item = (N, u8)>) -> Self {
        let columns = columns.into_iter().map(|(name, importance)| (name.into(), importance));
        Self { columns: columns.collect(), rows: Vec::new() }
    }

    /// One row: a cell for each column. Cells may have styles.
    pub(super) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table's lines. Without a width it is as wide as it needs to be, and every row is one line.
    pub(super) fn render(&self, width: Option<usize>) -> String {
        let widths: Vec<usize> = (0..self.columns.len()).map(|column| self.widest(column)).collect();
        let mut kept: Vec<usize> = (0..self.columns.len()).collect();
        if let Some(width) = width {
            while kept.len() > 1 && needed(&kept, &widths) > width {
                let least = kept.iter().copied().min_by_key(|&column| (self.importance(column), usize::MAX - column));
                kept.retain(|column| Some(*column) != least);
            }
        }
        let mut text = String::new();
        let headings: Vec<String> = self.columns.iter().map(|(name, _)| styled(BOLD, name)).collect();
        line(&mut text, &headings, &kept, &widths, width);
        for row in &self.rows {
            line(&mut text, row, &kept, &widths, width);
            self.rest(&mut text, row, &kept, width);
        }
        text
    }

    fn widest(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| display_width(cell));
        cells.chain(self.columns.get(column).map(|(name, _)| name.len())).max().unwrap_or_default()
    }

    fn importance(&self, column: usize) -> u8 {
        self.columns.get(column).map_or(0, |(_, importance)| *importance)
    }

    /// What has no column in the table stands below the row. A cell that says nothing is left out.
    fn rest(&self, text: &mut String, row: &[String], kept: &[usize], width: Option<usize>) {
        let left = self.columns.iter().zip(row).enumerate().filter(|(column, _)| !kept.contains(column));
        let said = left.filter(|(_, (_, cell))| !cell.is_empty() && cell.as_str() != "-");
        let parts = said.map(|(_, ((name, _), cell))| {
            let part = format!("{}: {cell}", name.to_lowercase());
            let fits = width.is_none_or(|width| display_width(&part) + INDENT.len() < width);
            if fits { part.replace(' ', TIED) } else { part }
        });
        for line in wrapped(&parts.collect::<Vec<String>>().join("; "), width, INDENT) {
            let _ = writeln!(text, "{}", line.replace(TIED, " "));
        }
    }
}

/// What these columns take, the last one at its narrowest.
fn needed(kept: &[usize], widths: &[usize]) -> usize {
    let of = |column: &usize| widths.get(*column).copied().unwrap_or_default();
    let (last, others) = kept.split_last().map_or((0, kept), |(last, others)| (of(last), others));
    others.iter().map(|column| of(column) + GAP).sum::<usize>() + last.min(LAST_COLUMN)
}

/// One row: cells aligned, the last one wrapped.
fn line(text: &mut String, row: &[String], kept: &[usize], widths: &[usize], width: Option<usize>) {
    let mut line = String::new();
    let mut start = 0;
    let Some((last, others)) = kept.split_last() else { return };
    let cell = |column: usize| row.get(column).map(String::as_str).unwrap_or_default();
    for &column in others {
        let most = widths.get(column).copied().unwrap_or_default() + GAP;
        let cell = cell(column);
        line.push_str(cell);
        line.push_str(&" ".repeat(most.saturating_sub(display_width(cell))));
        start += most;
    }
    let left = width.map(|width| width.saturating_sub(start));
    for (n, part) in wrapped(cell(*last), left, "").iter().enumerate() {
        if n > 0 {
            let _ = writeln!(text, "{}", line.trim_end());
            line = " ".repeat(start);
        }
        line.push_str(part);
    }
    let _ = writeln!(text, "{}", line.trim_end());
}

/// Text in lines of this width, each with an indent.
fn wrapped(text: &str, width: Option<usize>, indent: &str) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    // Words stay whole, also longer ones: half a path or half a digest helps nobody.
    let options = Options::new(width.unwrap_or(usize::MAX).max(1)).break_words(false);
    let options = options.word_splitter(WordSplitter::NoHyphenation).initial_indent(indent).subsequent_indent(indent);
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new([("TOOL", 9), ("TOOLSET", 5), ("DIGEST", 1), ("STATUS", 8)]);
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        table.push(row(["read_file", "file", "0123456789ab", "available"]));
        table.push(row(["printer", "office", "abcdef012345", "unavailable: the printer is off and has no paper"]));
        table.push(row(["bare", "x", "-", ""]));
        table
    }

    fn plain(width: Option<usize>) -> String {
        anstream::adapter::strip_str(&table().render(width)).to_string()
    }

    #[test]
    fn without_a_width_every_row_is_one_line() {
        let text = plain(None);
        assert_eq!(text.lines().count(), 4);
        assert!(text.contains("printer    office   abcdef012345  unavailable: the printer is off and has no paper\n"));
    }

    #[test]
    fn a_narrow_table_loses_its_least_important_columns_to_lines_below() {
        assert_eq!(
            plain(Some(60)),
            "TOOL       TOOLSET  DIGEST        STATUS\n\
             read_file  file     0123456789ab  available\n\
             printer    office   abcdef012345  unavailable: the printer\n                                  \
             is off and has no paper\n\
             bare       x        -\n"
        );
        assert_eq!(
            plain(Some(40)),
            "TOOL       TOOLSET  STATUS\n\
             read_file  file     available\n    digest: 0123456789ab\n\
             printer    office   unavailable: the\n                    printer is off and\n                    has no paper\n    \
             digest: abcdef012345\n\
             bare       x\n"
        );
    }

    #[test]
    fn no_line_is_longer_than_the_terminal() {
        for width in 24..120 {
            for line in plain(Some(width)).lines() {
                assert!(display_width(line) <= width, "{width}: {line}");
            }
        }
    }
}
