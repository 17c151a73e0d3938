//! The end of a key, and of what cannot outlive it.

use diesel::prelude::*;
use sealpost_domain::{ApiKeyId, KeyStatus, ports::RevocationSummary};

use crate::{
    columns,
    connection::AnyConnection,
    fault::Fault,
    former,
    schema::{api_keys as k, webhooks as w},
};

/// Its deliveries go before its webhooks: who writes down what came of an attempt locks them in this order too.
/// What a batch adds meanwhile is discarded when it is due.
pub(crate) fn revoke(conn: &mut AnyConnection, id: &ApiKeyId) -> Result<RevocationSummary, Fault> {
    let id = id.to_string();
    let gone = (k::status.eq(KeyStatus::Revoked.as_str()), k::root.eq(None::<Vec<u8>>));
    let update = diesel::update(k::table.find(&id)).set(gone);
    columns::one(update.execute(conn)?, "key")?;
    let webhooks = w::table.filter(w::api_key_id.eq(&id));
    let ids: Vec<String> = webhooks.select(w::id).load(conn)?;
    let deliveries = former::delete_most_of(conn, &ids)?;
    let webhooks = diesel::delete(webhooks).execute(conn)?;
    Ok(RevocationSummary {
        webhooks: columns::number(webhooks, "number of webhooks")?,
        deliveries: columns::number(deliveries, "number of deliveries")?,
    })
}
