//! The parsers, each asked for nothing but the first mistake: its line and column, from 1, and what it is.

use saphyr_parser::Parser;
use serde::de::IgnoredAny;
use toml::de::DeTable;

type Parsed = Result<(), (usize, usize, String)>;

pub(super) fn json(text: &str) -> Parsed {
    serde_json::from_str::<IgnoredAny>(text).map(drop).map_err(|why| {
        let place = format!(" at line {} column {}", why.line(), why.column());
        let what = why.to_string();
        (why.line(), why.column(), what.strip_suffix(&place).unwrap_or(&what).to_owned())
    })
}

pub(super) fn yaml(text: &str) -> Parsed {
    match Parser::new_from_str(text).find_map(Result::err) {
        // Its columns count from 0.
        Some(why) => Err((why.marker().line(), why.marker().col() + 1, why.info().to_owned())),
        None => Ok(()),
    }
}

pub(super) fn toml(text: &str) -> Parsed {
    DeTable::parse(text).map(drop).map_err(|why| {
        let before = text.get(..why.span().map_or(0, |span| span.start)).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() + 1;
        (line, before[line_start..].chars().count() + 1, why.message().replace('\n', ", "))
    })
}
