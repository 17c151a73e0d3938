//! Relays: webhooks whose receivers open connections to the service, because they have no public address.

use std::{collections::HashSet, net::IpAddr, sync::Arc, time::Duration};

use sealpost_domain::{
    AccountId, Refusal, Timestamp, WebhookId, WebhookStatus,
    ports::{
        Durability, RelayAnswer, RelayConnection, RelayConnectionId, RelayEnd, RelayLink,
        StoreError,
    },
    with_causes,
};
use sealpost_wallet::random;

use super::{Webhooks, view::find};
use crate::{
    caller::{
        admission::{Limited, Purpose},
        credentials::{Caller, CallerId},
    },
    error::Error,
    housekeeping::task::Interval,
    sealpost::core::Core,
};

/// A stored connection of a relay, a webhook whose receiver connects to the service. The connection counts against the
/// limit of connections until [`Webhooks::end_relay`] is called.
#[derive(Debug, Clone, Copy)]
pub struct Relay {
    /// Id of the connection.
    pub id: RelayConnectionId,
    /// The webhook whose deliveries the connection gets.
    pub webhook_id: WebhookId,
    /// The account that owns the webhook.
    pub account_id: AccountId,
}

impl Webhooks {
    /// Stores a new connection of a receiver to a webhook of the caller's key. Refuses the connection if the webhook is
    /// not a relay, is disabled or paused, or has reached its limit of connections.
    ///
    /// If this node has reached its limit of connections, closes a connection of the account with the most connections.
    /// If the caller's account would then have more connections than that account, refuses the new connection instead.
    pub async fn open_relay(
        &self,
        caller: &Caller,
        webhook_id: String,
        client_address: Option<IpAddr>,
    ) -> Limited<Relay> {
        let (id, account_id) = (caller.id, caller.account_id);
        let open = move |webhooks: &Self| {
            webhooks.open_relay_blocking(&id, account_id, &webhook_id, client_address)
        };
        self.core.ask_as(self, caller, Purpose::Manage, open).await
    }

    /// Starts to pass deliveries of the relay to the receiver, over `link`. Returns `false` if this node is stopping.
    pub fn attach_relay(&self, relay: Relay, link: RelayLink) -> bool {
        self.core.dispatch.relays().attach(relay.id, relay.webhook_id, relay.account_id, link)
    }

    /// Ends the attempt to which the receiver has responded. Returns `false` if the response belongs to no running
    /// attempt.
    pub fn answer_relay(&self, id: RelayConnectionId, answer: RelayAnswer) -> bool {
        self.core.dispatch.relays().answer(id, answer)
    }

    /// Ends a connection. Deliveries without a response are attempted again, and no failed attempt is counted.
    pub async fn end_relay(&self, id: RelayConnectionId) {
        self.core.dispatch.relays().detach(id);
        let delete = move |core: &Arc<Core>| {
            Ok(core.store.write(Durability::Relaxed, |tx| tx.delete_relay(id))?)
        };
        if let Err(error) = self.core.block(&self.core, delete).await {
            tracing::warn!(
                error = with_causes(&error),
                "an ended connection of a relay still counts for some seconds"
            );
        }
    }

    /// Asks all connections of relays to close, because this node stops.
    pub fn close_relays(&self) {
        self.core.dispatch.relays().stop();
    }

    fn open_relay_blocking(
        &self,
        caller: &CallerId,
        account_id: AccountId,
        webhook_id: &str,
        client_address: Option<IpAddr>,
    ) -> Result<Relay, Error> {
        let (core, key) = (&self.core, caller.key);
        let relays = core.dispatch.relays();
        let webhook = core.store.read(|reader| find(reader, &key, webhook_id))?;
        let refuse = |problem: &str| Refusal::InvalidField {
            field: "webhook_id",
            problem: problem.to_owned(),
        };
        if !webhook.is_relay() {
            return Err(refuse("must be a webhook with the url relay:").into());
        }
        if webhook.status == WebhookStatus::Disabled {
            return Err(refuse("must be an enabled webhook; enable it first").into());
        }
        if webhook.paused {
            return Err(refuse("must not be a paused webhook; resume it first").into());
        }
        let yielding = if relays.len() < core.settings.relays_per_node_max {
            None
        } else {
            Some(relays.yielding(&account_id).ok_or(Refusal::Unavailable)?)
        };
        let id = RelayConnectionId(i64::from_ne_bytes(random()?));
        let limit = core.settings.relays_per_webhook_max;
        // A separate transaction, because a renewal can delete connections of crashed nodes. Other transactions lock a
        // key before its connections.
        self.renew_relays(core.clock.now())?;
        // The commit must be durable. If a crash of the database lost the row, the connection would stay open, but
        // would never be checked.
        let others = core.store.write(Durability::Durable, |tx| {
            let connection = RelayConnection {
                id,
                node: core.node,
                webhook_id: webhook.id,
                token: caller.session,
                connected_at: tx.shared_time(core.clock.now())?,
                client_address,
            };
            tx.insert_relay(&key, &connection, limit.into())
        })?;
        if others >= u64::from(limit) {
            let (what, way_out) = ("connections to this webhook", "close one of them");
            return Err(Refusal::QuotaExceeded { limit, what, way_out }.into());
        }
        if let Some(yielding) = yielding {
            relays.close(yielding, RelayEnd::Yielded);
            // Detaches the connection at once, because closing it can take long.
            relays.detach(yielding);
        }
        Ok(Relay { id, webhook_id: webhook.id, account_id })
    }

