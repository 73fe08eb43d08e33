//! The operator's file as text with a structure: what is not changed stays as it was written, comments included.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, TomlError, Value, value};

use super::{FolderGrant, Pin, TerminalGrant, ToolLimits, rows, units};
use crate::policy::{NamePattern, PolicyAction, PolicyLayoutError, set_action};

/// The section of the policy per tool.
const POLICY: &str = "policy";
/// The section of the components' grants.
const TOOLS: &str = "tools";
/// A grant's folders.
const FOLDERS: &str = "fs";
/// A grant's commands.
const TERMINAL: &str = "terminal";
const ASK: &str = "ask";
/// The limits of a component's calls.
const LIMITS: &str = "limits";
/// The bytes that a grant is for.
const DIGEST: &str = "digest";
/// The file that a grant is for, in dev mode.
const DEV: &str = "dev";

/// The file while it is changed.
pub(super) struct Document {
    root: DocumentMut,
    /// Whether its lines end as on Windows, all of them.
    crlf: bool,
}

impl Document {
    /// Reads a text.
    pub(super) fn parse(text: &str) -> Result<Self, TomlError> {
        let crlf = text.contains('\n') && text.matches('\n').count() == text.matches("\r\n").count();
        Ok(Self { root: text.parse()?, crlf })
    }

    /// The text.
    pub(super) fn text(&self) -> String {
        let text = self.root.to_string();
        if self.crlf { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text }
    }

    /// Begins a grant that does not exist yet.
    pub(super) fn begin_section(&mut self, name: &str) {
        if self.section(name).is_none() {
            self.begin(name);
        }
    }

    /// Binds a component's grant to these bytes or to this file. A grant that does not exist yet is begun.
    pub(super) fn pin(&mut self, name: &str, pin: Pin<'_>) {
        self.begin_section(name);
        if let Some(section) = self.section(name) {
            let (set, text, unset) = match pin {
                Pin::Bytes(digest) => (DIGEST, digest.to_string(), DEV),
                Pin::DevFile { file, .. } => (DEV, file.display().to_string(), DIGEST),
            };
            section.remove(unset);
            rows::set_text(section, set, &text);
        }
    }

    /// Adds a folder to a grant.
    pub(super) fn push(&mut self, name: &str, folder: &FolderGrant) {
        if let Some(section) = self.section(name) {
            rows::push(section.entry(FOLDERS).or_insert_with(rows::empty), folder);
        }
    }

    /// Puts a folder in another one's place.
    pub(super) fn replace(&mut self, name: &str, at: usize, folder: &FolderGrant) {
        if let Some(list) = self.section(name).and_then(|section| section.get_mut(FOLDERS)) {
            rows::replace(list, at, folder);
        }
    }

    /// Takes a folder out of a grant, and the list with the last one.
    pub(super) fn remove(&mut self, name: &str, at: usize) {
        let Some(section) = self.section(name) else { return };
        let Some(list) = section.get_mut(FOLDERS) else { return };
        let table = rows::remove(list, at);
        let is_empty = match list {
            Item::ArrayOfTables(tables) => tables.is_empty(),
            list => list.as_array().is_none_or(toml_edit::Array::is_empty),
        };
        if is_empty {
            section.remove(FOLDERS);
        }
        table.iter().for_each(|table| self.keep_above(table));
    }

    /// Writes the commands of a grant anew, on one line; without any the line goes.
    pub(super) fn set_terminal(&mut self, name: &str, terminal: &TerminalGrant) {
        let Some(section) = self.section(name) else { return };
        if terminal.is_empty() {
            section.remove(TERMINAL);
            return;
        }
        let mut table = InlineTable::new();
        if terminal.shell {
            table.insert("shell", true.into());
        }
        if !terminal.exec.is_empty() {
            let rows = terminal.exec.iter().map(|grant| {
                let mut row = InlineTable::new();
                row.insert("program", grant.program.as_str().into());
                if !grant.args.is_empty() {
                    row.insert("args", Value::Array(grant.args.iter().map(String::as_str).collect()));
                }
                Value::InlineTable(row)
            });
            table.insert("exec", Value::Array(rows.collect::<Array>()));
        }
        if terminal.network {
            table.insert("network", true.into());
        }
        section.insert(TERMINAL, value(table));
    }

