//! A `tools/call`, from the request to its answer, with what is asked in between.

use std::{sync::Arc, time::Instant};

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequest, InputRequests,
        InputRequiredResult, InputResponses, LoggingLevel, LoggingMessageNotificationParam, Request,
    },
    service::RequestContext,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    Shared,
    conversation::{Conversation, Next, Reports, Told},
    elicit::elicit,
    question::{self, Asked, NoAnswer},
    result::result,
    waiting::{Begun, Waits, binding},
};
use crate::{
    CallContext,
    approval::Answer,
    capability::DecidedBy,
    dispatch::{ErrorKind, Outcome, ResultForm},
    registry::{Entry, TOOL_CALL, TOOL_DESCRIBE},
    sandbox::{Control, Level},
};

/// How often a client may send something that is no answer before its person counts as one who can't be asked.
const TRIES: usize = 3;

/// One request of a client.
pub(super) struct Caller<'a> {
    pub(super) shared: &'a Shared,
    pub(super) context: &'a RequestContext<RoleServer>,
    /// Whether it is of 2026-07-28 or later.
    pub(super) is_current: bool,
    /// Whether the client is there beyond this request, so that it could answer one of ours.
    pub(super) stays: bool,
    /// From which level on it wants the tool's log.
    pub(super) level: Option<LoggingLevel>,
}

/// What is called.
pub(super) struct Called {
    name: String,
    /// As it was when the call began: a running call ends on its old code, and its result is what that code promised.
    entry: Option<Arc<Entry>>,
    /// What the operator wanted when the call began.
    form: ResultForm,
}

