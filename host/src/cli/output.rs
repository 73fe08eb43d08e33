//! Writing for people and for programs.

use std::io::{self, IsTerminal, Write};

use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};
use anyhow::Result;

use super::table::Table;

pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const BOLD: Style = Style::new().bold();

/// Text in a style. The stream drops the codes where there is no terminal or NO_COLOR is set.
pub(super) fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// One line on stdout.
pub(super) fn line(text: &str) -> Result<()> {
    Ok(writeln!(anstream::stdout().lock(), "{text}")?)
}

/// One line on stderr. A closed stderr is no reason to fail.
pub(super) fn note(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// An error on stderr.
pub(super) fn error(text: &str) {
    note(&format!("{} {text}", styled(BAD.bold(), "error:")));
}

/// Text on stdout as it is, to be pasted.
pub(super) fn paste(text: &str) -> Result<()> {
    Ok(io::stdout().lock().write_all(text.as_bytes())?)
}

/// JSON on stdout, indented for readers and stable for programs.
pub(super) fn json(value: &serde_json::Value) -> Result<()> {
    json_text(&serde_json::to_string_pretty(value)?)
}

/// JSON text on stdout, whole, but with characters that a terminal would obey or hide written as escapes: the same JSON.
pub(super) fn json_text(text: &str) -> Result<()> {
    let mut shown = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        if c.is_ascii_graphic() || c.is_alphanumeric() || c == ' ' || c == '\n' || !hermes_host::is_hidden(c) {
            shown.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    shown.push('\n');
    Ok(io::stdout().lock().write_all(shown.as_bytes())?)
}

pub(super) fn colours_on_stderr() -> bool {
    io::stderr().is_terminal() && anstream::AutoStream::choice(&io::stderr()) != ColorChoice::Never
}

/// Whether the reader of our output went away, as `head` does.
pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// The columns of the terminal, or those that `COLUMNS` names. Nothing where the output goes into a file or a pipe: programs read lines.
pub(super) fn width() -> Option<usize> {
    let named = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|&columns| columns > 0);
    named.or_else(|| terminal_size::terminal_size_of(io::stdout()).map(|(columns, _)| columns.0.into()))
}

/// A table on stdout, as wide as the terminal.
pub(super) fn show_table(table: &Table) -> Result<()> {
    line(table.render(width()).trim_end())
}

/// The first row of a table whose columns matter the more the further left they are.
pub(super) fn headings<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

/// Such a table, with its headings in the first row, as lines.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let Some((headings, rows)) = rows.split_first() else { return String::new() };
    let mut table = Table::new(headings.iter().zip((0..=u8::MAX).rev()).map(|(name, rank)| (name.clone(), rank)));
    rows.iter().for_each(|row| table.push(row.clone()));
    table.render(width())
}

/// A number with its noun: `1 tool`, `2 tools`.
pub(super) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
