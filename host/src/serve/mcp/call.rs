//! A `tools/call`, from the request to its answer, with what is asked in between.

use std::time::Instant;

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequest, InputRequests,
        InputRequiredResult, InputResponses, LoggingLevel, LoggingMessageNotificationParam, ProgressToken, Request,
    },
    service::{Peer, RequestContext},
};
use serde_json::Value;

use super::{
    Shared,
    conversation::{Conversation, Next, Reports},
    elicit::elicit,
    question::{self, Asked, NoAnswer},
    result::result,
    waiting::{Waits, binding},
};
use crate::{
    CallContext,
    approval::Answer,
    dispatch::{ErrorKind, Outcome},
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
    /// Whether its person may decide what the host asks.
    pub(super) may_decide: bool,
    /// From which level on it wants the tool's log.
    pub(super) level: Option<LoggingLevel>,
}

/// What is called.
struct Called {
    name: String,
    arguments: String,
    started: Instant,
}

impl Caller<'_> {
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        origin: CallContext,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams { name, arguments, input_responses, request_state, .. } = request;
        let arguments = arguments.map_or_else(|| "{}".into(), |arguments| Value::Object(arguments).to_string());
        let called = Called { name: name.into_owned(), arguments, started: Instant::now() };
        if request_state.is_some() && !(self.is_current && self.can_ask()) {
            let why = "requestState is for clients of 2026-07-28 and later that take elicitation; call the tool again without it";
            return Err(ErrorData::invalid_params(why, None));
        }
        if !self.can_ask() {
            return self.call_alone(called, origin).await;
        }
        let responses = input_responses.unwrap_or_default();
        match request_state {
            Some(state) => self.resume(called, &state, &responses).await,
            None => {
                let reports = Reports::to(self.told());
                let (name, arguments) = (called.name.clone(), called.arguments.clone());
                let conversation =
                    Conversation::begin(&self.shared.host, name, arguments, origin, reports, self.may_decide);
                match self.is_current {
                    true => self.go_on(called, conversation, &responses).await,
                    false => self.talk(called, conversation).await,
                }
            }
        }
    }

    /// Whether the client can put a form before somebody. It says nothing of kinds of forms where it knows but one.
    fn can_ask(&self) -> bool {
        let capabilities = self.context.client_capabilities();
        let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
        elicitation.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
    }

    fn told(&self) -> Option<(Peer<RoleServer>, ProgressToken)> {
        let token = self.context.meta.get_progress_token()?;
        Some((self.context.peer.clone(), token))
    }

    /// A call of a client that can't be asked anything.
    async fn call_alone(&self, called: Called, origin: CallContext) -> Result<CallToolResponse, ErrorData> {
        let reports = self.told().map(|told| Reports::to(Some(told)));
        let control =
            Control { cancel: Some(self.context.ct.clone()), progress: reports.as_ref().map(Reports::listener) };
        let context = CallContext { control, ..origin };
        let outcome = self.shared.host.call(&called.name, &called.arguments, context).await;
        if let Some(reports) = reports {
            reports.sent().await;
        }
        self.finish(&called, &outcome).await
    }

    /// Goes on with a call that waited, once its answer fits.
    async fn resume(
        &self,
        called: Called,
        state: &str,
        responses: &InputResponses,
    ) -> Result<CallToolResponse, ErrorData> {
        let binding = binding(&called.name, &called.arguments);
        let waits = self.shared.waiting.take(&self.shared.seal, &binding, state);
        let Waits { conversation, asked, until } =
            waits.map_err(|why| ErrorData::invalid_params(why.to_string(), None))?;
        conversation.report_to(self.told());
        let Some(response) = responses.get(asked.key()) else {
            return self.wait(&called, conversation, asked, until, None);
        };
        match self.pass(asked, response) {
            Ok(()) => self.go_on(called, conversation, &InputResponses::new()).await,
            Err(NoAnswer { asked, why }) => self.wait(&called, conversation, asked, until, Some(&why)),
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
    async fn go_on(
        &self,
        called: Called,
        mut conversation: Conversation,
        given: &InputResponses,
    ) -> Result<CallToolResponse, ErrorData> {
        loop {
            let asked = match self.next(&mut conversation).await? {
                Next::Done(outcome) => {
                    conversation.reported().await;
                    return self.finish(&called, &outcome).await;
                }
                Next::Decide(question) => Asked::Decide(question),
                Next::Fill(inquiry) => match given.get(&inquiry.name) {
                    None => Asked::Fill(inquiry),
                    Some(response) => match self.pass(Asked::Fill(inquiry), response) {
                        Ok(()) => continue,
                        Err(NoAnswer { asked, why }) => {
                            let until = Instant::now() + asked.time();
                            return self.wait(&called, conversation, asked, until, Some(&why));
                        }
                    },
                },
            };
            if asked.params(None).is_some() {
                let until = Instant::now() + asked.time();
                return self.wait(&called, conversation, asked, until, None);
            }
            // Dropped: the tool hears that nobody can be asked this.
        }
    }

    /// Answers with what is missing, and keeps the call for the retry.
    fn wait(
        &self,
        called: &Called,
        conversation: Conversation,
        asked: Asked,
        until: Instant,
        complaint: Option<&str>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(params) = asked.params(complaint) else {
            return Err(ErrorData::internal_error("the question can't be carried by the protocol", None));
        };
        let key = asked.key().to_owned();
        let binding = binding(&called.name, &called.arguments);
        let waits = Waits { conversation, asked, until };
        let Some(state) = self.shared.waiting.keep(&self.shared.seal, &binding, waits) else {
            let why = format!("{} was ended: too many calls wait for an answer already; try again later", called.name);
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
            let _ = self.shared.host.approvals().answer(question.id(), Answer::refuse("the client gave no answer"));
        }
    }

    async fn next(&self, conversation: &mut Conversation) -> Result<Next, ErrorData> {
        tokio::select! {
            biased;
            () = self.context.ct.cancelled() => Err(given_up()),
            next = conversation.next() => Ok(next),
        }
    }

    async fn finish(&self, called: &Called, outcome: &Outcome) -> Result<CallToolResponse, ErrorData> {
        let host = &self.shared.host;
        if let Some(listener) = &self.shared.listener {
            listener(&called.name, outcome, called.started.elapsed());
        }
        self.send_log(&called.name, outcome).await;
        match &outcome.result {
            Err(error) if error.kind == ErrorKind::UnknownTool => {
                Err(ErrorData::invalid_params(error.message.clone(), None))
            }
            _ => {
                let catalogue = host.catalogue();
                let entry = catalogue.get(&called.name);
                Ok(result(outcome, entry.map(AsRef::as_ref), self.is_current).into())
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
