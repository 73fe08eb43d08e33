//! Where a call comes from.

use crate::{registry::Selection, sandbox::Control};

/// Where a call comes from, what it may reach, and how to follow it.
#[derive(Clone, Default)]
pub struct CallContext {
    /// Made up where empty.
    pub call_id: Option<String>,
    /// The agent's task. Guardrails count by it.
    pub task_id: Option<String>,
    /// The agent's session.
    pub session_id: Option<String>,
    /// The client's name: what an MCP client calls itself, or one that the server gives. The policy may name it; `None`: not known.
    pub client: Option<String>,
    /// The toolsets the caller was given. Tools outside them are not there for it. `None`: all.
    pub toolsets: Option<Selection>,
    /// To end the call early, and to hear of its progress.
    pub control: Control,
}
