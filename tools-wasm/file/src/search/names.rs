//! Files by their names.

use hermes_tool::fs::{self, Filter};
use hermes_tool::{Error, Result};

use super::Searched;
use super::paging::Paging;
use crate::missing;

pub(super) fn find(mut filter: Filter, pattern: &str) -> Result<Searched> {
    if pattern.is_empty() {
        return Err(Error::invalid("the pattern is empty: give a glob such as *.rs, or * for all files"));
    }
    let unused = std::mem::replace(&mut filter.globs, vec![glob(pattern)]);
    let found = fs::find(&filter).map_err(|fault| missing::explain(fault, &filter.path))?;
    let mut searched = Searched { total_count: found.total, ..Searched::default() };
    let paging = Paging { given: found.paths.len() as u64, total: found.total, unit: "files" };
    paging.note(&mut searched, &filter, &found.extent);
    if !unused.is_empty() {
        searched.warn("file_glob is for contents and was not used: the pattern is the glob here");
    }
    searched.files = Some(found.paths);
    Ok(searched)
}

/// The pattern as a glob. Without wildcards it is a part of a name.
fn glob(pattern: &str) -> String {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    match pattern {
        _ if pattern.contains(['*', '?', '[', '{']) => pattern.to_owned(),
        _ if pattern.contains('/') => format!("**/{}*", pattern.trim_start_matches('/')),
        _ => format!("*{pattern}*"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_wildcards_is_a_part_of_a_name() {
        assert_eq!(glob("main"), "*main*");
        assert_eq!(glob("./src/main"), "**/src/main*");
        for pattern in ["*.rs", "src/**/*.py", "a?", "[ab].txt", "*.{ts,tsx}"] {
            assert_eq!(glob(pattern), pattern);
        }
    }
}
