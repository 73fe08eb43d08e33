//! One client, as rmcp sees it: the requests that a server of tools answers.

use std::{
    borrow::Cow,
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use futures_util::future::join_all;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams,
        CompleteResult, ConstString, CustomRequest, CustomResult, ErrorCode, Implementation, InitializeRequestParams,
        InitializeResult, ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod,
        ListResourceTemplatesResult, ListResourcesRequestMethod, ListResourcesResult, ListToolsResult, LoggingLevel,
        MetaObject, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, SetLevelRequestMethod,
        SetLevelRequestParams, SubscriptionFilter, Tool,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    Mcp, NoRandomness, Running, Shared,
    call::Caller,
    limits::{SESSIONS, TASK_BYTES, TASKS},
    random_name,
    roots::Roots,
    tools,
};
use crate::{CallContext, Host, text::one_line};

/// The revisions that are served. Batches, which 2025-03-26 has and no other, are not taken: rmcp does not read them.
const VERSIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// Where a request's metadata may name the agent's task. Guardrails count by it, and what a task read and runs is its own.
const TASK: &str = "hermes-host/task";

/// Methods that are served. rmcp takes them for unknown ones where their params can't be read.
const KNOWN: &[&str] =
    &["initialize", "logging/setLevel", "server/discover", "subscriptions/listen", "tools/call", "tools/list"];

/// Those of them that 2026-07-28 no longer has.
const GONE: &[&str] = &["initialize", "logging/setLevel"];

/// Bytes of a client's name: those of programs have under 30.
const CLIENT_BYTES: usize = 100;

/// Bytes of an unknown method that an error repeats.
const METHOD_BYTES: usize = 80;

/// Where a result's metadata names the server.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// What the model of a client is told about the server.
const INSTRUCTIONS: &str = "Tools in sandboxes. A tool has what its operator granted and no more: what is refused stays refused, so \
     do not try it again in other words. Some commands wait for a person's approval.";

/// A client on stdio, one HTTP session of a client before 2026-07-28, or one request of a later one.
pub(super) struct Agent {
    shared: Arc<Shared>,
    session: String,
    /// Whether it lives as long as its client does.
    is_connection: bool,
    /// Whether it takes one of the places of HTTP sessions.
    is_session: AtomicBool,
    /// Whether it is told of changes.
    is_told: AtomicBool,
    /// Whether something may be kept for the session.
    was_used: AtomicBool,
    /// The tasks that it named, the one that it named last at the end.
    tasks: Mutex<VecDeque<String>>,
    level: Mutex<Option<LoggingLevel>>,
    roots: Roots,
    gone: CancellationToken,
    _gone: DropGuard,
}

impl Agent {
    /// For a client that is there until this is dropped.
    pub(super) fn of_connection(mcp: &Mcp) -> Result<Self, NoRandomness> {
        Self::new(mcp, true)
    }

    /// For HTTP, where a client of 2026-07-28 and later is unknown between its requests.
    pub(super) fn of_requests(mcp: &Mcp) -> Result<Self, NoRandomness> {
        Self::new(mcp, false)
    }

    fn new(mcp: &Mcp, is_connection: bool) -> Result<Self, NoRandomness> {
        let (gone, session, shared) =
            (CancellationToken::new(), random_name(crate::serve::OWN_SESSION)?, Arc::clone(&mcp.0));
        Ok(Self {
            shared,
            session,
            is_connection,
            is_session: AtomicBool::new(false),
            is_told: AtomicBool::new(false),
            was_used: AtomicBool::new(false),
            tasks: Mutex::default(),
            level: Mutex::new(None),
            roots: Roots::default(),
            _gone: gone.clone().drop_guard(),
            gone,
        })
    }

    /// Whether the client is there beyond one request: on a connection, or in a session. A request over HTTP may name an earlier revision
    /// and be of no session all the same.
    fn lasts(&self) -> bool {
        self.is_connection || self.is_session.load(Ordering::Acquire)
    }

    /// Where a call comes from: a task that the client names, and a session that lives as long as the client can be known.
    fn origin(&self, context: &RequestContext<RoleServer>) -> Result<CallContext, ErrorData> {
        let lasts = self.lasts();
        let task_id = match context.meta.get(TASK) {
            None => None,
            Some(Value::String(task)) if (1..=TASK_BYTES).contains(&task.len()) => Some(match lasts {
                true => self.task(task),
                // No name of a client's choice is that of a session.
                false => format!("task-{task}"),
            }),
            Some(_) => {
                let why = format!("_meta[{TASK:?}] is not a text of 1 to {TASK_BYTES} bytes");
                return Err(ErrorData::invalid_params(why, None));
            }
        };
        if lasts {
            self.was_used.store(true, Ordering::Relaxed);
        }
        let session_id = lasts.then(|| self.session.clone());
        let call_id =
            random_name(crate::serve::OWN_CALL).map_err(|why| ErrorData::internal_error(why.to_string(), None))?;
        let client = client(context);
        Ok(CallContext { call_id: Some(call_id), task_id, session_id, client, ..CallContext::default() })
    }

    /// A task of this client's own, whatever others call theirs: it ends with the client, or once [`TASKS`] others were named since.
    fn task(&self, name: &str) -> String {
        let task = format!("{}/{name}", self.session);
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|known| *known != task);
        tasks.push_back(task.clone());
        let over = if tasks.len() > TASKS { tasks.pop_front() } else { None };
        drop(tasks);
        end_tasks(&self.shared.host, over.into_iter().collect());
        task
    }
}

