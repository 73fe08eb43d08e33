//! Commands of the terminal before the gate.

use futures_util::future::BoxFuture;

use super::{
    gate::{Gate, Ruling},
    question::Asker,
    shell::{Category, Surroundings, Verdict, judge},
};
use crate::capability::terminal::{Decider, Passed, Planned};

impl Decider for Gate {
    fn decide<'a>(&'a self, planned: Planned<'a>) -> BoxFuture<'a, Result<Passed, String>> {
        Box::pin(async move {
            let surroundings = surroundings(&planned);
            let judgement = judge(planned.text, &surroundings);
            let reads_code = judgement.reasons.iter().any(|reason| reason.category == Category::PipedCode);
            // The operator's grant names the program and its arguments: that is an approval, and it can't buy what none can.
            if planned.is_granted && judgement.verdict != Verdict::Never {
                return Ok(Passed { by: None, reads_code });
            }
            let asker = Asker {
                tool: planned.tool.to_owned(),
                component: planned.component.to_owned(),
                task: planned.task.map(str::to_owned),
                session: planned.session.map(str::to_owned),
            };
            match self.command(&asker, planned.text, &surroundings).await {
                Ruling::Passed { by } => Ok(Passed { by, reads_code }),
                Ruling::Refused { why } => Err(why),
            }
        })
    }
}

/// What is known of the place that a command would run in. What is no text is not known.
fn surroundings(planned: &Planned<'_>) -> Surroundings {
    let text = |path: &std::path::Path| path.to_str().map(str::to_owned);
    let variables = planned.variables.iter();
    Surroundings {
        directory: text(planned.directory),
        home: planned.here.and_then(|here| text(here.home?)),
        workspace: planned.here.and_then(|here| text(here.workspace)),
        variables: variables
            .filter_map(|(name, value)| Some((name.to_str()?.into(), value.to_str()?.into())))
            .collect(),
        input: planned.input.map(|input| String::from_utf8_lossy(input).into_owned()),
        ..Surroundings::default()
    }
}
