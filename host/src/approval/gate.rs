//! The way of every question, in one place. The order is the promise: what no approval can buy is refused before anybody or
//! anything is asked, and each later step can only let pass what may be asked at all.
//!
//! ```text
//! never -> denied by pattern -> allowed -> remembered -> mode off -> reviewer -> callback or queue -> nobody: no
//! ```

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use futures_util::future::BoxFuture;

use super::{
    answer::{Answer, Bound, Scope},
    config::{Approval, Mode},
    deny::DenyRules,
    keep::Keep,
    memory::Memory,
    question::{Asker, Question, Subject},
    queue::{Outcome, Queue},
    remembered::Remembered,
    reviewer::{Review, Reviewer},
    shell::{Judgement, Surroundings, Verdict, judge},
    shown,
};

/// Somebody whom an embedder can ask. Dropping the future takes the question back.
pub trait Approver: Send + Sync {
    /// Asks. An answer that was not offered counts once.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Ruling {
    /// It runs, once.
    Passed {
        /// Who let it pass and for how long, where that was needed. For the result and the audit.
        by: Option<String>,
    },
    /// It does not run.
    Refused {
        /// Why, and what to do next. For the model.
        why: String,
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
struct Rules {
    mode: Mode,
    timeout: Duration,
    tools: BTreeSet<String>,
    deny: DenyRules,
    reviewer: Option<Reviewer>,
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("mode", &self.rules.load().mode).finish_non_exhaustive()
    }
}

impl Gate {
    /// A gate that has nobody to ask yet. The reviewer, which needs a key, is added where there is one.
    pub fn new(config: Approval) -> Self {
        Self {
            memory: Memory::new(config.allow.clone()),
            rules: ArcSwap::from_pointee(Rules::new(config, None)),
            queue: Queue::default(),
            approver: None,
            keep: None,
        }
    }

    /// With a reviewer, which the mode `smart` asks first.
    #[cfg(test)]
    pub(super) fn with_reviewer(self, reviewer: Reviewer) -> Self {
        let Rules { mode, timeout, tools, deny, .. } = &*self.rules.load_full();
        let (tools, deny) = (tools.clone(), deny.clone());
        let rules = Rules { mode: *mode, timeout: *timeout, tools, deny, reviewer: Some(reviewer) };
        Self { rules: ArcSwap::from_pointee(rules), ..self }
    }

