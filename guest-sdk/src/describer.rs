//! Tools that describe themselves anew when their surroundings change.

pub use crate::bindings::describer::exports::hermes::tool::describer::{Redescription, Surroundings};
use crate::{Schema, Tool, export::report_panics};

/// What `describe` in [`export!`](crate::export!) names.
pub(crate) type Describe = fn(&Surroundings) -> Vec<Redescription>;

/// Answers the export `describe`.
pub fn describe(describe: Describe, surroundings: &Surroundings) -> Vec<Redescription> {
    report_panics();
    describe(surroundings)
}

impl Surroundings {
    /// Whether the model is offered the named tool.
    pub fn offer(&self, tool: &str) -> bool {
        self.tools.iter().any(|name| name == tool)
    }
}

impl Redescription {
    /// The tool as it was registered: the beginning of what is different.
    pub fn of(tool: Tool) -> Self {
        Self { name: tool.name.to_owned(), description: None, parameters: None }
    }

    /// Another description for the model.
    pub fn description(self, text: impl Into<String>) -> Self {
        Self { description: Some(text.into()), ..self }
    }

    /// Other arguments for the model: the schema of a type marked `#[args]`. Calls are still held against the one that was
    /// registered, so this one should allow no more than that.
    pub fn parameters<T: Schema>(self) -> Self {
        Self { parameters: Some(crate::schema::text::<T>()), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hints, NoArgs};

    #[test]
    fn what_is_not_said_stays_as_registered() {
        let tool = Tool {
            name: "search",
            description: "Finds pages.",
            emoji: None,
            required_env: &[],
            max_result_size: None,
            hints: Hints::default(),
            check: None,
            parameters: crate::schema::text::<NoArgs>,
            output: || None,
            handle: |_| Ok(vec![]),
        };
        let same = Redescription { name: "search".into(), description: None, parameters: None };
        assert_eq!(Redescription::of(tool), same);
        let parameters = Redescription::of(tool).parameters::<NoArgs>().parameters;
        assert_eq!(parameters.as_deref(), Some(r#"{"type":"object","properties":{}}"#));
        assert_eq!(Redescription::of(tool).description("Other.").parameters, None);
    }
}
