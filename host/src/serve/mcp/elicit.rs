//! A question to a client before 2026-07-28, by a request of ours.

use std::time::Duration;

use rmcp::{
    RoleServer,
    model::{
        CancelledNotification, CancelledNotificationParam, ClientResult, ElicitRequest, ElicitRequestParams,
        ElicitResult, RequestId, ServerRequest,
    },
    service::{Peer, PeerRequestOptions},
};

/// Asks, and waits for as long as the question stands. Nothing where the client can't or does not answer. Dropped, it tells the client
/// that nobody waits any more, so that no dialog stays open.
pub(super) async fn elicit(
    peer: &Peer<RoleServer>,
    params: ElicitRequestParams,
    time: Duration,
) -> Option<ElicitResult> {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
    let sent = peer.send_cancellable_request(request, PeerRequestOptions::with_timeout(time)).await.ok()?;
    let mut open = Open { peer: peer.clone(), id: Some(sent.id.clone()) };
    let answer = sent.await_response().await;
    open.id = None;
    match answer.ok()? {
        ClientResult::ElicitResult(result) => Some(result),
        _ => None,
    }
}

/// A request that is not answered yet.
struct Open {
    peer: Peer<RoleServer>,
    id: Option<RequestId>,
}

impl Drop for Open {
    fn drop(&mut self) {
        let (peer, Some(id)) = (self.peer.clone(), self.id.take()) else { return };
        // Without a runtime the connection is about to go, and the dialog with it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let reason = Some("the question no longer stands".to_owned());
                let notice = CancelledNotification::new(CancelledNotificationParam::new(Some(id), reason));
                // A client that is gone is not told.
                let _ = peer.send_notification(notice.into()).await;
            });
        }
    }
}