    /// Goes by another configuration from now on. Questions that wait and what was decided for sessions stay.
    pub fn configure(&self, config: Approval, reviewer: Option<Reviewer>) {
        self.memory.set_for_good(config.allow.clone());
        self.rules.store(Arc::new(Rules::new(config, reviewer)));
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

    /// Whether every call of the tool asks.
    pub fn marks(&self, tool: &str) -> bool {
        self.rules.load().tools.contains(tool)
    }

    /// Decides about a command line. It is judged here, so that no judgement of another text can come with it. The caller must
    /// run this very text in these very surroundings, whatever the task did while a person thought.
    pub async fn command(&self, asker: &Asker, command: &str, surroundings: &Surroundings) -> Ruling {
        let judgement = judge(command, surroundings);
        if let Some(pattern) = self.rules.load().deny.denies(command, &judgement) {
            let why = format!(
                "the operator denies commands like {pattern:?}; do it without, or ask the operator to change approval.deny"
            );
            return Ruling::Refused { why };
        }
        let verdict = judgement.verdict;
        let exact = verdict == Verdict::Ask && says_all(command, surroundings, &judgement);
        let directory = surroundings.directory.clone();
        let subject = Subject::Command { command: command.to_owned(), directory, judgement };
        match verdict {
            Verdict::Never => {
                let why = shown::summary(&subject);
                Ruling::Refused {
                    why: format!("this is never run, and no approval changes that: {why}; reach the goal without it"),
                }
            }
            Verdict::Allow => Ruling::Passed { by: None },
            Verdict::Ask => self.decide(asker, subject, exact).await,
        }
    }

    /// Decides about a call of any tool: one that the operator marked, or one that hooks want decided, with their reasons. Without
    /// either it passes.
    pub async fn call(&self, asker: &Asker, arguments: &str, reasons: &[String]) -> Ruling {
        let mut reasons = reasons.to_vec();
        if self.marks(&asker.tool) {
            reasons.push("the operator wants to be asked about every call of this tool".into());
        }
        if reasons.is_empty() {
            return Ruling::Passed { by: None };
        }
        self.decide(asker, Subject::Call { arguments: arguments.to_owned(), reasons }, true).await
    }

    /// What may be asked.
    async fn decide(&self, asker: &Asker, subject: Subject, exact: bool) -> Ruling {
        match self.memory.knows(asker, &subject, exact) {
            Some(Scope::Always) => return passed("allowed for good by the configuration"),
            Some(_) => return passed("approved earlier for this session"),
            None if self.rules.load().mode == Mode::Off => return passed("approval is off"),
            None => {}
        }
        if let Subject::Command { command, .. } = &subject
            && !shown::fits(command)
        {
            let why = "it needs a person's approval and is too long to be shown to one; write long text to a file with a file \
                       tool, or split the command";
            return Ruling::Refused { why: why.into() };
        }
        let note = match self.review(&subject).await {
            Review::Approve => return passed("approved once by the reviewer"),
            Review::Deny => Some("the reviewer refused".to_owned()),
            Review::Escalate => None,
        };
        match Question::new(asker.clone(), subject, exact, self.rules.load().timeout) {
            Ok(question) => self.ask(question.with_note(note)).await,
            Err(why) => Ruling::Refused { why: format!("it needs a person's approval, but {why}") },
        }
    }

    /// Only commands are reviewed: who marks a tool wants to be asked. What could not be read for what it does is not reviewed
    /// either, since the reviewer reads the same text.
    async fn review(&self, subject: &Subject) -> Review {
        let rules = self.rules.load_full();
        match (rules.mode, &rules.reviewer, subject) {
            (Mode::Smart, Some(reviewer), Subject::Command { command, directory, judgement }) => {
                let categories: Vec<_> = judgement.reasons.iter().map(|reason| reason.category).collect();
                if categories.iter().any(|category| category.is_unreadable()) {
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
            answer.map_or(Outcome::Expired, Outcome::Answered)
        } else if self.queue.is_attended() {
            self.queue.put(question.clone()).await
        } else {
            return refused(
                &question,
                "there is nobody to ask",
                "leave it out, or ask the operator to allow it in hermes.toml",
            );
        };
        match outcome {
            Outcome::Answered(Answer::Approve { scope, bound }) => self.approved(&question, scope, bound).await,
            Outcome::Answered(Answer::Refuse { reason }) => {
                let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
                refused(&question, &format!("the operator refused{reason}"), "do not try it again in other words")
            }
            Outcome::Expired => {
                let silence = format!("nobody answered within {} s", question.timeout().as_secs());
                refused(&question, &silence, "go on without it, or try again when somebody is there")
            }
            Outcome::Full => refused(&question, "too many questions wait already", "try again when some are answered"),
        }
    }

    /// Remembers an approval for as long as it holds. This run passes whatever becomes of that, and the text says what did.
    async fn approved(&self, question: &Question, scope: Scope, bound: Bound) -> Ruling {
        let word = Answer::Approve { scope, bound }.word();
        if !question.choices().contains(&word) {
            return passed(&format!("approved once by the operator; {word} is not possible here"));
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
                for entry in entries {
                    if let Err(why) = self.keep(&entry).await {
                        let text = format!("approved once by the operator; it could not be kept for good: {why}");
                        return passed(&text);
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
        passed(&format!("approved {scope} by the operator{kind}"))
    }

    async fn keep(&self, entry: &Remembered) -> Result<(), String> {
        let keep = Arc::clone(self.keep.as_ref().ok_or("this host writes no configuration")?);
        let entry = entry.clone();
        tokio::task::spawn_blocking(move || keep.keep(&entry)).await.unwrap_or_else(|_| Err("writing it failed".into()))
    }
}

impl Rules {
    fn new(config: Approval, reviewer: Option<Reviewer>) -> Self {
        Self {
            mode: config.mode,
            timeout: config.timeout,
            tools: config.tools.into_iter().collect(),
            deny: config.deny,
            reviewer,
        }
    }
}

/// Whether a command's text and directory say all of what it does. Where it also depends on what the task exported or aliased, the
/// same text can do something else tomorrow, and so it can where it is given something to read: `rm -rf $X`, approved for one X, must not pass for another. Such a command is
/// approved once, or by its kind, which is judged anew each time.
fn says_all(command: &str, surroundings: &Surroundings, judgement: &Judgement) -> bool {
    let Surroundings { directory, variables, aliases, input, .. } = surroundings;
    if directory.is_none() || input.is_some() {
        return false;
    }
    if variables.is_empty() && aliases.is_empty() {
        return true;
    }
    // Also where the judgement does not look: in the text that an interpreter is fed.
    let mut words = command.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let bare = Surroundings { variables: Default::default(), aliases: Default::default(), ..surroundings.clone() };
    !words.any(|word| variables.contains_key(word)) && judge(command, &bare) == *judgement
}

fn passed(by: &str) -> Ruling {
    Ruling::Passed { by: Some(by.to_owned()) }
}

fn refused(question: &Question, what: &str, next: &str) -> Ruling {
    let note = question.note().map_or_else(String::new, |note| format!("{note}, and "));
    let reasons = shown::summary(question.subject());
    Ruling::Refused { why: format!("it needs a person's approval ({reasons}), {note}{what}; {next}") }
}
