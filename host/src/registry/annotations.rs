//! What a client may believe about a tool. It follows from what the tool's component could do here, by its imports and its grants, and
//! not from what the component says of itself: whoever wants to be called without a question would say so.

use super::{Entry, Hints, TOOL_CALL};
use crate::component::Origin;

/// The hints that MCP knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Annotations {
    /// Nothing outside the call can change by it.
    pub read_only: bool,
    /// What changes may be lost by it.
    pub destructive: bool,
    /// A second identical call changes nothing more.
    pub idempotent: bool,
    /// It can reach beyond this machine.
    pub open_world: bool,
}

/// What a client assumes of a tool that says nothing: the worst.
impl Default for Annotations {
    fn default() -> Self {
        Self { read_only: false, destructive: true, idempotent: false, open_world: true }
    }
}

impl Annotations {
    /// Of a tool in the catalogue. A bundled component is this program's own code, known by its bytes: its word counts where its powers
    /// leave room, so that reading a file is not taken for writing one.
    pub fn of(entry: &Entry) -> Self {
        let Hints { read_only, destructive, idempotent, .. } = entry.definition.hints;
        let (component, is_ours) = (&entry.component, entry.component.origin == Origin::Bundled);
        let powers = component.granted.powers();
        let read_only = !powers.changes || (is_ours && read_only);
        Self {
            read_only,
            destructive: !read_only && (!is_ours || destructive),
            idempotent: read_only || (is_ours && idempotent),
            open_world: powers.reaches_out,
        }
    }

    /// Of one of the host's own tools: `tool_call` may be a call of anything.
    pub fn of_own(name: &str) -> Self {
        let is_call = name == TOOL_CALL;
        Self { read_only: !is_call, destructive: is_call, idempotent: !is_call, open_world: is_call }
    }
}
