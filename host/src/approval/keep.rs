//! Writing a decision that holds for good to the operator's file, with its comments and layout kept.

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::remembered::Remembered;

/// Where decisions that hold for good are written. The host reads and replaces its own file; it may block.
pub trait Keep: Send + Sync {
    /// Writes one down. The error says why it could not be, for the operator and the model.
    fn keep(&self, remembered: &Remembered) -> Result<(), String>;

    /// Options by which `hermes-host approvals allow` finds the same file, each with a blank before it.
    fn options(&self) -> String {
        String::new()
    }
}

/// The file has something else where decisions belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} in the configuration is not written as a table of its own; write [[approval.allow]] and try again")]
pub struct KeepError(&'static str);

/// Adds one entry of `[[approval.allow]]` to a document. Says whether it was missing.
pub fn add_to_document(document: &mut DocumentMut, remembered: &Remembered) -> Result<bool, KeepError> {
    let head = document.trailing().as_str().map(str::trim_end).unwrap_or_default();
    let is_bare = document.is_empty() && !head.is_empty();
    let head = format!("{head}\n\n");
    if is_bare {
        document.set_trailing("");
    }
    let implicit = || {
        let mut table = Table::new();
        // No bare `[approval]` above the first entry.
        table.set_implicit(true);
        Item::Table(table)
    };
    let approval = document.entry("approval").or_insert_with(implicit).as_table_mut().ok_or(KeepError("approval"))?;
    let allow = approval.entry("allow").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let allow = allow.as_array_of_tables_mut().ok_or(KeepError("approval.allow"))?;
    let mut entry = table(remembered);
    if is_bare {
        // A file of comments alone: they are its head.
        entry.decor_mut().set_prefix(head);
    }
    let same = |table: &Table| texts(table) == texts(&entry);
    if allow.iter().any(same) {
        return Ok(false);
    }
    allow.push(entry);
    Ok(true)
}

/// Takes one entry of `[[approval.allow]]` out of a document, by its place from 0. Says whether it was there.
pub fn remove_from_document(document: &mut DocumentMut, at: usize) -> Result<bool, KeepError> {
    let Some(approval) = document.get_mut("approval") else { return Ok(false) };
    let approval = approval.as_table_mut().ok_or(KeepError("approval"))?;
    let Some(allow) = approval.get_mut("allow") else { return Ok(false) };
    let allow = allow.as_array_of_tables_mut().ok_or(KeepError("approval.allow"))?;
    if at >= allow.len() {
        return Ok(false);
    }
    allow.remove(at);
    if allow.is_empty() {
        approval.remove("allow");
    }
    Ok(true)
}

fn table(remembered: &Remembered) -> Table {
    let mut table = Table::new();
    let mut put = |key: &str, text: &str| {
        table.insert(key, value(text));
    };
    let component = match remembered {
        Remembered::Command { command, directory, exports, component } => {
            put("command", command);
            put("directory", directory);
            if let Some(exports) = exports {
                put("exports", exports);
            }
            component
        }
        Remembered::Category { category, component } => {
            put("category", &category.to_string());
            component
        }
        Remembered::Call { tool, arguments, component } => {
            put("tool", tool);
            if let Some(arguments) = arguments {
                put("arguments", arguments);
            }
            component
        }
    };
    if let Some(component) = component {
        put("component", component);
    }
    table
}

/// What a table says, however it is laid out.
fn texts(table: &Table) -> Vec<(String, Option<String>)> {
    let mut texts: Vec<_> =
        table.iter().map(|(key, item)| (key.to_owned(), item.as_str().map(str::to_owned))).collect();
    texts.sort();
    texts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::super::config::Approval;
    use super::*;

    #[derive(Deserialize)]
    struct File {
        approval: Approval,
    }

    fn read(document: &DocumentMut) -> Vec<Remembered> {
        toml::from_str::<File>(&document.to_string()).unwrap().approval.allow
    }

    #[test]
    fn an_entry_is_added_once_and_comments_stay() {
        let text =
            "# mine\n[approval]\nmode = \"ask\" # really\n\n[[approval.allow]]\ncategory = \"git\"\n\n[tools.x]\n";
        let mut document: DocumentMut = text.parse().unwrap();
        let kill =
            Remembered::Category { category: super::super::shell::Category::Kill, component: Some("terminal".into()) };
        assert_eq!(add_to_document(&mut document, &kill), Ok(true));
        assert_eq!(add_to_document(&mut document, &kill), Ok(false));
        let written = document.to_string();
        assert!(written.starts_with("# mine\n[approval]\nmode = \"ask\" # really\n"), "{written}");
        assert!(written.contains("[tools.x]"), "{written}");
        assert_eq!(read(&document).len(), 2);
    }

    #[test]
    fn the_head_of_a_file_without_anything_else_stays_its_head() {
        let mut document: DocumentMut = "# mine\n".parse().unwrap();
        let call = Remembered::Call { tool: "t".into(), arguments: None, component: None };
        add_to_document(&mut document, &call).unwrap();
        assert!(document.to_string().starts_with("# mine\n\n[[approval.allow]]\n"), "{document}");
    }

    #[test]
    fn a_file_that_is_written_otherwise_is_left_alone() {
        for text in ["approval = 1\n", "[approval]\nallow = [{ category = \"git\" }]\n"] {
            let mut document: DocumentMut = text.parse().unwrap();
            let call = Remembered::Call { tool: "t".into(), arguments: None, component: None };
            assert!(add_to_document(&mut document, &call).is_err());
            assert_eq!(document.to_string(), text);
        }
    }

    proptest! {
        /// A command can't write anything into the file but itself.
        #[test]
        fn any_command_is_read_back_as_itself(command in any::<String>(), component in proptest::option::of("[^\0]{1,20}")) {
            let mut document = DocumentMut::new();
            let remembered = Remembered::Command { command, directory: "/p".into(), exports: None, component };
            add_to_document(&mut document, &remembered).unwrap();
            prop_assert_eq!(read(&document), vec![remembered]);
        }
    }
}
