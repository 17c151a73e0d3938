//! Sends the requests of attempts to a [relay](crate::relay), and waits for the answers.

use std::{sync::Arc, time::Duration};

use actix_rt::time::timeout;
use awc::http::header::HeaderValue;
use sealpost_domain::{AttemptFailure, WebhookId};

use super::hub::RelayHub;
use crate::{
    http::response::report,
    local_error::Unsent,
    retry::{attempt_report::AttemptReport, retry_after::RetryAfter},
    signing::signed_request::SignedRequest,
};

/// A target without a public address: its receiver opens connections to the service, and gets the requests on them.
pub(crate) struct RelayTarget {
    pub(crate) hub: Arc<RelayHub>,
    pub(crate) webhook_id: WebhookId,
    /// Maximum time from the start of an attempt to the answer.
    pub(crate) timeout: Duration,
}

impl RelayTarget {
    /// Sends one request and waits for the answer. Fails if the relay has no connection, or if the connection ends
    /// before the answer.
    pub(crate) async fn post(&self, signed: SignedRequest) -> Result<AttemptReport, Unsent> {
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = signed.headers.iter();
        let headers =
            headers.map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        // The body is JSON, so it is always text.
        let body = String::from_utf8_lossy(&signed.body).into_owned();
        let sent = self.hub.send(&self.webhook_id, headers, body).ok_or(Unsent::NotConnected)?;
        let Ok(answer) = timeout(self.timeout, sent.answer()).await else {
            return Ok(AttemptReport::failed(AttemptFailure::Timeout));
        };
        let answer = answer.ok_or(Unsent::NotConnected)?;
        let Some(status) = answer.status else {
            return Ok(AttemptReport {
                error_detail: Some("the answer has no HTTP status".to_owned()),
                ..AttemptReport::failed(AttemptFailure::Protocol)
            });
        };
        let retry_after = answer.retry_after.as_deref().and_then(RetryAfter::parse);
        Ok(report(status, retry_after, answer.body.unwrap_or_default().as_bytes()))
    }
}
