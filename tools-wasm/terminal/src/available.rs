//! Whether the tools can work here at all.

use hermes_tool::{Error, Result, terminal};

/// The check of both tools: the operator must have granted a terminal.
pub(crate) fn available() -> Result<()> {
    terminal::processes().map(drop).map_err(|fault| Error::unavailable(fault.message))
}

#[cfg(test)]
mod tests {
    use hermes_tool::testing::FakeHost;

    #[test]
    fn without_a_grant_both_tools_are_unavailable() {
        use crate::{process::process, run::terminal};
        for tool in [terminal::TOOL, process::TOOL] {
            assert_eq!(FakeHost::new().check(tool), Ok(()), "{}", tool.name);
            let why = FakeHost::new().without_terminal().check(tool).unwrap_err();
            assert!(why.contains("no terminal was granted"), "{}: {why}", tool.name);
        }
    }
}
