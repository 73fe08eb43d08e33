//! What people are asked, as the protocol carries it: a message and a flat form.

use std::{sync::Arc, time::Duration};

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value, json};

use crate::{
    Host,
    approval::{Answer as Decision, Question},
    capability::{
        DecidedBy,
        ask::{Answer, Inquiry, THINKING},
    },
};

/// The name of a question of the host's own. A tool's questions have names of tools' making, and none of those has a dot.
const APPROVAL: &str = "hermes-host.approval";

/// Columns of a question about a command. Clients show it in a dialog.
const COLUMNS: usize = 100;

/// The longest reason that a person may give.
const REASON_CHARS: usize = 500;

/// A question on its way to a person.
pub(super) enum Asked {
    /// Whether something may happen.
    Decide(Arc<Question>),
    /// A tool's own.
    Fill(Box<Inquiry>),
}

/// What a client sent that is no answer. The question still waits.
pub(super) struct NoAnswer {
    pub(super) asked: Asked,
    pub(super) why: String,
}

impl Asked {
    /// What the answer comes under.
    pub(super) fn key(&self) -> &str {
        match self {
            Self::Decide(_) => APPROVAL,
            Self::Fill(inquiry) => &inquiry.name,
        }
    }

    /// How long it waits.
    pub(super) fn time(&self) -> Duration {
        match self {
            Self::Decide(question) => question.timeout(),
            Self::Fill(_) => THINKING,
        }
    }

    /// What the client shows. Nothing where the form is one that the protocol can't carry. It goes out as the last revision has it: clients
    /// of 2025-06-18 do not know lists of choices and choices with titles, and may show such a field as they like.
    pub(super) fn params(&self, complaint: Option<&str>) -> Option<ElicitRequestParams> {
        let (message, form) = match self {
            Self::Decide(question) => (question.shown().prompt(COLUMNS), decision(question)),
            Self::Fill(inquiry) => (inquiry.message.clone(), inquiry.form.schema().clone()),
        };
        let requested_schema: ElicitationSchema = serde_json::from_value(form).ok()?;
        let message = match complaint {
            Some(why) => format!("{message}\n\nThe last answer was not taken: {why}"),
            None => message,
        };
        Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
    }

    /// Passes a client's answer on.
    pub(super) fn answer(self, host: &Host, result: ElicitResult) -> Result<(), NoAnswer> {
        match self {
            Self::Decide(question) => match decided(&result) {
                Ok(answer) => match host.approvals().answer_from(question.id(), answer, DecidedBy::Client) {
                    Err(why @ crate::approval::AnswerError::NotOffered { .. }) => {
                        Err(NoAnswer { asked: Self::Decide(question), why: why.to_string() })
                    }
                    // Somebody else was faster, or its time is over: the call goes on by that.
                    _ => Ok(()),
                },
                Err(why) => Err(NoAnswer { asked: Self::Decide(question), why }),
            },
            Self::Fill(inquiry) => {
                let fits = filled(result).and_then(|answer| match inquiry.fits(&answer) {
                    Ok(()) => Ok(answer),
                    Err(why) => Err(why.to_string()),
                });
                match fits {
                    Ok(answer) => {
                        // It fits, and whether the call still waits is not ours to say.
                        let _ = inquiry.answer(answer);
                        Ok(())
                    }
                    Err(why) => Err(NoAnswer { asked: Self::Fill(inquiry), why }),
                }
            }
        }
    }
}

/// A client's answer as it came in a retry.
pub(super) fn read(response: &Value) -> Result<ElicitResult, String> {
    serde_json::from_value(response.clone()).map_err(|why| format!("it is no answer to a form: {why}"))
}