impl Drop for Agent {
    /// What a session ran ends with it.
    fn drop(&mut self) {
        if self.is_session.load(Ordering::Acquire) {
            self.shared.sessions.fetch_sub(1, Ordering::AcqRel);
        }
        if !self.was_used.load(Ordering::Relaxed) {
            return;
        }
        self.shared.host.end_session(&self.session);
        let tasks = std::mem::take(self.tasks.get_mut().unwrap_or_else(PoisonError::into_inner));
        // Commands of calls that named no task ran under the session's own name.
        end_tasks(&self.shared.host, tasks.into_iter().chain([std::mem::take(&mut self.session)]).collect());
    }
}

/// Ends what tasks run, and forgets what was counted and read for them. Nobody waits for it.
fn end_tasks(host: &Host, tasks: Vec<String>) {
    tasks.iter().for_each(|task| host.forget_task(task));
    // Without a runtime the host itself is about to go, and everything with it.
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    if tasks.is_empty() {
        return;
    }
    let host = host.clone();
    runtime.spawn(async move {
        join_all(tasks.into_iter().map(|task| {
            let host = host.clone();
            async move { host.end_task(&task).await }
        }))
        .await
    });
}

/// What this server calls itself.
fn own() -> Implementation {
    Implementation::new("hermes-host", env!("CARGO_PKG_VERSION"))
}

/// Says in a result who gave it, as is asked of servers that no client has met before.
fn identify(meta: &mut Option<MetaObject>) {
    if let Ok(own) = serde_json::to_value(own()) {
        meta.get_or_insert_default().insert(SERVER_INFO.to_owned(), own);
    }
}

/// What the client calls itself. It is the client's own word: the policy and the audit name it, and no more follows from it.
fn client(context: &RequestContext<RoleServer>) -> Option<String> {
    let name = one_line(&context.client_info()?.name, CLIENT_BYTES);
    let is_own = crate::serve::OWN_CLIENTS.contains(&name.as_str());
    (!name.is_empty()).then(|| if is_own { format!("mcp:{name}") } else { name })
}

/// Whether a request is of 2026-07-28 or later, where it says all about itself.
fn is_current(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

impl ServerHandler for Agent {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_tool_list_changed().enable_logging().build();
        ServerConfig::new(capabilities).with_server_info(own()).with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    /// Counts the sessions over HTTP: a client on stdio is the only one there.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if !self.is_connection && !self.is_session.swap(true, Ordering::AcqRel) {
            // Counted first and given back by the drop: two that come together do not both take the last place.
            let others = self.shared.sessions.fetch_add(1, Ordering::AcqRel);
            if others >= SESSIONS {
                let why = format!("{SESSIONS} sessions are open already; end one, or try again later");
                return Err(ErrorData::internal_error(why, None));
            }
        }
        if self.is_connection {
            self.roots.expect(&self.shared.host, &request.capabilities);
        }
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let is_current = is_current(&context);
        let mut page = tools::page(&self.shared.host, cursor.as_deref(), is_current, client(&context)).await?;
        if is_current {
            identify(&mut page.meta);
        }
        Ok(page)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::one(&self.shared.host, name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let _running = Running::new(&self.shared);
        self.roots.settled().await;
        let origin = self.origin(&context)?;
        let is_current = is_current(&context);
        let level = match is_current {
            true => context.meta.log_level(),
            false => *self.level.lock().unwrap_or_else(PoisonError::into_inner),
        };
        let mut response = Caller { shared: &self.shared, context: &context, is_current, stays: self.lasts(), level }
            .call(request, origin)
            .await?;
        match &mut response {
            CallToolResponse::Complete(result) if is_current => identify(&mut result.meta),
            CallToolResponse::InputRequired(result) => identify(&mut result.meta),
            _ => {}
        }
        Ok(response)
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_current(&context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.level);
        Ok(())
    }

    /// What rmcp could not read as a request that it knows.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        let is_gone = is_current(&context) && GONE.contains(&method.as_str());
        if KNOWN.contains(&method.as_str()) && !is_gone {
            let why = match method.as_str() {
                CallToolRequestMethod::VALUE => {
                    serde_json::from_value::<CallToolRequestParams>(params.unwrap_or_default()).err()
                }
                _ => None,
            };
            let why = why.map_or_else(String::new, |why| format!(": {why}"));
            return Err(ErrorData::invalid_params(format!("the params of {method} can't be read{why}"), None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, one_line(&method, METHOD_BYTES), None))
    }

    /// This and the following have empty lists by default, which would be a promise of more than tools.
    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    /// Tells clients before 2026-07-28 of changes, for as long as they are there.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if self.is_told.swap(true, Ordering::AcqRel) {
            return;
        }
        self.roots.ask(&self.shared.host, &context.peer).await;
        let (mut changes, gone) = (self.shared.host.changes(), self.gone.clone());
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = gone.cancelled() => return,
                    changed = changes.changed() => if changed.is_err() { return },
                }
                if context.peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        });
    }

    /// Whatever is wanted: rmcp leaves in what this server says it has.
    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.shared.host.changes();
        let wants_tools = context.accepted().tools_list_changed == Some(true);
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = changes.changed() => if changed.is_err() { return Ok(()) },
            }
            if wants_tools && context.sink().notify_tool_list_changed().await.is_err() {
                return Ok(());
            }
        }
    }
}
