//! Transfers waiting envelopes (envelopes to a recipient without a webhook) to a webhook of their recipient, in
//! portions of limited size. The waiting envelopes of a revoked key bounce: their senders get an event.
//!
//! A requested transfer is a row in the database, and each portion is one transaction. Any node can therefore continue
//! after a crash.

use sealpost_domain::{
    ports::{Durability, StoreError},
    with_causes,
};

use super::task::PAUSE;
use crate::{periodic_thread::StopSignal, sealpost::core::Core};

/// Performs all requested transfers of waiting envelopes. Each round transfers one portion for each key. A new webhook
/// of a key requests a transfer into its delivery queue. The revocation of a key requests that its envelopes bounce.
pub(super) fn transfer_waiting(core: &Core, stop: &StopSignal) {
    if let Err(error) = transfer_all(core, stop) {
        tracing::warn!(
            error = with_causes(&error),
            "waiting envelopes were not transferred; the transfer continues later"
        );
    }
}

fn transfer_all(core: &Core, stop: &StopSignal) -> Result<(), StoreError> {
    if !core.store.read(sealpost_storage::Reader::has_waiting_transfers)? {
        return Ok(());
    }
    let limit = core.settings.rows_per_write;
    loop {
        let (mut after, mut total) = (None, 0);
        while let Some(done) = core.store.write(Durability::Relaxed, |tx| {
            let now = core.clock.now();
            tx.transfer_waiting(after.as_ref(), core.kept_since(now), now, limit)
        })? {
            after = Some(done.api_key_id);
            total += done.transferred;
            // The pause lets other writers proceed.
            if done.transferred > 0 && stop.wait(PAUSE) {
                return Ok(());
            }
        }
        if total == 0 {
            return Ok(());
        }
    }
}
