//! One call on its way, and what it asks meanwhile.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::{
    RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::Peer,
};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Shared;
use crate::{
    CallContext,
    approval::{CallAttendance, Question},
    capability::ask::{Inquiry, Presence},
    dispatch::Outcome,
    sandbox::{Control, Progress},
};

/// How far a client may lag behind with a call's progress before some of it is left out. What matters is the latest.
const PROGRESS_BACKLOG: usize = 64;

/// Who hears of a call's progress, and by what name.
pub(super) type Told = (Peer<RoleServer>, ProgressToken);

/// A call that was begun. Dropping it ends the guest.
pub(super) struct Conversation {
    /// First: the call is given up before those go whom it could ask.
    _cancel: DropGuard,
    call: JoinHandle<Outcome>,
    questions: CallAttendance,
    forms: Presence,
    progress: Reports,
}

/// What happens next in a call.
pub(super) enum Next {
    /// It ended.
    Done(Box<Outcome>),
    /// A person has to decide.
    Decide(Arc<Question>),
    /// A person has to fill a form.
    Fill(Box<Inquiry>),
}

impl Conversation {
    /// Begins a call whose client can ask a person. `cancel` ends it as well.
    pub(super) fn begin(
        shared: &Shared,
        name: String,
        arguments: String,
        context: CallContext,
        progress: Reports,
        cancel: CancellationToken,
    ) -> Self {
        let call_id = context.call_id.clone().unwrap_or_default();
        let questions = shared.host.approvals().attend_call(&call_id);
        let forms = shared.host.people().attend(&call_id);
        let control = Control { cancel: Some(cancel.clone()), progress: Some(progress.listener()) };
        let call = tokio::spawn(shared.call(name, arguments, CallContext { control, ..context }));
        Self { _cancel: cancel.drop_guard(), call, questions, forms, progress }
    }

    /// Whom to tell of progress from now on: a retry is a request of its own.
    pub(super) fn report_to(&self, told: Option<Told>) {
        self.progress.send_to(told);
    }

    /// Waits for what happens next. Dropped before it came, nothing is lost.
    pub(super) async fn next(&mut self) -> Next {
        tokio::select! {
            biased;
            outcome = &mut self.call => Next::Done(Box::new(outcome.unwrap_or_else(|why| lost(&why)))),
            question = self.questions.next() => Next::Decide(question),
            form = self.forms.next() => Next::Fill(Box::new(form)),
        }
    }

    /// Waits until all progress that was reported has been sent.
    pub(super) async fn reported(&self) {
        self.progress.sent().await;
    }
}

/// The pipeline catches panics itself, and nobody aborts the task but its owner.
fn lost(why: &tokio::task::JoinError) -> Outcome {
    let text = format!("the host lost the call: {why}");
    crate::dispatch::CallError::new(crate::dispatch::ErrorKind::Failed, &text).into()
}

/// A call's progress on its way to the client, in order.
#[derive(Clone)]
pub(super) struct Reports {
    sender: mpsc::Sender<Report>,
    to: Arc<Mutex<Option<Told>>>,
}

enum Report {
    Progress(Progress),
    /// Answered when all before it was sent.
    Mark(tokio::sync::oneshot::Sender<()>),
}

impl Reports {
    /// To whoever asked for them by a token.
    pub(super) fn to(told: Option<Told>) -> Self {
        let (sender, mut reports) = mpsc::channel(PROGRESS_BACKLOG);
        let to = Arc::new(Mutex::new(told));
        let whom = Arc::clone(&to);
        tokio::spawn(async move {
            while let Some(report) = reports.recv().await {
                match report {
                    Report::Progress(progress) => {
                        let told = whom.lock().unwrap_or_else(PoisonError::into_inner).clone();
                        if let Some((peer, token)) = told {
                            // A client that is gone is not told.
                            let _ = peer.notify_progress(param(token, &progress)).await;
                        }
                    }
                    Report::Mark(done) => drop(done.send(())),
                }
            }
        });
        Self { sender, to }
    }

    fn send_to(&self, told: Option<Told>) {
        *self.to.lock().unwrap_or_else(PoisonError::into_inner) = told;
    }

    /// Called on the guest's thread, so it never waits: what a slow client can't take is left out.
    pub(super) fn listener(&self) -> crate::sandbox::ProgressListener {
        let sender = self.sender.clone();
        Arc::new(move |progress| drop(sender.try_send(Report::Progress(progress))))
    }

    /// Waits until all that was reported has been sent.
    pub(super) async fn sent(&self) {
        let (done, sent) = tokio::sync::oneshot::channel();
        if self.sender.send(Report::Mark(done)).await.is_ok() {
            // Its task lives as long as there is a sender.
            let _ = sent.await;
        }
    }
}

fn param(token: ProgressToken, progress: &Progress) -> ProgressNotificationParam {
    #[allow(clippy::cast_precision_loss, reason = "the protocol counts in floating point")]
    let number = |n: u64| n as f64;
    let mut param = ProgressNotificationParam::new(token, number(progress.done));
    param.total = progress.total.map(number);
    param.message.clone_from(&progress.message);
    param
}
