//! The way of every question, in one place. The order is the promise: what no approval can buy is refused before anybody or
//! anything is asked, and each later step can only let pass what may be asked at all.
//!
//! ```text
//! never -> denied by pattern -> allowed -> remembered -> mode off -> reviewer -> callback or queue -> nobody: no
//! ```

use std::{fmt, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use futures_util::future::BoxFuture;

use super::{
    answer::{Answer, Bound, REASON_BYTES, Scope},
    config::{Approval, Mode},
    deny::DenyRules,
    disk::judge_on_disk,
    keep::Keep,
    memory::Memory,
    question::{Asker, CallExtent, Question, Subject},
    queue::{Outcome, Queue},
    remembered::{Remembered, digest},
    reviewer::{Review, Reviewer},
    shell::{Category, Judgement, Reason, Surroundings, Verdict, judge},
    shown,
};
use crate::capability::{
    DecidedBy,
    terminal::{Escalation, EscalationKind},
};

/// Somebody whom an embedder can ask. Dropping the future takes the question back.
pub trait Approver: Send + Sync {
    /// Asks. An answer that was not offered counts once.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;

    /// Where the answers come from, for the audit.
    fn place(&self) -> DecidedBy {
        DecidedBy::Program
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Ruling {
    /// It runs, once.
    Passed {
        /// Who let it pass and for how long, where that was needed. For the result and the audit.
        by: Option<String>,
        /// Who let it pass, where that was needed.
        decided: Option<DecidedBy>,
    },
    /// It does not run.
    Refused {
        /// Why, and what to do next. For the model.
        why: String,
        /// Who refused it.
        decided: DecidedBy,
    },
}

/// Decides about commands and calls.
pub struct Gate {
    rules: ArcSwap<Rules>,
    memory: Memory,
    queue: Queue,
    approver: Option<Arc<dyn Approver>>,
    keep: Option<Arc<dyn Keep>>,
}

/// What the configuration says, beside what it remembers.
#[derive(Clone)]
struct Rules {
    mode: Mode,
    timeout: Duration,
    deny: DenyRules,
    reviewer: Option<Reviewer>,
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("mode", &self.rules.load().mode).finish_non_exhaustive()
    }
}

impl Gate {
    /// A gate that has nobody to ask yet.
    pub fn new(config: Approval) -> Self {
        Self {
            memory: Memory::new(config.allow.clone()),
            rules: ArcSwap::from_pointee(Rules::new(config, None)),
            queue: Queue::default(),
            approver: None,
            keep: None,
        }
    }

    /// Goes by another configuration from now on, and asks this reviewer first where the mode is `smart`. Questions that wait and
    /// what was decided for sessions stay.
    pub fn configure(&self, config: Approval, reviewer: Option<Reviewer>) {
        self.memory.set_for_good(config.allow.clone());
        self.rules.store(Arc::new(Rules::new(config, reviewer)));
    }

    /// With a reviewer.
    #[cfg(test)]
    pub(super) fn with_reviewer(self, reviewer: Reviewer) -> Self {
        let rules = Rules { reviewer: Some(reviewer), ..Rules::clone(&self.rules.load()) };
        Self { rules: ArcSwap::from_pointee(rules), ..self }
    }

    /// With somebody who is asked instead of the queue.
    pub fn with_approver(self, approver: Arc<dyn Approver>) -> Self {
        Self { approver: Some(approver), ..self }
    }

    /// With a place for decisions that hold for good.
    pub fn with_keep(self, keep: Arc<dyn Keep>) -> Self {
        Self { keep: Some(keep), ..self }
    }

    /// The questions that wait for a person.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// What was decided before.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Decides about a command line. It is judged here, so that no judgement of another text can come with it. The caller must
    /// run this very text in these very surroundings, whatever the task did while a person thought.
    /// An escalation that the operator does not let pass by itself is put to a person, whatever the text says.
    pub async fn command(
        &self,
        asker: &Asker,
        command: &str,
        surroundings: &Surroundings,
        escalation: Option<&Escalation>,
    ) -> Ruling {
        let mut judgement = judge_on_disk(command, surroundings);
        if let Some(why) = self.forbids(command, &judgement) {
            return Ruling::Refused { why, decided: DecidedBy::Rules };
        }
        if let Some(escalation) = escalation.filter(|escalation| !escalation.is_allowed) {
            judgement.verdict = Verdict::Ask;
            judgement.reasons.insert(0, Reason { category: Category::Escalation, detail: wish(escalation) });
        }
        if judgement.verdict == Verdict::Allow {
            return Ruling::Passed { by: None, decided: None };
        }
        // What it is given to read is as much part of what is approved as its own words.
        let command = match &surroundings.input {
            Some(input) => format!("{command}\n# and it reads:\n{input}"),
            None => command.to_owned(),
        };
        let (directory, exports) = (surroundings.directory.clone(), exports(surroundings, escalation));
        self.decide(asker, Subject::Command { command, directory, exports, judgement }).await
    }

    /// Decides about what is written to a process that runs what it reads, after all that was written before. Confined, it is judged like
    /// a command. Unconfined, the state of the process is not known, so a person is asked every time. Nothing of it is remembered.
    pub async fn line(&self, asker: &Asker, before: &str, line: &str, surroundings: &Surroundings) -> Ruling {
        let whole = format!("{before}{line}");
        let (mut judgement, alone) = (judge(&whole, surroundings), judge(line, surroundings));
        if let Some(why) = self.forbids(&whole, &judgement).or_else(|| self.forbids(line, &alone)) {
            return Ruling::Refused { why, decided: DecidedBy::Rules };
        }
        if surroundings.is_confined && [judgement.verdict, alone.verdict] == [Verdict::Allow; 2] {
            return Ruling::Passed { by: None, decided: None };
        }
        judgement.verdict = Verdict::Ask;
        let detail = "it is written to a process that runs what it reads".to_owned();
        judgement.reasons.push(Reason { category: Category::PipedCode, detail });
        let subject = Subject::Command { command: line.to_owned(), directory: None, exports: None, judgement };
        self.decide(asker, subject).await
    }

    /// Why nobody can approve a command: it is never run, or the operator denies it.
    pub(super) fn forbids(&self, command: &str, judgement: &Judgement) -> Option<String> {
        if judgement.verdict == Verdict::Never {
            let reasons = shown::reasons(judgement);
            return Some(format!(
                "this is never run, and no approval changes that: {reasons}; reach the goal without it"
            ));
        }
        let rules = self.rules.load();
        let pattern = rules.deny.denies(command, judgement)?;
        let next = "do it without, or ask the operator to change approval.deny";
        Some(format!("the operator denies commands like {pattern:?}; {next}"))
    }

    /// Decides about a call of any tool that the policy or hooks want decided, with their reasons. Without any it passes.
    pub async fn call(&self, asker: &Asker, arguments: &str, reasons: Vec<String>, extent: CallExtent) -> Ruling {
        if reasons.is_empty() {
            return Ruling::Passed { by: None, decided: None };
        }
        self.decide(asker, Subject::Call { arguments: arguments.to_owned(), reasons, extent }).await
    }

    /// Decides about the change of files that other programs obey, by their real paths, with what obeys each. An answer that holds longer
    /// holds for exactly these files and this tool, whatever is written to them.
    pub(super) async fn changes(&self, asker: &Asker, paths: &[String], reasons: Vec<String>) -> Ruling {
        // Commands that write the same files pass then, too.
        if self.rules.load().mode == Mode::Off {
            return passed("approval is off", DecidedBy::Configuration);
        }
        // A list, so that no call's own arguments, which are an object, can pass for it in the memory.
        let arguments = serde_json::json!(["change files that other programs obey", paths]).to_string();
        self.decide(asker, Subject::Call { arguments, reasons, extent: CallExtent::SameArguments }).await
    }

    /// What may be asked.
    async fn decide(&self, asker: &Asker, subject: Subject) -> Ruling {
        match self.memory.knows(asker, &subject) {
            Some(Scope::Always) => return passed("allowed for good by the configuration", DecidedBy::Configuration),
            Some(_) => return passed("approved earlier for this session", DecidedBy::Session),
            // Only commands: who marked a tool, or has a hook that asks, wants to be asked.
            // Not for an escalation either: `unconfined = "allow"` says that.
            None if self.rules.load().mode == Mode::Off && is_plain_command(&subject) => {
                return passed("approval is off", DecidedBy::Configuration);
            }
            None => {}
        }
        if let Subject::Command { command, .. } = &subject
            && !shown::fits(command)
        {
            let why = "it needs a person's approval and is too long to be shown to one; write long text to a file with a file \
                       tool, or split the command";
            return Ruling::Refused { why: why.into(), decided: DecidedBy::Rules };
        }
        let note = match self.review(&subject).await {
            Review::Approve => return passed("approved once by the reviewer", DecidedBy::Reviewer),
            Review::Deny => Some("the reviewer refused".to_owned()),
            Review::Escalate => None,
        };
        match Question::new(asker.clone(), subject, self.rules.load().timeout) {
            Ok(question) => self.ask(question.with_note(note)).await,
            Err(why) => {
                Ruling::Refused { why: format!("it needs a person's approval, but {why}"), decided: DecidedBy::Nobody }
            }
        }
    }

    /// Only commands are reviewed: who marks a tool wants to be asked. What could not be read for what it does is not reviewed
    /// either, since the reviewer reads the same text.
    async fn review(&self, subject: &Subject) -> Review {
        let rules = self.rules.load_full();
        match (rules.mode, &rules.reviewer, subject) {
            (Mode::Smart, Some(reviewer), Subject::Command { command, directory, judgement, .. }) => {
                let categories: Vec<_> = judgement.reasons.iter().map(|reason| reason.category).collect();
                // An escalation is a person's to decide: the reason is the model's own.
                if categories.iter().any(|category| category.is_unreadable() || *category == Category::Escalation) {
                    return Review::Escalate;
                }
                reviewer.review(command, directory.as_deref(), &categories).await
            }
            _ => Review::Escalate,
        }
    }

    /// Asks whoever can be asked. Nobody means no, and so does silence.
    async fn ask(&self, question: Question) -> Ruling {
        let outcome = if let Some(approver) = &self.approver {
            let answer = tokio::time::timeout(question.timeout(), approver.ask(&question)).await;
            answer.map_or(Outcome::Expired, |answer| Outcome::Answered(answer, approver.place()))
        } else if self.queue.is_attended_for(&question.asker().call) {
            self.queue.put(question.clone()).await
        } else {
            let options = self.keep.as_ref().map_or_else(String::new, |keep| keep.options());
            // A change of files is named by a list: its refusal says the paths, and many of them come in one result.
            let is_named =
                !matches!(question.subject(), Subject::Call { arguments, .. } if !arguments.starts_with('{'));
            let exactly = Remembered::exactly(question.asker(), question.subject()).filter(|_| is_named);
            let next = match exactly.and_then(|exactly| exactly.allow_command(&options)) {
                Some(command) => format!("leave it out, or ask the operator to allow it by running: {command}"),
                None => "leave it out, or ask the operator to allow it in hermes.toml".to_owned(),
            };
            return refused(&question, "there is nobody to ask", &next, DecidedBy::Nobody);
        };
        match outcome {
            Outcome::Answered(Answer::Approve { scope, bound }, by) => self.approved(&question, scope, bound, by).await,
            Outcome::Answered(Answer::Refuse { reason }, by) => {
                let reason =
                    reason.map_or_else(String::new, |reason| format!(": {}", shown::one_line(&reason, REASON_BYTES)));
                refused(&question, &format!("the operator refused{reason}"), "do not try it again in other words", by)
            }
            Outcome::Expired => {
                let silence = format!("nobody answered within {} s", question.timeout().as_secs());
                refused(&question, &silence, "go on without it, or try again when somebody is there", DecidedBy::Nobody)
            }
            Outcome::Full => {
                let next = "try again when some are answered";
                refused(&question, "too many questions wait already", next, DecidedBy::Nobody)
            }
        }
    }

    /// Remembers an approval for as long as it holds. This run passes whatever becomes of that, and the text says what did.
    async fn approved(&self, question: &Question, scope: Scope, bound: Bound, by: DecidedBy) -> Ruling {
        let word = Answer::Approve { scope, bound }.word();
        if !question.choices().contains(&word) {
            return passed(&format!("approved once by the operator; {word} is not possible here"), by);
        }
        let (asker, subject) = (question.asker(), question.subject());
        let entries = match bound {
            Bound::Command => Remembered::exactly(asker, subject).into_iter().collect(),
            Bound::Category => Remembered::kind(asker, subject),
        };
        match scope {
            Scope::Once => {}
            Scope::Session => {
                let session = asker.session.as_deref().unwrap_or_default();
                entries.into_iter().for_each(|entry| self.memory.add_to_session(session, entry));
            }
            Scope::Always => {
                let count = entries.len();
                for (kept, entry) in entries.into_iter().enumerate() {
                    if let Err(why) = self.keep(&entry).await {
                        return passed(
                            &format!(
                                "approved once by the operator; {kept} of {count} entries could be kept for good: {why}"
                            ),
                            by,
                        );
                    }
                    self.memory.add_for_good(entry);
                }
            }
        }
        let kind = match (scope, bound, subject) {
            (Scope::Once, ..) | (_, Bound::Command, _) => "",
            (_, Bound::Category, Subject::Command { .. }) => ", for all commands of its kind",
            (_, Bound::Category, Subject::Call { .. }) => ", for all calls of this tool",
        };
        passed(&format!("approved {scope} by the operator{kind}"), by)
    }

    async fn keep(&self, entry: &Remembered) -> Result<(), String> {
        let keep = Arc::clone(self.keep.as_ref().ok_or("this host writes no configuration")?);
        let entry = entry.clone();
        tokio::task::spawn_blocking(move || keep.keep(&entry)).await.unwrap_or_else(|_| Err("writing it failed".into()))
    }
}

impl Rules {
    fn new(config: Approval, reviewer: Option<Reviewer>) -> Self {
        Self { mode: config.mode, timeout: config.timeout, deny: config.deny, reviewer }
    }
}

/// The digest of what the task exported and aliased before, each name and value told apart by its length, and of what the command
/// asks for beyond the sandbox: an approval of the confined command is none of the escalated one.
fn exports(surroundings: &Surroundings, escalation: Option<&Escalation>) -> Option<String> {
    let Surroundings { variables, aliases, .. } = surroundings;
    let mut bytes = Vec::new();
    for (kind, names) in [(b'v', variables), (b'a', aliases)] {
        for text in names.iter().flat_map(|(name, value)| [name, value]) {
            bytes.push(kind);
            bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
    }
    if let Some(escalation) = escalation {
        bytes.push(b'e');
        bytes.extend_from_slice(escalation.to.to_string().as_bytes());
    }
    (!bytes.is_empty()).then(|| digest(&bytes))
}

/// A command that asks for nothing beyond its confinement.
fn is_plain_command(subject: &Subject) -> bool {
    match subject {
        Subject::Command { judgement, .. } => {
            !judgement.reasons.iter().any(|reason| reason.category == Category::Escalation)
        }
        _ => false,
    }
}

/// What a command asks for, with the reason marked as the model's.
fn wish(escalation: &Escalation) -> String {
    let to = match escalation.to {
        EscalationKind::Network => "asks for the network",
        EscalationKind::Unconfined => "asks to run outside the sandbox",
    };
    format!("{to}; the model says: “{}”", shown::one_line(&escalation.reason, REASON_BYTES))
}

fn passed(by: &str, decided: DecidedBy) -> Ruling {
    Ruling::Passed { by: Some(by.to_owned()), decided: Some(decided) }
}

fn refused(question: &Question, what: &str, next: &str, decided: DecidedBy) -> Ruling {
    let note = question.note().map_or_else(String::new, |note| format!("{note}, and "));
    let reasons = shown::summary(question.subject());
    Ruling::Refused { why: format!("it needs a person's approval ({reasons}), {note}{what}; {next}"), decided }
}
