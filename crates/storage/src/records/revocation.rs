//! Revocation of a key, with root and webhooks.

use diesel::prelude::*;
use sealpost_domain::{ApiKeyId, KeyStatus, Timestamp, ports::RevocationSummary};

use crate::{
    connection::{AnyConnection, fault::Fault},
    housekeeping::deleted_webhooks,
    rows::columns,
    schema::{api_keys as k, webhooks as w},
};

/// Revokes a key, and deletes root, deliveries and webhooks.
///
/// Deletes deliveries before webhooks: recording outcomes locks in the same order. If a batch adds a delivery
/// meanwhile, a claim finds the delivery without a webhook and deletes the delivery.
pub(crate) fn revoke(
    conn: &mut AnyConnection,
    id: &ApiKeyId,
    now: Timestamp,
) -> Result<RevocationSummary, Fault> {
    let id = id.to_string();
    let revoked = (k::status.eq(KeyStatus::Revoked.as_str()), k::root.eq(None::<Vec<u8>>));
    let update = diesel::update(k::table.find(&id)).set(revoked);
    columns::one(update.execute(conn)?, "key")?;
    let webhooks = w::table.filter(w::api_key_id.eq(&id));
    let ids: Vec<String> = webhooks.select(w::id).load(conn)?;
    let deliveries = deleted_webhooks::delete_with_backlog(conn, &ids, now)?;
    let webhooks = diesel::delete(webhooks).execute(conn)?;
    Ok(RevocationSummary {
        webhooks: columns::number(webhooks, "number of webhooks")?,
        deliveries: columns::number(deliveries, "number of deliveries")?,
    })
}
