//! Whether the tools can work here at all.

use hermes_tool::{Error, Result, fs};

/// The check of every tool: there must be a workspace, and the operator must have granted it.
pub(crate) fn available() -> Result<()> {
    fs::stat(".").map(drop).map_err(|fault| Error::unavailable(fault.message))
}

#[cfg(test)]
mod tests {
    use hermes_tool::testing::FakeHost;

    #[test]
    fn without_a_grant_every_tool_is_unavailable() {
        use crate::{patching::patch, read::read_file, search::search_files, write::write_file};
        for tool in [read_file::TOOL, write_file::TOOL, patch::TOOL, search_files::TOOL] {
            assert_eq!(FakeHost::new().check(tool), Ok(()), "{}", tool.name);
            let why = FakeHost::new().without_files().check(tool).unwrap_err();
            assert!(why.contains("no folder was granted"), "{}: {why}", tool.name);
        }
    }
}