    /// Writes the limits that are named. The others stay.
    pub(super) fn set_limits(&mut self, name: &str, limits: &ToolLimits) {
        if *limits == ToolLimits::default() {
            return;
        }
        let Some(section) = self.section(name) else { return };
        let empty = || value(InlineTable::new());
        let Some(table) = section.entry(LIMITS).or_insert_with(empty).as_table_like_mut() else { return };
        if let Some(memory) = limits.memory {
            table.insert("memory", value(units::write_memory(memory)));
        }
        if let Some(timeout) = limits.timeout {
            table.insert("timeout", value(units::write_timeout(timeout)));
        }
        if let Some(fuel) = limits.fuel {
            // TOML's integers end at 2^63.
            table.insert("fuel", value(i64::try_from(fuel).unwrap_or(i64::MAX)));
        }
        if let Some(chars) = limits.result_chars {
            table.insert("result_chars", value(i64::try_from(chars).unwrap_or(i64::MAX)));
        }
    }

    /// Says that it may ask; where it may not, the line goes.
    pub(super) fn set_ask(&mut self, name: &str, ask: bool) {
        let Some(section) = self.section(name) else { return };
        if ask {
            section.insert(ASK, value(true));
        } else {
            section.remove(ASK);
        }
    }

    /// Sets what happens to calls of a tool. A policy that does not exist yet is begun.
    pub(super) fn set_policy(&mut self, pattern: &NamePattern, action: PolicyAction) -> Result<(), PolicyLayoutError> {
        if !self.root.contains_key(POLICY) {
            let table = self.new_table();
            self.root.insert(POLICY, Item::Table(table));
        }
        match self.root.get_mut(POLICY).and_then(Item::as_table_mut) {
            Some(policy) => set_action(policy, pattern, action),
            None => Err(PolicyLayoutError::of(POLICY)),
        }
    }

    /// Ends a grant that says nothing but whom it is for.
    pub(super) fn end_if_empty(&mut self, name: &str) {
        let says_nothing = |section: &mut dyn TableLike| section.iter().all(|(key, _)| key == DIGEST || key == DEV);
        if !self.section(name).is_some_and(says_nothing) {
            return;
        }
        let tools = self.root.get_mut(TOOLS).and_then(Item::as_table_like_mut);
        if let Some(Item::Table(section)) = tools.and_then(|tools| tools.remove(name)) {
            self.keep_above(&section);
        }
    }

    fn section(&mut self, name: &str) -> Option<&mut dyn TableLike> {
        self.root.get_mut(TOOLS)?.as_table_like_mut()?.get_mut(name)?.as_table_like_mut()
    }

    fn begin(&mut self, name: &str) {
        let section = self.new_table();
        let mut tools = Table::new();
        tools.set_implicit(true);
        if let Some(tools) = self.root.entry(TOOLS).or_insert(Item::Table(tools)).as_table_like_mut() {
            tools.insert(name, Item::Table(section));
        }
    }

    /// A table for the end of the file.
    fn new_table(&mut self) -> Table {
        let mut section = Table::new();
        if self.root.is_empty() && !self.root.trailing().as_str().unwrap_or_default().trim().is_empty() {
            // A file of comments alone: they are its head.
            let head = rows::text_of(Some(self.root.trailing()));
            section.decor_mut().set_prefix(format!("{}\n\n", head.trim_end()));
            self.root.set_trailing("");
        }
        section
    }

    /// Comments directly above a table that goes speak of it and go too. Those that an empty line parts from it stay: the head of
    /// the file is among them.
    fn keep_above(&mut self, gone: &Table) {
        let above = rows::text_of(gone.decor().prefix());
        let (mut kept, mut position) = (0, 0);
        for line in above.split_inclusive('\n') {
            if line.trim().is_empty() {
                kept = position;
            }
            position += line.len();
        }
        let Some(kept) = above.get(..kept).filter(|kept| kept.contains('#')) else { return };
        match next(self.root.as_table_mut(), gone.position()) {
            Some(next) => {
                let below = rows::text_of(next.decor().prefix());
                let part = if below.starts_with('\n') { "" } else { "\n" };
                next.decor_mut().set_prefix(format!("{kept}{part}{below}"));
            }
            None => {
                let below = rows::text_of(Some(self.root.trailing()));
                self.root.set_trailing(format!("{kept}{below}"));
            }
        }
    }
}

/// The table that is written next after a position.
fn next(table: &mut Table, after: Option<isize>) -> Option<&mut Table> {
    let mut found: Option<&mut Table> = None;
    for (_, item) in table.iter_mut() {
        let tables: Vec<&mut Table> = match item {
            Item::Table(table) => vec![table],
            Item::ArrayOfTables(tables) => tables.iter_mut().collect(),
            _ => Vec::new(),
        };
        for table in tables {
            let is_written = !table.is_implicit() && !table.is_dotted() && table.position() > after;
            let candidate = if is_written { Some(table) } else { next(table, after) };
            let is_nearer = |one: &&mut Table| found.as_ref().is_none_or(|found| one.position() < found.position());
            if let Some(candidate) = candidate.filter(is_nearer) {
                found = Some(candidate);
            }
        }
    }
    found
}
