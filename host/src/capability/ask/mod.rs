//! `hermes:tool/ask`: a form for the person at the other end of the call. Whoever makes a call for somebody who can be asked says so
//! ([`People::attend`]); a guest that asks waits until that somebody answers, and hears nothing that does not fit its own form.

mod form;
mod host;
mod people;

use std::sync::Arc;

use crate::sandbox::limits::bytes;

pub use form::{FORM_BYTES, FORM_FIELDS, Form};
pub(super) use host::link;
pub use people::{Answer, Inquiry, Misfit, People, Presence, QUESTION_BYTES, THINKING, WAITING_FORMS};

/// The table of these limits for the documentation, in Markdown.
pub fn limits_table() -> String {
    let rows = [
        ("text of a question", bytes(QUESTION_BYTES)),
        ("a form", bytes(FORM_BYTES)),
        ("its fields", FORM_FIELDS.to_string()),
        ("forms that wait at once", WAITING_FORMS.to_string()),
        ("a person's time for one", format!("{} s", THINKING.as_secs())),
    ];
    let rows = rows.map(|(name, value)| format!("| {name} | {value} |\n"));
    format!("| limit | value |\n|---|---|\n{}", rows.concat())
}

/// What a component may ask, by the operator's grant.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    pub(crate) component: String,
    pub(crate) people: Arc<People>,
}

/// What one call has of it.
#[derive(Clone, Debug)]
pub(crate) struct Asker {
    asking: Arc<Asking>,
    tool: String,
    call: String,
}

impl Asker {
    pub(crate) fn new(asking: Arc<Asking>, tool: String, call: String) -> Self {
        Self { asking, tool, call }
    }
}
