//! The interface as guests call it.

use std::sync::Arc;

use serde_json::Value;
use wasmtime::component::{HasSelf, Linker};

use super::{Answer, Asker, Form, THINKING, people::Silence};
use crate::{
    capability::Capability,
    sandbox::CallState,
    text::{one_line, valid_name},
    wit::latest::ask::{self as wit, Reason},
};

pub(in super::super) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    wit::add_to_linker::<_, HasSelf<CallState>>(linker, |state| state)
}

impl wit::Host for CallState {
    async fn ask(
        &mut self,
        name: String,
        message: String,
        form: String,
    ) -> wasmtime::Result<Result<wit::Answer, wit::Fault>> {
        self.count_host_call(Capability::Ask)?;
        let Some(asker) = self.held.asker.clone() else {
            let why = "nobody may be asked: it was not granted; the operator can change that with hermes-host grant NAME --ask";
            return Ok(Err(fault(Reason::Denied, &self.held.ungranted(why))));
        };
        if !valid_name(&name) {
            let why = format!("a question's name is 1 to 64 of A-Z, a-z, 0-9, _ and -; not {:?}", one_line(&name, 80));
            return Ok(Err(fault(Reason::Invalid, &why)));
        }
        let form = match Form::parse(&form) {
            Ok(form) => form,
            Err(why) => return Ok(Err(fault(Reason::Invalid, &why))),
        };
        let clock = Arc::clone(&self.clock);
        // A person has a time of their own.
        let _still = clock.stand_still();
        Ok(ask(&asker, name, &message, form).await)
    }
}

async fn ask(asker: &Asker, name: String, message: &str, form: Form) -> Result<wit::Answer, wit::Fault> {
    match asker.asking.people.ask(asker, name, message, form, THINKING).await {
        Ok(Answer::Given(given)) => Ok(wit::Answer::Given(Value::Object(given).to_string())),
        Ok(Answer::Declined) => Ok(wit::Answer::Declined),
        Ok(Answer::Dismissed) => Ok(wit::Answer::Dismissed),
        Err(Silence::Nobody) => {
            let why = "there is nobody to ask: the client shows no questions; put what is needed into the arguments";
            Err(fault(Reason::Nobody, why))
        }
        Err(Silence::Full) => Err(fault(Reason::Nobody, "too many questions wait already; try again later")),
        Err(Silence::Late) => {
            Err(fault(Reason::Unanswered, &format!("nobody answered within {} s", THINKING.as_secs())))
        }
    }
}

fn fault(reason: Reason, message: &str) -> wit::Fault {
    wit::Fault { reason, message: message.to_owned() }
}
