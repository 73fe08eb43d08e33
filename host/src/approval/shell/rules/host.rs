//! The host that runs the agent: it must not be stopped or persuaded by what it runs.

use super::Call;
use crate::approval::shell::{Category, walk::Walker};

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    let looks = match call.name {
        "hermes-host" => matches!(
            call.operand(0),
            "" | "list" | "inspect" | "definitions" | "toolsets" | "doctor" | "audit" | "completions"
        ),
        "hermes" => !matches!(call.operand(0), "gateway" | "update" | "config" | "approvals"),
        _ => return false,
    };
    let explains = call.name == "hermes-host" && call.operand(0) == "approvals" && call.operand(1) == "explain";
    if !looks && !explains {
        walker.ask(Category::Host, call.shown());
    }
    true
}
