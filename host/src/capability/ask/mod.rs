//! `hermes:tool/ask`: a form for the person at the other end of the call. Whoever makes a call for somebody who can be asked says so
//! ([`People::attend`]); a guest that asks waits until that somebody answers, and hears nothing that does not fit its own form.

mod form;
mod host;
mod people;

use std::sync::Arc;

pub use form::{FORM_BYTES, FORM_FIELDS, Form};
pub(super) use host::link;
pub use people::{Answer, Inquiry, Misfit, People, Presence, QUESTION_BYTES, THINKING, WAITING_FORMS};

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