fn decision(question: &Question) -> Value {
    // No default: a client that fills it in would answer in the person's place.
    let (words, titles): (Vec<_>, Vec<_>) = question.titled_choices().into_iter().unzip();
    json!({
        "type": "object",
        "properties": {
            "decision": {"type": "string", "title": "Decision", "enum": words, "enumNames": titles},
            "reason": {"type": "string", "title": "Reason, if you deny it", "maxLength": REASON_CHARS},
        },
        "required": ["decision"],
    })
}

/// Whether an answer carries no field at all. Clients with a bare yes and no, such as Hermes Agent, accept with `{}`.
fn is_bare(content: Option<&Value>) -> bool {
    match content {
        None | Some(Value::Null) => true,
        Some(Value::Object(fields)) => fields.is_empty(),
        Some(_) => false,
    }
}

/// The decision in a client's answer. A bare accept means once: the least that a yes can mean. Fields without a decision among them
/// are no answer: a client that shows fields shows that one, too.
fn decided(result: &ElicitResult) -> Result<Decision, String> {
    let content = result.content.as_ref();
    let text = |name: &str| content.and_then(|content| content.get(name)).and_then(Value::as_str);
    match result.action {
        ElicitationAction::Accept if is_bare(content) => Ok(Decision::ONCE),
        ElicitationAction::Accept => {
            let word = text("decision").ok_or("it has no decision")?;
            match word.parse().map_err(|why| format!("{why}"))? {
                Decision::Refuse { .. } => Ok(Decision::refuse(text("reason").unwrap_or_default())),
                approved => Ok(approved),
            }
        }
        ElicitationAction::Decline => Ok(Decision::refuse("")),
        ElicitationAction::Cancel => Ok(Decision::refuse("the question was closed without an answer")),
        _ => Err("its action is not known".into()),
    }
}

fn filled(result: ElicitResult) -> Result<Answer, String> {
    match result.action {
        ElicitationAction::Accept => match result.content {
            Some(Value::Object(given)) => Ok(Answer::Given(given)),
            None => Ok(Answer::Given(Map::new())),
            Some(_) => Err("its content is not an object".into()),
        },
        ElicitationAction::Decline => Ok(Answer::Declined),
        ElicitationAction::Cancel => Ok(Answer::Dismissed),
        _ => Err("its action is not known".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::ask::Form;

    /// A tool whose form was taken and can't be carried would be told that there is nobody.
    #[test]
    fn a_form_that_was_taken_is_carried_whole() {
        let choices = json!([{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]);
        let form = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "title": "All",
            "description": "of them",
            "properties": {
                "text": {"type": "string", "title": "T", "description": "D", "minLength": 1, "maxLength": 9},
                "filled": {"type": "string", "default": "x"},
                "email": {"type": "string", "format": "email"},
                "uri": {"type": "string", "format": "uri"},
                "date": {"type": "string", "format": "date"},
                "time": {"type": "string", "format": "date-time"},
                "number": {"type": "number", "minimum": -0.5, "maximum": 99.5, "default": 0.25},
                "integer": {"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX, "default": 3},
                "boolean": {"type": "boolean", "default": true},
                "one": {"type": "string", "enum": ["a", "b"], "default": "a"},
                "named": {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]},
                "titled": {"type": "string", "oneOf": choices, "default": "a"},
                "some": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1, "maxItems": 2},
                "titled_some": {"type": "array", "items": {"anyOf": choices}, "default": ["a", "b"]},
            },
            "required": ["text", "one"],
        });
        let form = Form::parse(&form.to_string()).unwrap();
        let carried: ElicitationSchema = serde_json::from_value(form.schema().clone()).unwrap();
        assert_eq!(&serde_json::to_value(carried).unwrap(), form.schema());
        // Digits that a double has not are rounded, and the form is carried all the same.
        let digits = r#"{"type":"object","properties":{"n":{"type":"number","minimum":0.1000000000000000000001}}}"#;
        let form = Form::parse(digits).unwrap();
        assert!(serde_json::from_value::<ElicitationSchema>(form.schema().clone()).is_ok());
    }
}
