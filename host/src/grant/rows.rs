//! The list `fs` in its file's own layout: one line or several, an array or a table for each folder, and comments between them.

use toml_edit::{Array, ArrayOfTables, InlineTable, Item, RawString, Table, TableLike, Value, value};

use super::{FolderGrant, Links, Secrets};

/// How a folder is indented in a list that has no layout yet.
const INDENT: &str = "    ";

/// A list without folders.
pub(super) fn empty() -> Item {
    value(Array::new())
}

/// Adds a folder at the end, laid out as the last one is; one line each in a list that has none.
pub(super) fn push(list: &mut Item, folder: &FolderGrant) {
    match list {
        Item::ArrayOfTables(tables) => {
            let mut table = Table::new();
            set(&mut table, folder);
            tables.push(table);
        }
        Item::Value(Value::Array(array)) => push_value(array, folder),
        _ => {}
    }
}

/// Puts a folder in another one's place.
pub(super) fn replace(list: &mut Item, at: usize, folder: &FolderGrant) {
    match list {
        Item::ArrayOfTables(tables) => tables.get_mut(at).into_iter().for_each(|table| set(table, folder)),
        Item::Value(Value::Array(array)) => {
            array.get_mut(at).and_then(Value::as_inline_table_mut).into_iter().for_each(|row| set(row, folder));
        }
        _ => {}
    }
}

/// Takes a folder out. A table of its own is given back: what stood above it is the document's to keep.
pub(super) fn remove(list: &mut Item, at: usize) -> Option<Table> {
    match list {
        Item::ArrayOfTables(tables) => remove_table(tables, at),
        Item::Value(Value::Array(array)) => {
            remove_value(array, at);
            None
        }
        _ => None,
    }
}

fn remove_table(tables: &mut ArrayOfTables, at: usize) -> Option<Table> {
    let table = tables.get(at).cloned();
    if table.is_some() {
        tables.remove(at);
    }
    table
}

/// What two folders have in common is left as it is written.
fn set(row: &mut dyn TableLike, folder: &FolderGrant) {
    set_text(row, "path", &folder.path.to_string_lossy());
    set_text(row, "access", folder.access.name());
    if folder.secrets != Secrets::default() || row.contains_key("secrets") {
        set_text(row, "secrets", folder.secrets.name());
    }
    if folder.hard_links != Links::default() || row.contains_key("hard_links") {
        set_text(row, "hard_links", folder.hard_links.name());
    }
}

/// Sets a key, and keeps the comments around its value.
pub(super) fn set_text(table: &mut dyn TableLike, key: &str, text: &str) {
    match table.get_mut(key) {
        Some(Item::Value(old)) if old.as_str() == Some(text) => {}
        Some(Item::Value(old)) => {
            let decor = old.decor().clone();
            *old = text.into();
            *old.decor_mut() = decor;
        }
        _ => {
            // The space before the bracket of `{ a = 1 }` belongs to the last value, and a comma comes after that now.
            if let Some((_, Item::Value(last))) = table.iter_mut().last()
                && text_of(last.decor().suffix()).trim().is_empty()
            {
                last.decor_mut().set_suffix("");
            }
            table.insert(key, value(text));
        }
    }
}

fn push_value(array: &mut Array, folder: &FolderGrant) {
    let mut row = InlineTable::new();
    set(&mut row, folder);
    let mut row = Value::from(row);
    let (layout, last_comment) = match array.iter_mut().last() {
        Some(last) => {
            let suffix = text_of(last.decor().suffix());
            last.decor_mut().set_suffix("");
            (text_of(last.decor().prefix()), suffix)
        }
        None => (format!("\n{INDENT}"), String::new()),
    };
    // What stands between the last folder and the bracket stays with that folder.
    let rest = last_comment + &text_of(Some(array.trailing()));
    let indent = layout.rsplit_once('\n').map(|(_, indent)| indent);
    if indent.is_some() || rest.contains('\n') {
        let (indent, closing) = (indent.unwrap_or(INDENT), rest.rsplit_once('\n').map_or("", |(_, closing)| closing));
        row.decor_mut().set_prefix(format!("{}\n{indent}", rest.trim_end()));
        array.set_trailing(format!("\n{closing}"));
        array.set_trailing_comma(true);
    } else {
        row.decor_mut().set_prefix(" ");
        row.decor_mut().set_suffix(rest);
        array.set_trailing("");
        array.set_trailing_comma(false);
    }
    array.push_formatted(row);
}

/// Comments stay: the one after a comma is written before the next folder, but speaks of the one that it follows.
fn remove_value(array: &mut Array, at: usize) {
    if at >= array.len() {
        return;
    }
    let removed = array.remove(at);
    let (before, after) = (text_of(removed.decor().prefix()), text_of(removed.decor().suffix()));
    match array.get_mut(at) {
        Some(next) => {
            let own = text_of(next.decor().prefix());
            let prefix = if before.contains('#') || own.contains('#') { joined(&before, &own) } else { before };
            next.decor_mut().set_prefix(joined(&after, &prefix));
        }
        None => {
            let trailing = joined(&after, &text_of(Some(array.trailing())));
            array.set_trailing(joined(&before, &trailing));
        }
    }
}

