//! Databases.

use super::Call;
use crate::approval::shell::{Category, resolve::UNKNOWN, walk::Walker};

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    match call.name {
        "sqlite3" | "sqlite" | "psql" | "mysql" | "mariadb" | "duckdb" | "clickhouse-client" | "clickhouse"
        | "sqlcmd" | "cockroach" | "pgcli" | "mycli" | "litecli" | "usql" | "isql" | "sqlplus" | "bq" => {
            client(walker, call)
        }
        "redis-cli" | "valkey-cli" => {
            let words = [
                "flushall", "flushdb", "shutdown", "del", "unlink", "config", "debug", "eval", "script", "module",
                "slaveof",
            ];
            if call.operands().any(|arg| words.contains(&arg.text.to_lowercase().as_str())) {
                walker.ask(Category::Sql, call.shown());
            }
        }
        "mongo" | "mongosh" => {
            let text = call.args.iter().map(|arg| arg.text.to_lowercase()).collect::<Vec<_>>().join(" ");
            if ["drop", "deletemany", "deleteone", "remove(", "shutdown"].iter().any(|word| text.contains(word))
                || call.input.fed
            {
                walker.ask(Category::Sql, call.shown());
            }
        }
        "dropdb" | "dropuser" | "mysqladmin" | "pg_restore" | "pg_resetwal" | "pg_dropcluster" | "mongorestore" => {
            let harmless =
                call.name == "mysqladmin" && !call.says(&["drop", "shutdown", "kill", "password", "flush-privileges"]);
            if !harmless {
                walker.ask(Category::Sql, call.shown());
            }
        }
        _ => return false,
    }
    true
}

/// Words with which clients and servers run programs, load code or write files.
const ESCAPES: [&str; 13] = [
    "\\!",
    ".shell",
    ".system",
    "\\copy",
    "\\o ",
    ".output",
    ".once",
    ".import",
    "writefile(",
    "load_extension(",
    ".load",
    "into outfile",
    "into dumpfile",
];

fn client(walker: &mut Walker, call: &Call<'_>) {
    let mut texts: Vec<&str> = call.args.iter().map(|arg| arg.text.as_str()).collect();
    match &call.input.text {
        Some(text) => texts.push(text),
        None if call.input.fed => walker.ask(Category::Sql, format!("statements from its input: {}", call.shown())),
        None => {}
    }
    for text in texts {
        if let Some(what) = harm(text) {
            walker.ask(Category::Sql, format!("{what}: {}", call.shown()));
        }
        let lower = text.to_lowercase();
        let escape = ESCAPES.iter().any(|word| lower.contains(word)) || lower.trim_start().starts_with("system ");
        if escape || lower.contains(" program ") {
            walker.ask(Category::InlineCode, format!("runs programs or writes files: {}", call.shown()));
        }
        for way in ["\\!", ".shell ", ".system "] {
            if let Some((_, command)) = text.split_once(way) {
                walker.program_text(call.name, command.lines().next().unwrap_or(""));
            }
        }
    }
    let statement = ["-c", "-e", "-Q", "-q"]
        .iter()
        .flat_map(|option| call.values(option, ""))
        .any(|arg| arg.text.starts_with(UNKNOWN));
    if statement {
        walker.ask(Category::Sql, format!("a statement that is only known when it runs: {}", call.shown()));
    }
}

/// What a text of statements would lose.
fn harm(text: &str) -> Option<&'static str> {
    // Most arguments are names; only a text with one of these is worth taking apart.
    let upper = text.to_uppercase();
    if !["DROP", "TRUNCATE", "DELETE", "UPDATE", "ALTER"].iter().any(|verb| upper.contains(verb)) {
        return None;
    }
    let plain = without_comments(&upper);
    for statement in plain.split(';') {
        let words: Vec<&str> = statement
            .split(|c: char| c.is_whitespace() || c == '(' || c == ')')
            .filter(|word| !word.is_empty())
            .collect();
        let has = |word: &str| words.contains(&word);
        let dropped = words.windows(2).any(|pair| {
            matches!(
                pair,
                [
                    "DROP",
                    "TABLE"
                        | "DATABASE"
                        | "SCHEMA"
                        | "VIEW"
                        | "INDEX"
                        | "COLUMN"
                        | "USER"
                        | "ROLE"
                        | "FUNCTION"
                        | "SEQUENCE"
                        | "KEYSPACE"
                        | "OWNED"
                        | "TRIGGER"
                        | "MATERIALIZED"
                        | "TYPE"
                        | "CONSTRAINT"
                ]
            )
        });
        if dropped {
            return Some("drops");
        }
        if words.first() == Some(&"TRUNCATE") || words.windows(2).any(|pair| matches!(pair, ["TRUNCATE", "TABLE"])) {
            return Some("truncates");
        }
        if words.windows(2).any(|pair| matches!(pair, ["DELETE", "FROM"])) && !has("WHERE") {
            return Some("deletes every row");
        }
        if words.first() == Some(&"UPDATE") && has("SET") && !has("WHERE") {
            return Some("changes every row");
        }
    }
    None
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        out.push_str(before);
        out.push(' ');
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out.lines().map(|line| line.split_once("--").map_or(line, |(before, _)| before)).collect::<Vec<_>>().join("\n")
}
