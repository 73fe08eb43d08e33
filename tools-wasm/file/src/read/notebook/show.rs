//! A notebook's cells, one below the other.

use std::fmt::Write;

use super::cells::{Cell, Notebook, Output};

/// Characters of one output that are shown: enough for a table or an error, and no log fills the answer.
const MAX_OUTPUT: usize = 4_000;

/// Outputs of one cell that are shown. A loop that draws may have thousands.
const MAX_OUTPUTS: usize = 20;

/// The whole text. Takes the notebook, so that what is shown need not be held twice.
pub(super) fn text(notebook: Notebook) -> String {
    let mut text = String::new();
    for (at, cell) in notebook.cells.into_iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        push_cell(&mut text, at + 1, &cell);
    }
    text
}

fn push_cell(text: &mut String, number: usize, cell: &Cell) {
    let run = cell.execution_count.map(|run| format!(", run {run}")).unwrap_or_default();
    // Writing to a string does not fail, here and below.
    let _ = writeln!(text, "[cell {number}: {}{run}]", cell.cell_type);
    push_lines(text, &cell.source.0);
    if !cell.outputs.is_empty() {
        text.push_str("[output]\n");
    }
    for output in cell.outputs.iter().take(MAX_OUTPUTS) {
        push_output(text, output);
    }
    if cell.outputs.len() > MAX_OUTPUTS {
        let _ = writeln!(text, "[{} more outputs, not shown]", cell.outputs.len() - MAX_OUTPUTS);
    }
}

fn push_output(text: &mut String, output: &Output) {
    push_bounded(text, &output.text.0);
    push_bounded(text, &output.data.plain.0);
    for kind in output.data.others.iter().filter(|kind| kind.as_str() != "text/html") {
        let _ = writeln!(text, "[{kind}, not shown]");
    }
    if let Some(name) = &output.ename {
        push_bounded(text, &format!("{name}: {}", output.evalue.as_deref().unwrap_or_default()));
    }
}

fn push_bounded(text: &mut String, output: &str) {
    match output.char_indices().nth(MAX_OUTPUT) {
        Some((at, _)) => {
            push_lines(text, &output[..at]);
            let _ = writeln!(text, "[{} more characters, not shown]", output[at..].chars().count());
        }
        None => push_lines(text, output),
    }
}

fn push_lines(text: &mut String, lines: &str) {
    text.push_str(lines);
    if !lines.is_empty() && !lines.ends_with('\n') {
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells::{Data, Text};
    use super::*;

    fn cell(outputs: Vec<Output>) -> Notebook {
        let source = Text("x\n".into());
        Notebook { cells: vec![Cell { cell_type: "code".into(), source, outputs, execution_count: None }] }
    }

    fn printed(text: String) -> Output {
        Output { text: Text(text), data: Data::default(), ename: None, evalue: None }
    }

    #[test]
    fn long_outputs_are_cut_and_said_to_be() {
        let shown = text(cell(vec![printed("é".repeat(MAX_OUTPUT + 5))]));
        assert!(shown.ends_with("é\n[5 more characters, not shown]\n"), "{shown}");
    }

    #[test]
    fn many_outputs_are_counted() {
        let shown = text(cell((0..MAX_OUTPUTS + 3).map(|n| printed(n.to_string())).collect()));
        assert!(shown.ends_with("\n19\n[3 more outputs, not shown]\n"), "{shown}");
    }

    #[test]
    fn a_table_is_shown_as_text_and_not_named_twice() {
        let data = Data { plain: Text("a b".into()), others: vec!["text/html".into(), "image/svg+xml".into()] };
        let shown = text(cell(vec![Output { data, ..printed(String::new()) }]));
        assert_eq!(shown, "[cell 1: code]\nx\n[output]\na b\n[image/svg+xml, not shown]\n");
    }
}
