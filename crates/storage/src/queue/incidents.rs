//! Informs the other webhooks of an account if one webhook fails or is disabled.

use diesel::prelude::*;
use sealpost_domain::{IncidentKind, NewEvent, Timestamp, WebhookIncident};

use crate::{
    connection::{AnyConnection, query_error::QueryError},
    queue::events,
    rows::{columns, webhook::WebhookRow},
    schema::{api_keys as k, webhooks as w},
};

/// Stores events about a webhook that fails or was disabled: one event of each of `kinds`, for each key of its account
/// that has webhooks. The row of the webhook must be locked, and must already have its new state. Does nothing if the
/// webhook does not exist.
pub(crate) fn announce(
    conn: &mut AnyConnection,
    webhook_id: &str,
    kinds: &[IncidentKind],
    at: Timestamp,
) -> Result<(), QueryError> {
    let row = w::table.find(webhook_id).first::<WebhookRow>(conn).optional()?;
    let Some(webhook) = row.map(WebhookRow::read).transpose()? else { return Ok(()) };
    let account: String =
        k::table.find(webhook.api_key_id.to_string()).select(k::account_id).first(conn)?;
    let keys = w::table
        .inner_join(k::table.on(k::id.eq(w::api_key_id)))
        .filter(k::account_id.eq(account))
        .select(w::api_key_id)
        .distinct()
        .load::<String>(conn)?;
    let mut new: Vec<NewEvent> = Vec::new();
    for kind in kinds {
        let incident = WebhookIncident {
            webhook_id: webhook.id,
            api_key_id: webhook.api_key_id,
            description: webhook.description.clone(),
            last_failure: webhook.last_failure.clone(),
            kind: *kind,
            at,
        };
        for key in &keys {
            new.push(incident.event_for(columns::id(key, "key")?));
        }
    }
    events::store(conn, &new)?;
    Ok(())
}
