//! Sends test events. A test event is sent to a webhook immediately and only once. It does not change the state of the
//! webhook.

use std::sync::Arc;

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, AttemptFailure, AttemptOutcome, OwnEventId, Refusal, TestEvent, TestResult,
    WebhookId,
};
use sealpost_wallet::random;
use serde::Serialize;
use tokio::sync::oneshot;

use crate::{
    acts::actor::{ActRequest, Actor},
    caller::admission::{Limited, Purpose},
    error::Error,
    webhooks::{Webhooks, view::find},
};

/// The result of a test event.
#[derive(JsonSchema, Serialize)]
pub struct Tested {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// Id of the event, as in the header `webhook-id`.
    pub event_id: OwnEventId,
    /// Result of the attempt: `succeeded` or `failed`.
    #[schemars(extend("enum" = ["succeeded", "failed"]))]
    pub outcome: &'static str,
    /// HTTP status of the response; `null` without a response.
    pub status_code: Option<u16>,
    /// Class of the failure; `null` if the test succeeded.
    pub error: Option<&'static str>,
    /// The reason of a failure without a response, for example the error of the TLS library. `null` if the class is
    /// the whole reason.
    pub error_detail: Option<String>,
    /// Duration of the attempt in milliseconds.
    pub duration_ms: u32,
    /// Beginning of the response's body; `null` without a response.
    pub response: Option<String>,
}

impl Webhooks {
    /// Sends a test event to a webhook, and waits for the end of the attempt. Works also for a disabled webhook.
    ///
    /// Before the event is sent, calls `admit` with the account, so that the calling code can apply a limit of its own.
    /// Does not call `admit` if the request is already refused.
    pub async fn test(
        &self,
        actor: &Actor,
        webhook_id: String,
        admit: impl FnOnce(AccountId) -> Result<(), Refusal>,
    ) -> Limited<Tested> {
        let build =
            move |webhooks: &Self, request: &ActRequest| webhooks.test_event(request, &webhook_id);
        let prepared = self.core.act(self, actor, Purpose::Manage, build).await;
        let Limited { result, limits } = prepared
            .and_then(|event| admit(actor.account_id()).map(|()| event).map_err(Error::from));
        let result = match result {
            Ok(event) => self.send_test(event).await,
            Err(error) => Err(error),
        };
        Limited { result, limits }
    }

    /// Builds a test event for a webhook of the actor's key. Refuses an unknown webhook.
    fn test_event(&self, request: &ActRequest, webhook_id: &str) -> Result<TestEvent, Error> {
        let webhook = self.core.store.read(|reader| find(reader, request.key(), webhook_id))?;
        let timestamp = self.core.clock.now();
        let id = OwnEventId::new(timestamp, random()?);
        let target = Arc::new(webhook.target(request.actor.account_id()));
        Ok(TestEvent { id, target, timestamp })
    }

    /// Sends a test event, and waits for the end of the attempt.
    async fn send_test(&self, event: TestEvent) -> Result<Tested, Error> {
        let (event_id, webhook_id) = (event.id, event.target.webhook_id);
        let (finish, finished) = oneshot::channel();
        // Ignores an error of `send`: an error only means that the caller has cancelled the request.
        let finish = Box::new(move |result| drop(finish.send(result)));
        if !self.core.dispatch.test(event, finish) {
            return Err(Refusal::Unavailable.into());
        }
        let TestResult { result, response, error_detail, duration } =
            finished.await.map_err(|_dropped| Error::Lost)?;
        let outcome = match result {
            Ok(()) => AttemptOutcome::Succeeded,
            Err(_) => AttemptOutcome::Failed,
        };
        Ok(Tested {
            webhook_id,
            event_id,
            outcome: outcome.as_str(),
            status_code: response.as_ref().map(|response| response.status),
            error: result.err().map(AttemptFailure::as_str),
            error_detail,
            duration_ms: u32::try_from(duration.as_millis()).unwrap_or(u32::MAX),
            response: response.map(|response| response.excerpt),
        })
    }
}
