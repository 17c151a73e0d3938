//! Revokes an API key. Deletes its webhooks and its root (the secret from which the cryptographic keys of the identity
//! are derived).

use diesel::prelude::*;
use sealpost_domain::{
    ApiKeyId, IdentityRotation, KeyStatus, RotationReason, Timestamp,
    ports::{JournaledAct, RevocationSummary, StoreError},
};

use crate::{
    connection::transaction::Transaction,
    housekeeping::deleted_webhooks,
    queue::{outcomes, rotations},
    records::handles,
    rows::columns,
    schema::{api_keys as k, webhooks as w},
};

impl Transaction {
    /// Revokes a key that this transaction has locked. Deletes the secret of the identity, the webhooks and a limited
    /// number of their deliveries. The handle stays reserved for the account. Housekeeping later deletes the other
    /// deliveries, and informs the keys that have exchanged envelopes with this key.
    ///
    /// An unopened envelope of a deleted delivery bounces at `now` (its sender gets an event), unless another delivery
    /// of the envelope has succeeded.
    pub fn revoke_key(
        &mut self,
        id: &ApiKeyId,
        now: Timestamp,
    ) -> Result<RevocationSummary, StoreError> {
        // Locks deliveries, envelopes and then webhooks, the last in the order of ids. A transaction that records
        // outcomes locks rows in the same order.
        // If a concurrent batch of sends adds a delivery, a claim later finds this delivery without a webhook and
        // deletes it.
        let key = id;
        let summary = self.run(|conn| {
            let id = key.to_string();
            let revoked = (k::status.eq(KeyStatus::Revoked.as_str()), k::root.eq(None::<Vec<u8>>));
            let update = diesel::update(k::table.find(&id)).set(revoked);
            columns::one(update.execute(conn)?, "key")?;
            let webhooks = w::table.filter(w::api_key_id.eq(&id));
            let ids: Vec<String> = webhooks.order(w::id).select(w::id).load(conn)?;
            let rotation = IdentityRotation {
                api_key_id: *key,
                handle: handles::find_of_key(conn, key)?,
                replaced_by: None,
                reason: RotationReason::Revoked,
                at: now,
            };
            rotations::record(conn, &rotation)?;
            let deliveries = deleted_webhooks::delete_with_backlog(conn, &ids, now)?;
            outcomes::lock_health(conn, &ids.iter().map(String::as_str).collect::<Vec<_>>())?;
            let webhooks = diesel::delete(webhooks).execute(conn)?;
            Ok(RevocationSummary {
                webhooks: columns::number(webhooks, "number of webhooks")?,
                deliveries: columns::number(deliveries, "number of deliveries")?,
            })
        })?;
        self.journaled_acts.add(JournaledAct::KeyRevoked(*id));
        Ok(summary)
    }
}
