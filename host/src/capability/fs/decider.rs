//! What a change of a file that other programs obey passes before it is made. What decides is not known here: the approval does.

use std::fmt::Debug;

use futures_util::future::BoxFuture;

use super::permit::ObeyedChange;
use crate::{
    capability::{DecidedBy, terminal::NotPassed},
    wit::latest::{Call, filesystem::Change},
};

/// How much of new content is shown with the question, in bytes. A setting or a hook that matters is told from others by its first
/// lines, and each reason of a question is one line of at most 500 bytes.
const PREVIEW_BYTES: usize = 400;

/// The call that wants to change files.
#[derive(Clone, Debug)]
pub(crate) struct ChangeCaller {
    /// The tool that was called.
    pub(crate) tool: String,
    /// The call of it.
    pub(crate) call: String,
    /// The agent's task.
    pub(crate) task: Option<String>,
    /// The agent's session.
    pub(crate) session: Option<String>,
}

impl ChangeCaller {
    pub(crate) fn new(call: &Call) -> Self {
        let context = &call.context;
        Self {
            tool: call.name.clone(),
            call: context.call_id.clone(),
            task: context.task_id.clone(),
            session: context.session_id.clone(),
        }
    }
}

/// Changes of files that other programs obey, about to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedChanges<'a> {
    /// The component that asks.
    pub(crate) component: &'a str,
    /// The call of it.
    pub(crate) caller: &'a ChangeCaller,
    /// The files, and what obeys each.
    pub(crate) files: &'a [ObeyedChange],
    /// What would be written, as far as it is shown.
    pub(crate) preview: &'a str,
}

/// Decides about changes of files that other programs obey before they are made.
pub(crate) trait ChangeDecider: Debug + Send + Sync {
    /// Lets them pass, or tells the model why not. It may take as long as it takes: dropping the answer withdraws the question.
    fn decide_changes<'a>(&'a self, planned: PlannedChanges<'a>) -> BoxFuture<'a, Result<DecidedBy, NotPassed>>;
}

/// The beginning of what changes would write.
pub(super) fn preview(changes: &[Change]) -> String {
    let written = changes.iter().flat_map(|change| match change {
        Change::Write(write) => vec![write.content.as_slice()],
        Change::Edit(edit) => edit.splices.iter().map(|splice| splice.bytes.as_slice()).collect(),
        Change::Remove(_) | Change::Rename(_) => Vec::new(),
    });
    let mut bytes = Vec::new();
    for piece in written {
        if bytes.len() >= PREVIEW_BYTES {
            break;
        }
        bytes.extend_from_slice(&piece[..piece.len().min(PREVIEW_BYTES - bytes.len())]);
        bytes.push(b'\n');
    }
    String::from_utf8_lossy(&bytes).trim().to_owned()
}
