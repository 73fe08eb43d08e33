//! A tool that has the list of tools changed. No guest can do that by itself: it leaves a file in the folder that it was granted, and
//! whoever runs the host puts a component into the tools folder or takes it away.

use hermes_tool::{
    NoArgs, Result,
    fs::{self, Change, Expected},
    tool,
};

/// Where the wish is left, below the workspace.
const TRIGGER: &str = "trigger";

/// Asks the operator's side to change the list of tools.
#[tool]
pub(crate) fn test_trigger_tool_change(_: NoArgs) -> Result<String> {
    let wish = fs::Write { path: TRIGGER.into(), content: b"change\n".into(), expected: Expected::Anything };
    fs::commit(&[Change::Write(wish)])?;
    Ok("The list of tools is about to change.".into())
}
