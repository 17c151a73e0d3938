//! The numbers of events of each kind, for the filters of the event log.

use std::collections::HashSet;

use sealpost_domain::{ApiKeyId, EventId, EventKind};

use super::{account_owner::Owner, event_log::logged_webhooks};
use crate::error::Error;

impl Owner<'_> {
    /// Counts the events of each kind in the newest 200 log entries of each webhook: those of a key, or of all keys of the
    /// account. Empty if the server offers only one kind.
    pub async fn event_kinds(
        &self,
        key: Option<&ApiKeyId>,
    ) -> Result<Vec<(EventKind, usize)>, Error> {
        let kinds = self.sealpost.event_kinds();
        if kinds.len() < 2 {
            return Ok(Vec::new());
        }
        let key = key.copied();
        self.read(move |_core, reader, account, now| {
            let mut ids = HashSet::new();
            for webhook in logged_webhooks(reader, account, key, now)? {
                let newest = reader.attempts(&webhook.id, None, None, COUNTED_MAX)?;
                ids.extend(newest.into_iter().map(|attempt| attempt.event_id));
            }
            let (envelopes, own): (Vec<_>, Vec<_>) =
                ids.into_iter().partition(EventId::is_envelope);
            let sources = reader.event_sources(&own)?;
            let count = |kind| match kind {
                EventKind::EnvelopeReceived => envelopes.len(),
                _ => sources.values().filter(|source| source.kind == kind).count(),
            };
            Ok(kinds.iter().map(|kind| (*kind, count(*kind))).collect())
        })
        .await
    }
}

/// Number of log entries of each webhook whose events are counted.
const COUNTED_MAX: u32 = 200;