/// Two stretches between values as one. Only comments count, and each ends its line.
fn joined(one: &str, other: &str) -> String {
    if !one.contains('#') {
        return if other.is_empty() && one.contains('\n') { "\n".into() } else { other.into() };
    }
    format!("{}\n{}", one.trim_end(), other.strip_prefix('\n').unwrap_or(other))
}

/// The text of a stretch. A document that can be changed holds it as text.
pub(super) fn text_of(raw: Option<&RawString>) -> String {
    raw.and_then(RawString::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use toml_edit::DocumentMut;

    use super::*;
    use crate::grant::Access;

    fn changed(text: &str, change: impl FnOnce(&mut Item)) -> String {
        let mut document: DocumentMut = text.parse().unwrap();
        change(&mut document["fs"]);
        let text = document.to_string();
        text.parse::<DocumentMut>().unwrap_or_else(|why| panic!("{why}\n{text}"));
        text
    }

    fn folder() -> FolderGrant {
        FolderGrant::new("/new", Access::Write)
    }

    #[test]
    fn a_folder_is_added_in_the_lists_own_layout() {
        let row = r#"{ path = "/new", access = "write" }"#;
        for (before, after) in [
            ("fs = []\n", format!("fs = [\n    {row},\n]\n")),
            ("fs = [ # none yet\n]\n", format!("fs = [ # none yet\n    {row},\n]\n")),
            ("fs = [{ path = \"a\" }]\n", format!("fs = [{{ path = \"a\" }}, {row}]\n")),
            ("fs = [ { path = \"a\" } ] # x\n", format!("fs = [ {{ path = \"a\" }}, {row} ] # x\n")),
            ("fs = [{ path = \"a\" },]\n", format!("fs = [{{ path = \"a\" }}, {row}]\n")),
            (
                "fs = [\n  { path = \"a\" }, # diary\n  # end\n]\n",
                format!("fs = [\n  {{ path = \"a\" }}, # diary\n  # end\n  {row},\n]\n"),
            ),
            (
                "fs = [\n\t{ path = \"a\" } # diary\n  ]\n",
                format!("fs = [\n\t{{ path = \"a\" }}, # diary\n\t{row},\n  ]\n"),
            ),
            ("fs = [{ path = \"a\" }, # diary\n]\n", format!("fs = [{{ path = \"a\" }}, # diary\n    {row},\n]\n")),
            (
                "[[fs]] # a\npath = \"a\"\n",
                "[[fs]] # a\npath = \"a\"\n\n[[fs]]\npath = \"/new\"\naccess = \"write\"\n".into(),
            ),
        ] {
            assert_eq!(changed(before, |list| push(list, &folder())), after);
        }
    }

    #[test]
    fn a_folder_is_changed_in_its_place() {
        let mut open = folder();
        open.secrets = Secrets::Shown;
        for (before, after) in [
            (
                "fs = [\n  # one\n  {path='/new',access = 'read' }, # two\n]\n",
                "fs = [\n  # one\n  {path='/new',access = \"write\", secrets = \"show\" }, # two\n]\n",
            ),
            (
                "[[fs]]\npath = 'a' # one\naccess = 'read' # two\nsecrets = 'mask'\nhard_links = 'allow'\n",
                "[[fs]]\npath = \"/new\" # one\naccess = \"write\" # two\nsecrets = \"show\"\nhard_links = \"refuse\"\n",
            ),
        ] {
            assert_eq!(changed(before, |list| replace(list, 0, &open)), after);
        }
    }

    #[test]
    fn comments_stay_when_a_folder_goes() {
        let (a, b) = ("{ path = \"a\" }", "{ path = \"b\" }");
        for (before, at, after) in [
            (format!("fs = [{a}, {b}]\n"), 0, format!("fs = [{b}]\n")),
            (format!("fs = [{a}, {b}]\n"), 1, format!("fs = [{a}]\n")),
            (format!("fs = [\n  {a},\n  {b},\n]\n"), 0, format!("fs = [\n  {b},\n]\n")),
            (format!("fs = [\n  {a},\n  {b}\n]\n"), 1, format!("fs = [\n  {a}\n]\n")),
            (format!("fs = [\n  {a}, # one\n  {b}, # two\n]\n"), 0, format!("fs = [ # one\n  {b}, # two\n]\n")),
            (format!("fs = [\n  {a}, # one\n  {b}, # two\n]\n"), 1, format!("fs = [\n  {a}, # one\n # two\n]\n")),
            (format!("fs = [\n  {a}, # one\n  {b}]\n"), 1, format!("fs = [\n  {a} # one\n]\n")),
            (format!("fs = [\n  # one\n  {a},\n  {b}\n]\n"), 0, format!("fs = [\n  # one\n  {b}\n]\n")),
            (format!("fs = [\n  {a},\n  {b} # two\n]\n"), 1, format!("fs = [\n  {a} # two\n]\n")),
        ] {
            assert_eq!(changed(&before, |list| drop(remove(list, at))), after, "{at} of {before}");
        }
    }
}