impl Caller<'_> {
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        origin: CallContext,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams { name, arguments, input_responses, request_state, .. } = request;
        let (name, responses) = (name.into_owned(), input_responses.unwrap_or_default());
        let arguments = arguments.map_or_else(|| "{}".into(), |arguments| Value::Object(arguments).to_string());
        if request_state.is_some() && !(self.is_current && self.can_ask()) {
            let why = "requestState is for clients of 2026-07-28 and later that take elicitation; call the tool again without it";
            return Err(ErrorData::invalid_params(why, None));
        }
        if !self.can_ask() {
            return self.call_alone(name, arguments, origin).await;
        }
        if !self.is_current {
            // A child: who gives the call up ends it before the question is taken back.
            let (called, conversation) = self.begin(name, arguments, origin, self.context.ct.child_token());
            return self.talk(called, conversation).await;
        }
        let binding = binding(&name, &arguments);
        match request_state {
            Some(state) => self.resume(&binding, &state, &responses).await,
            None => {
                // No child: the call outlives this request if it has to wait.
                let (called, conversation) = self.begin(name, arguments, origin, CancellationToken::new());
                self.go_on(Begun::new(conversation, called, binding), &responses).await
            }
        }
    }

    /// Whether the client can put a form before somebody, and bring the answer: before 2026-07-28 it needs a connection or a session for
    /// that. It says nothing of kinds of forms where it knows but one.
    fn can_ask(&self) -> bool {
        let capabilities = self.context.client_capabilities();
        let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
        let shows_forms =
            elicitation.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none());
        shows_forms && (self.is_current || self.stays)
    }

    fn told(&self) -> Option<Told> {
        let token = self.context.meta.get_progress_token()?;
        Some((self.context.peer.clone(), token))
    }

    fn called(&self, name: String) -> Called {
        let entry = self.shared.host.catalogue().get(&name).cloned();
        Called { name, entry, form: self.shared.host.result_form() }
    }

    fn begin(
        &self,
        name: String,
        arguments: String,
        origin: CallContext,
        cancel: CancellationToken,
    ) -> (Called, Conversation) {
        let (called, reports) = (self.called(name.clone()), Reports::to(self.told()));
        let conversation = Conversation::begin(self.shared, name, arguments, origin, reports, cancel);
        (called, conversation)
    }

    /// A call of a client that can't be asked anything.
    async fn call_alone(
        &self,
        name: String,
        arguments: String,
        origin: CallContext,
    ) -> Result<CallToolResponse, ErrorData> {
        let called = self.called(name.clone());
        let reports = self.told().map(|told| Reports::to(Some(told)));
        let control =
            Control { cancel: Some(self.context.ct.clone()), progress: reports.as_ref().map(Reports::listener) };
        let outcome = self.shared.call(name, arguments, CallContext { control, ..origin }).await;
        if let Some(reports) = reports {
            reports.sent().await;
        }
        self.finish(&called, &outcome).await
    }

    /// Goes on with a call that waited, once its answer fits.
    async fn resume(
        &self,
        binding: &[u8],
        state: &str,
        responses: &InputResponses,
    ) -> Result<CallToolResponse, ErrorData> {
        let waits = self.shared.waiting.take(&self.shared.seal, binding, state);
        let Waits { begun, asked, until } = waits.map_err(|why| ErrorData::invalid_params(why.to_string(), None))?;
        begun.conversation.report_to(self.told());
        let Some(response) = responses.get(asked.key()) else {
            return self.wait(Waits { begun, asked, until }, None).await;
        };
        match self.pass(asked, response) {
            Ok(()) => self.go_on(begun, &InputResponses::new()).await,
            Err(NoAnswer { asked, why }) => self.wait(Waits { begun, asked, until }, Some(&why)).await,
        }
    }

    fn pass(&self, asked: Asked, response: &Value) -> Result<(), NoAnswer> {
        match question::read(response) {
            Ok(answer) => asked.answer(&self.shared.host, answer),
            Err(why) => Err(NoAnswer { asked, why }),
        }
    }

    /// Until the call ends or asks. A client may have answered a tool's question beforehand, by its name; the host's own questions are
    /// answered by whoever was asked.
    async fn go_on(&self, mut begun: Begun, given: &InputResponses) -> Result<CallToolResponse, ErrorData> {
        loop {
            let (asked, complaint) = match self.next(&mut begun.conversation).await? {
                Next::Done(outcome) => {
                    begun.conversation.reported().await;
                    return self.finish(&begun.called, &outcome).await;
                }
                Next::Decide(question) => (Asked::Decide(question), None),
                Next::Fill(inquiry) => match given.get(&inquiry.name) {
                    None => (Asked::Fill(inquiry), None),
                    Some(response) => match self.pass(Asked::Fill(inquiry), response) {
                        Ok(()) => continue,
                        Err(NoAnswer { asked, why }) => (asked, Some(why)),
                    },
                },
            };
            if asked.params(None).is_some() {
                let until = Instant::now() + asked.time();
                return self.wait(Waits { begun, asked, until }, complaint.as_deref()).await;
            }
            // Dropped: the tool hears that nobody can be asked this.
        }
    }

    /// Answers with what is missing, and keeps the call for the retry.
    async fn wait(&self, waits: Waits, complaint: Option<&str>) -> Result<CallToolResponse, ErrorData> {
        let Some(params) = waits.asked.params(complaint) else {
            return Err(ErrorData::internal_error("the question can't be carried by the protocol", None));
        };
        // What it did before it asked is told before this answer, which ends the request.
        self.unless_given_up(waits.begun.conversation.reported()).await?;
        let (key, tool) = (waits.asked.key().to_owned(), waits.begun.called.name.clone());
        let Some(state) = self.shared.waiting.keep(&self.shared.seal, waits) else {
            let why = format!("{tool} was ended: too many calls wait for an answer already; try again later");
            return Ok(CallToolResult::error(vec![ContentBlock::text(why)]).into());
        };
        let requests = InputRequests::from([(key, InputRequest::Elicitation(Request::new(params)))]);
        Ok(InputRequiredResult::new(Some(requests), Some(state)).into())
    }

    /// The same with a client before 2026-07-28, which is asked while its call is open.
    async fn talk(&self, called: Called, mut conversation: Conversation) -> Result<CallToolResponse, ErrorData> {
        let mut next = self.next(&mut conversation).await?;
        loop {
            let asked = match next {
                Next::Done(outcome) => {
                    conversation.reported().await;
                    return self.finish(&called, &outcome).await;
                }
                Next::Decide(question) => Asked::Decide(question),
                Next::Fill(inquiry) => Asked::Fill(inquiry),
            };
            // Before the question: a client that answers at once may have forgotten the call when its progress comes.
            conversation.reported().await;
            next = tokio::select! {
                biased;
                // An answer that comes with it is too late: what nobody wants any more is not approved.
                () = self.context.ct.cancelled() => return Err(given_up()),
                () = self.ask(asked) => self.next(&mut conversation).await?,
                // It was settled elsewhere, or its time is over.
                next = self.next(&mut conversation) => next?,
            };
        }
    }

    /// Asks until there is an answer. A client that can't is as good as nobody.
    async fn ask(&self, mut asked: Asked) {
        let mut complaint: Option<String> = None;
        for _ in 0..TRIES {
            let Some(params) = asked.params(complaint.as_deref()) else { break };
            let Some(result) = elicit(&self.context.peer, params, asked.time()).await else { break };
            if self.context.ct.is_cancelled() {
                break;
            }
            match asked.answer(&self.shared.host, result) {
                Ok(()) => return,
                Err(NoAnswer { asked: again, why }) => (asked, complaint) = (again, Some(why)),
            }
        }
        if let Asked::Decide(question) = asked {
            // Somebody else may have answered meanwhile: then this is too late, and means nothing.
            let refusal = Answer::refuse("the client gave no answer");
            let _ = self.shared.host.approvals().answer_from(question.id(), refusal, DecidedBy::Nobody);
        }
    }

    async fn next(&self, conversation: &mut Conversation) -> Result<Next, ErrorData> {
        self.unless_given_up(conversation.next()).await
    }

    async fn unless_given_up<T>(&self, coming: impl Future<Output = T>) -> Result<T, ErrorData> {
        tokio::select! {
            biased;
            () = self.context.ct.cancelled() => Err(given_up()),
            come = coming => Ok(come),
        }
    }

    async fn finish(&self, called: &Called, outcome: &Outcome) -> Result<CallToolResponse, ErrorData> {
        self.send_log(&called.name, outcome).await;
        // The host's own tools are there: a name that they do not find is the model's mistake, and it must read of it.
        let is_there = [TOOL_CALL, TOOL_DESCRIBE].contains(&called.name.as_str());
        match &outcome.result {
            Err(error) if error.kind == ErrorKind::UnknownTool && !is_there => {
                Err(ErrorData::invalid_params(error.message.clone(), None))
            }
            _ => {
                // A tool that was still being compiled when the call began.
                let late = || self.shared.host.catalogue().get(&called.name).cloned();
                let entry = called.entry.clone().or_else(late);
                Ok(result(outcome, entry.as_deref(), self.is_current, called.form).into())
            }
        }
    }

    /// What the tool logged, to a client that wants it.
    async fn send_log(&self, tool: &str, outcome: &Outcome) {
        let Some(wanted) = self.level else { return };
        for line in &outcome.log {
            let level = level(line.level);
            if level as u8 >= wanted as u8 {
                let message = LoggingMessageNotificationParam::new(level, Value::from(line.message.as_str()));
                // A client that is gone is not told.
                let _ = self.context.peer.notify_logging_message(message.with_logger(tool)).await;
            }
        }
    }
}

fn given_up() -> ErrorData {
    ErrorData::internal_error("the call was given up", None)
}

fn level(level: Level) -> LoggingLevel {
    match level {
        Level::Trace | Level::Debug => LoggingLevel::Debug,
        Level::Info => LoggingLevel::Info,
        Level::Warn => LoggingLevel::Warning,
        Level::Error => LoggingLevel::Error,
    }
}
