//! One event of a key, with its request and the response to each attempt.

use std::time::Duration;

use sealpost_domain::{ApiKeyId, Event, EventId, Refusal, Timestamp, WebhookId};

use super::{
    NO_KEY, Owner,
    correspondents::{EventOrigin, origins},
    event_log::EventLogEntry,
};
use crate::error::Error;

/// One event of a key, as the service sent it.
pub struct EventReport {
    /// Id of the event.
    pub event_id: EventId,
    /// Time of the event. `None` if the event is no longer stored.
    pub at: Option<Timestamp>,
    /// The kind and the sender of the event.
    pub origin: EventOrigin,
    /// The body of the requests. `None` if the event is no longer stored.
    pub body: Option<String>,
    /// First the pending deliveries, then at most 100 attempts, the newest attempt first.
    pub attempts: Vec<ReportedAttempt>,
}

/// An attempt or a pending delivery of one event.
pub struct ReportedAttempt {
    /// The attempt or the pending delivery, with its webhook.
    pub entry: EventLogEntry,
    /// The headers of the request that depend on the attempt. `None` for a pending delivery.
    pub headers: Option<AttemptHeaders>,
}

/// The headers of a webhook request that depend on the attempt.
pub struct AttemptHeaders {
    /// The value of `webhook-timestamp`: the time of the signature in seconds since the Unix epoch.
    pub timestamp_s: i64,
    /// The value of `webhook-signature`, computed with the present secrets. If a secret was replaced after the attempt,
    /// the sent value was different. `None` if the event is no longer stored.
    pub signature: Option<String>,
}

impl Owner<'_> {
    /// Returns the account's key to which a stored event belongs. `None` if the account has no such event.
    pub async fn key_of_event(&self, event_id: EventId) -> Result<Option<ApiKeyId>, Error> {
        self.read(move |core, reader, account, now| {
            if event_id.timestamp() < core.kept_since(now) {
                return Ok(None);
            }
            let Some(key) = reader.key_of_event(&event_id)? else { return Ok(None) };
            Ok(reader.key_of(&account, &key, now, 0)?.map(|_own| key))
        })
        .await
    }

    /// Returns one event of a key with its request and all its attempts. Refuses an event if neither the event nor one
    /// of its attempts is stored.
    pub async fn event(&self, key: &ApiKeyId, event_id: EventId) -> Result<EventReport, Error> {
        let key = *key;
        self.read(move |core, reader, account, now| {
            reader.key_of(&account, &key, now, 0)?.ok_or(NO_KEY)?;
            let webhooks = reader.list_webhooks(&key)?;
            let ids: Vec<_> = webhooks.iter().map(|webhook| webhook.id).collect();
            let is_kept = event_id.timestamp() >= core.kept_since(now);
            let event = if is_kept { reader.find_event(&key, &event_id)? } else { None };
            let pending = match &event {
                Some(event) => reader.pending_at_event(&ids, event)?,
                None => Vec::new(),
            };
            let attempts = reader.attempts_at_event(&ids, &event_id, ATTEMPTS_MAX)?;
            if event.is_none() && attempts.is_empty() {
                return Err(Refusal::EnvelopeNotFound.into());
            }
            let find = |id: &WebhookId| webhooks.iter().find(|webhook| webhook.id == *id);
            let body = event.as_ref().and_then(|event| event.body(core.settings.events).ok());
            let pending = pending.into_iter().filter_map(|(id, pending)| {
                let entry = EventLogEntry::pending(find(&id)?, pending);
                Some(ReportedAttempt { entry, headers: None })
            });
            let attempts = attempts.into_iter().filter_map(|(id, attempt)| {
                let webhook = find(&id)?;
                let signed_at = attempt.at.minus(Duration::from_millis(attempt.duration_ms.into()));
                let signature = body.as_ref().and_then(|body| {
                    core.dispatch.signature(&webhook.target(account), &event_id, body, signed_at)
                });
                let headers = AttemptHeaders { timestamp_s: signed_at.as_seconds(), signature };
                let entry = EventLogEntry::attempt(webhook, attempt);
                Some(ReportedAttempt { entry, headers: Some(headers) })
            });
            let attempts = pending.chain(attempts).collect();
            let origin = match &event {
                Some(_) => origins(reader, &[event_id])?.remove(&event_id),
                None => None,
            };
            Ok(EventReport {
                event_id,
                origin: origin.unwrap_or_default(),
                at: event.as_ref().map(Event::timestamp),
                attempts,
                body: body.and_then(|body| String::from_utf8(body).ok()),
            })
        })
        .await
    }
}

/// Maximum number of attempts that the page of an event shows.
const ATTEMPTS_MAX: u32 = 100;