    /// Returns the initial intervals for [`Webhooks::keep_relays`].
    pub(crate) fn relay_intervals(&self) -> RelayIntervals {
        let last = self.core.clock.now();
        RelayIntervals {
            renewal: Interval { every: NODE_RENEWED_EVERY, last },
            cleaning: Interval { every: ATTACHED_WITHIN, last },
        }
    }

    /// Renews the stored connections of this node, so that they still count against the limits. Closes connections
    /// whose webhook, key or token was changed or has expired. Deletes the rows of lost connections.
    pub(crate) fn keep_relays(&self, intervals: &mut RelayIntervals) -> Result<(), StoreError> {
        let core = &self.core;
        let (relays, now) = (core.dispatch.relays(), core.clock.now());
        if intervals.cleaning.take(now) {
            self.delete_lost_relays(now)?;
        }
        if relays.is_empty() {
            return Ok(());
        }
        if intervals.renewal.take(now) {
            self.renew_relays(now)?;
        }
        if core.store.read(|reader| reader.has_unchecked_relays(core.node, now))? {
            let checked =
                core.store.write(Durability::Relaxed, |tx| tx.check_relays(core.node, now));
            for (id, end) in checked? {
                relays.close(id, end);
            }
        }
        Ok(())
    }

    /// Makes the connections of this node count against the limits for the next [`NODE_LEASE`]. Closes the connections
    /// if another node has deleted their rows.
    fn renew_relays(&self, now: Timestamp) -> Result<(), StoreError> {
        let core = &self.core;
        let is_known = core.store.write(Durability::Relaxed, |tx| {
            let now = tx.shared_time(now)?;
            tx.renew_relays(core.node, now, now.plus(NODE_LEASE))
        })?;
        if is_known { Ok(()) } else { self.close_forgotten_relays() }
    }

    /// Closes the open connections of this node whose rows are missing in the database. The checks of webhook, key and
    /// token need the row. A row can be missing for two reasons:
    ///
    /// - Another node has deleted the row, because this node did not renew it in time.
    /// - The database was replaced by a standby that lacks the row.
    fn close_forgotten_relays(&self) -> Result<(), StoreError> {
        let core = &self.core;
        let relays = core.dispatch.relays();
        // Reads the attached connections before the stored ones. A connection is stored before it is attached, so this
        // order closes no new connection.
        let attached = relays.ids();
        if attached.is_empty() {
            return Ok(());
        }
        let all = Timestamp::from_millis(i64::MAX);
        let stored = core.store.read(|reader| reader.relays_of_node(core.node, all))?;
        let stored: HashSet<_> = stored.into_iter().collect();
        for id in attached.into_iter().filter(|id| !stored.contains(id)) {
            relays.close(id, RelayEnd::Forgotten);
        }
        Ok(())
    }

    /// Deletes the rows of connections that this node no longer has, and closes connections whose rows are missing. A
    /// row is left if the receiver closes the connection during the handshake, or if the deletion of the row fails.
    fn delete_lost_relays(&self, now: Timestamp) -> Result<(), StoreError> {
        let core = &self.core;
        let stored = core.store.read(|reader| reader.count_relays_of_node(core.node))?;
        // Compares the numbers first, because a node can have many connections.
        let attached = u64::try_from(core.dispatch.relays().len()).unwrap_or(u64::MAX);
        if stored <= attached {
            return if stored < attached { self.close_forgotten_relays() } else { Ok(()) };
        }
        let stored = core.store.read(|reader| {
            let now = reader.shared_time(now)?;
            reader.relays_of_node(core.node, now.minus(ATTACHED_WITHIN))
        })?;
        for id in stored.into_iter().filter(|id| core.dispatch.relays().unanswered(*id).is_none()) {
            core.store.write(Durability::Relaxed, |tx| tx.delete_relay(id))?;
        }
        Ok(())
    }
}

/// The intervals of the tasks that [`Webhooks::keep_relays`] performs only in some of its calls.
pub(crate) struct RelayIntervals {
    renewal: Interval,
    cleaning: Interval,
}

/// Time after a renewal for which the connections of a node count against the limits, so that those of a dead node stop
/// counting. The end of this time is computed from the clock of the database server, because the clocks of nodes can
/// differ.
const NODE_LEASE: Duration = Duration::from_secs(6);
/// Time between two renewals.
const NODE_RENEWED_EVERY: Duration = Duration::from_secs(2);
/// Age from which a row is deleted if its node does not have the connection. Longer than a handshake, during which the
/// connection has only a row. Also the interval between two searches for such rows.
const ATTACHED_WITHIN: Duration = Duration::from_secs(10);
