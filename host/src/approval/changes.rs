//! Changes of files that other programs obey before the gate.

use futures_util::future::BoxFuture;

use super::{
    gate::{Gate, Ruling},
    question::Asker,
};
use crate::capability::{
    DecidedBy,
    fs::{ChangeDecider, PlannedChanges},
    terminal::NotPassed,
};

impl ChangeDecider for Gate {
    fn decide_changes<'a>(&'a self, planned: PlannedChanges<'a>) -> BoxFuture<'a, Result<DecidedBy, NotPassed>> {
        Box::pin(async move {
            let caller = planned.caller;
            let asker = Asker {
                tool: caller.tool.clone(),
                component: planned.component.to_owned(),
                call: caller.call.clone(),
                task: caller.task.clone(),
                session: caller.session.clone(),
            };
            let files = planned.files.iter();
            let paths: Vec<String> = files.clone().map(|file| file.path.display().to_string()).collect();
            let reason = |(file, path): (&crate::capability::fs::ObeyedChange, &String)| {
                format!("{path} is obeyed by {}: {}", file.row.program, file.row.why)
            };
            let mut reasons: Vec<String> = files.zip(&paths).map(reason).collect();
            if !planned.preview.is_empty() {
                reasons.push(format!("it would write: {}", planned.preview));
            }
            match self.changes(&asker, &paths, reasons).await {
                // A change is always decided about by somebody.
                Ruling::Passed { decided, .. } => Ok(decided.unwrap_or(DecidedBy::Configuration)),
                Ruling::Refused { why, decided } => Err(NotPassed { why, by: decided }),
            }
        })
    }
}
