//! One client, as rmcp sees it: the requests that a server of tools answers.

use std::{
    borrow::Cow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult, LoggingLevel, PaginatedRequestParams,
        ProtocolVersion, ServerCapabilities, ServerConfig, SetLevelRequestMethod, SetLevelRequestParams,
        SubscriptionFilter, Tool,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Mcp, NoRandomness, Shared, call::Caller, limits::TASK_BYTES, random_name, tools};
use crate::CallContext;

/// The revisions that are served.
const VERSIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// Where a request's metadata may name the agent's task. Guardrails count by it, and what a task read and runs is its own.
const TASK: &str = "hermes-host/task";

/// What the model of a client is told about the server.
const INSTRUCTIONS: &str = "Tools in sandboxes. A tool has what its operator granted and no more: what is refused stays refused, so \
     do not try it again in other words. Some commands wait for a person's approval.";

/// A client on stdio, one HTTP session of a client before 2026-07-28, or one request of a later one.
pub(super) struct Agent {
    shared: Arc<Shared>,
    session: String,
    /// Whether it lives as long as its client does.
    is_connection: bool,
    /// Whether something may be kept for the session.
    was_used: AtomicBool,
    level: Mutex<Option<LoggingLevel>>,
    gone: CancellationToken,
    _gone: DropGuard,
}

impl Agent {
    /// For a client that is there until this is dropped.
    pub(super) fn of_connection(mcp: &Mcp) -> Result<Self, NoRandomness> {
        Self::new(mcp, true)
    }

    /// For HTTP, where a client of 2026-07-28 and later is nobody between its requests.
    pub(super) fn of_requests(mcp: &Mcp) -> Result<Self, NoRandomness> {
        Self::new(mcp, false)
    }

    fn new(mcp: &Mcp, is_connection: bool) -> Result<Self, NoRandomness> {
        let gone = CancellationToken::new();
        Ok(Self {
            shared: Arc::clone(&mcp.0),
            session: random_name("mcp-")?,
            is_connection,
            was_used: AtomicBool::new(false),
            level: Mutex::new(None),
            _gone: gone.clone().drop_guard(),
            gone,
        })
    }

    /// Where a call comes from: a task that the client names, and a session that lives as long as the client can be known.
    fn origin(&self, context: &RequestContext<RoleServer>) -> Result<CallContext, ErrorData> {
        let task_id = match context.meta.get(TASK) {
            None => None,
            Some(Value::String(task)) if (1..=TASK_BYTES).contains(&task.len()) => Some(task.clone()),
            Some(_) => {
                let why = format!("_meta[{TASK:?}] is not a text of 1 to {TASK_BYTES} bytes");
                return Err(ErrorData::invalid_params(why, None));
            }
        };
        let lasts = self.is_connection || !is_current(context);
        if lasts {
            self.was_used.store(true, Ordering::Relaxed);
        }
        let session_id = lasts.then(|| self.session.clone());
        let call_id = random_name("call-").map_err(|why| ErrorData::internal_error(why.to_string(), None))?;
        Ok(CallContext { call_id: Some(call_id), task_id, session_id, ..CallContext::default() })
    }
}

impl Drop for Agent {
    /// What a session ran ends with it.
    fn drop(&mut self) {
        if !self.was_used.load(Ordering::Relaxed) {
            return;
        }
        let (host, session) = (self.shared.host.clone(), std::mem::take(&mut self.session));
        host.end_session(&session);
        // Without a runtime the host itself is about to go, and everything with it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { host.end_task(&session).await });
        }
    }
}

/// Whether a request is of 2026-07-28 or later, where it says all about itself.
fn is_current(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

impl ServerHandler for Agent {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_tool_list_changed().enable_logging().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("hermes-host", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        tools::page(&self.shared.host, cursor.as_deref(), is_current(&context)).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::one(&self.shared.host, name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let origin = self.origin(&context)?;
        let is_current = is_current(&context);
        let level = match is_current {
            true => context.meta.log_level(),
            false => *self.level.lock().unwrap_or_else(PoisonError::into_inner),
        };
        Caller { shared: &self.shared, context: &context, is_current, level }.call(request, origin).await
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

    /// Tells clients before 2026-07-28 of changes, for as long as they are there.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
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
