//! A delivery queue in memory, which replaces the database in tests, and functions that create deliveries.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use sealpost_domain::{
    AccountId, AttemptResult, DeliveryId, EnvelopeHash, EnvelopeId, EnvelopeMeta, Event,
    LeaseToken, LeasedDelivery, MessageContext, Outcome, Suite, Target, Timestamp, WebhookId,
    Wrapped,
    ports::{Claim, ExpeditedDelivery, Outbox, StoreError},
};

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

#[derive(Default)]
pub(crate) struct MemoryOutbox {
    state: Mutex<State>,
    changed: Condvar,
    broken: Option<BrokenCall>,
}

/// A call of the outbox that panics. The call does not hold the lock when it panics, so other calls still work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BrokenCall {
    Claim,
    RecordOutcomes,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) rows: HashMap<DeliveryId, Row>,
    pub(crate) results: Vec<AttemptResult>,
    pub(crate) claims: usize,
    /// Ids of disabled and deleted webhooks.
    pub(crate) ended: HashSet<WebhookId>,
    /// Number of queries for webhooks that are no longer enabled.
    pub(crate) queries: usize,
    /// Number of further calls that fail, to simulate an outage of the database.
    pub(crate) failures_left: usize,
    /// A delivery with an outcome that cannot be recorded, as if a row in the database were corrupt.
    pub(crate) corrupt: Option<DeliveryId>,
    /// Whether the log of attempts refuses texts of receivers.
    pub(crate) refuses_text: bool,
    /// Whether the log of attempts refuses every attempt.
    pub(crate) refuses_log: bool,
}

#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) delivery: LeasedDelivery,
    pub(crate) due_at: Timestamp,
    pub(crate) held: Option<(LeaseToken, Timestamp)>,
    pub(crate) is_over: bool,
    pub(crate) awaits_relay: bool,
    /// Number of times that the delivery was claimed.
    pub(crate) claimed: usize,
    pub(crate) released: usize,
    /// Number of calls that made the delivery due earlier.
    pub(crate) expedited: usize,
}

impl Row {
    fn claim(&mut self, claim: &Claim) -> LeasedDelivery {
        let Claim { lease, lease_until, now, .. } = *claim;
        self.held = Some((lease, lease_until));
        self.awaits_relay = false;
        self.claimed += 1;
        LeasedDelivery { lease, lease_until, target_read_at: now, ..self.delivery.clone() }
    }
}

impl MemoryOutbox {
    pub(crate) fn broken(call: BrokenCall) -> Arc<Self> {
        Arc::new(Self { broken: Some(call), ..Self::default() })
    }

    fn panic_if_broken(&self, call: BrokenCall) {
        assert_ne!(self.broken, Some(call), "intended by the test");
    }

    /// Stores a delivery like the send path: leased, or due at once.
    pub(crate) fn insert(&self, delivery: &LeasedDelivery, is_leased: bool) {
        let held = is_leased.then_some((delivery.lease, delivery.lease_until));
        let row = Row {
            delivery: delivery.clone(),
            due_at: NOW,
            held,
            is_over: false,
            awaits_relay: false,
            claimed: 0,
            released: 0,
            expedited: 0,
        };
        self.state.lock().unwrap().rows.insert(delivery.id(), row);
    }

    /// Disables a webhook, as another node could.
    pub(crate) fn disable(&self, id: WebhookId) {
        self.change(|state| state.ended.insert(id)).unwrap();
    }

    /// Deletes a webhook with its deliveries.
    pub(crate) fn delete(&self, id: WebhookId) {
        self.change(|state| {
            state.ended.insert(id);
            state.rows.retain(|delivery, _| delivery.webhook_id != id);
        })
        .unwrap();
    }

    /// Makes the outcome of this delivery impossible to record, as if a row were corrupt.
    pub(crate) fn corrupt(&self, id: DeliveryId) {
        self.state.lock().unwrap().corrupt = Some(id);
    }

    pub(crate) fn fail(&self, times: usize) {
        self.state.lock().unwrap().failures_left = times;
    }

    pub(crate) fn row(&self, id: DeliveryId) -> Row {
        self.state.lock().unwrap().rows[&id].clone()
    }

    /// Waits until `wanted` returns a value. Panics after 20 seconds.
    pub(crate) fn wait_until<T>(&self, mut wanted: impl FnMut(&State) -> Option<T>) -> T {
        let mut found = None;
        let state = self.state.lock().unwrap();
        let outcome = self.changed.wait_timeout_while(state, Duration::from_secs(20), |state| {
            found = wanted(state);
            found.is_none()
        });
        drop(outcome.unwrap());
        found.expect("the condition became true in time")
    }

    /// Waits until `count` outcomes are recorded.
    pub(crate) fn wait_for_results(&self, count: usize) -> Vec<AttemptResult> {
        self.wait_until(|state| (state.results.len() >= count).then(|| state.results.clone()))
    }

    pub(crate) fn change<T>(&self, work: impl FnOnce(&mut State) -> T) -> Result<T, StoreError> {
        let mut state = self.state.lock().unwrap();
        if state.failures_left > 0 {
            state.failures_left -= 1;
            return Err(StoreError::Unavailable("down".into()));
        }
        let value = work(&mut state);
        self.changed.notify_all();
        Ok(value)
    }
}

impl Outbox for MemoryOutbox {
    fn claim(&self, claim: &Claim) -> Result<Vec<LeasedDelivery>, StoreError> {
        self.panic_if_broken(BrokenCall::Claim);
        self.change(|state| {
            state.claims += 1;
            let mut taken: HashMap<WebhookId, usize> = HashMap::new();
            let ended = &state.ended;
            let is_due = |row: &&mut Row| {
                let is_free = row.held.is_none_or(|(_, until)| until <= claim.now);
                let id = row.delivery.target.webhook_id;
                let may_be =
                    !row.is_over && !row.awaits_relay && row.due_at <= claim.now && is_free;
                let count = taken.entry(id).or_default();
                *count += usize::from(may_be);
                let is_open = !ended.contains(&id) && !claim.full.contains(&id);
                may_be && *count <= claim.per_target_max && is_open
            };
            let due = state.rows.values_mut().filter(is_due).take(claim.limit);
            due.map(|row| row.claim(claim)).collect()
        })
    }

    fn record_outcomes(&self, results: &[AttemptResult], _: Duration) -> Result<(), StoreError> {
        self.panic_if_broken(BrokenCall::RecordOutcomes);
        let has_text = |result: &AttemptResult| {
            result.response.as_ref().is_some_and(|response| !response.excerpt.is_empty())
        };
        let state = self.state.lock().unwrap();
        if state.refuses_log || state.refuses_text && results.iter().any(has_text) {
            return Err(StoreError::Refused("the log refuses the attempt".into()));
        }
        drop(state);
        self.record_unlogged(results)
    }

    fn record_unlogged(&self, results: &[AttemptResult]) -> Result<(), StoreError> {
        let corrupt = self.state.lock().unwrap().corrupt;
        if results.iter().any(|result| Some(result.id) == corrupt) {
            return Err(StoreError::Corrupt("webhook"));
        }
        self.change(|state| {
            for result in results {
                let Some(row) = state.rows.get_mut(&result.id) else { continue };
                if row.held.is_none_or(|(lease, _)| lease != result.lease) {
                    continue;
                }
                row.held = None;
                row.delivery.attempts = result.attempts;
                match result.outcome {
                    Outcome::Retry { due_at, .. } => row.due_at = due_at,
                    Outcome::Exhausted(_) | Outcome::Gone | Outcome::Succeeded => {
                        row.is_over = true;
                    }
                }
                if result.outcome == Outcome::Gone {
                    state.ended.insert(result.id.webhook_id);
                }
                state.results.push(result.clone());
            }
        })
    }

    fn release(
        &self,
        held: &[(DeliveryId, LeaseToken)],
        due_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.change(|state| {
            for (id, lease) in held {
                let row = state.rows.get_mut(id);
                if let Some(row) =
                    row.filter(|row| row.held.is_some_and(|(held, _)| held == *lease))
                {
                    row.held = None;
                    row.due_at = due_at;
                    row.released += 1;
                }
            }
        })
    }

    fn await_relay(
        &self,
        held: &[(DeliveryId, LeaseToken)],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.release(held, now)?;
        self.change(|state| {
            for (id, _) in held {
                if let Some(row) = state.rows.get_mut(id) {
                    row.awaits_relay = true;
                }
            }
        })
    }

    fn relay_arrivals(
        &self,
        since: Timestamp,
        now: Timestamp,
        limit: usize,
    ) -> Result<HashSet<WebhookId>, StoreError> {
        self.change(|state| {
            let is_new = |row: &&Row| row.awaits_relay && (since..=now).contains(&row.due_at);
            let new = state.rows.values().filter(is_new).take(limit);
            new.map(|row| row.delivery.target.webhook_id).collect()
        })
    }

    fn relays_waiting(
        &self,
        after: Option<WebhookId>,
        limit: usize,
    ) -> Result<Vec<WebhookId>, StoreError> {
        self.change(|state| {
            let waiting = state.rows.values().filter(|row| row.awaits_relay);
            let mut ids: Vec<_> = waiting.map(|row| row.delivery.target.webhook_id).collect();
            ids.sort_unstable();
            ids.dedup();
            ids.into_iter().filter(|id| Some(*id) > after).take(limit).collect()
        })
    }

    fn claim_relays(
        &self,
        webhooks: &[WebhookId],
        claim: &Claim,
    ) -> Result<Vec<LeasedDelivery>, StoreError> {
        self.change(|state| {
            let waits = |row: &&mut Row| {
                let id = row.delivery.target.webhook_id;
                row.awaits_relay && row.due_at <= claim.now && webhooks.contains(&id)
            };
            let waiting = state.rows.values_mut().filter(waits).take(claim.limit);
            waiting.map(|row| row.claim(claim)).collect()
        })
    }

    fn leave_relays(&self, _: usize) -> Result<usize, StoreError> {
        Ok(0)
    }

    fn expedite(&self, expedited: &[ExpeditedDelivery]) -> Result<(), StoreError> {
        self.change(|state| {
            for ExpeditedDelivery { id, from, to } in expedited {
                let row = state.rows.get_mut(id);
                if let Some(row) =
                    row.filter(|row| row.held.is_none() && !row.is_over && row.due_at == *from)
                {
                    row.due_at = *to;
                    row.expedited += 1;
                }
            }
        })
    }

    fn active_targets(&self, of: &[WebhookId]) -> Result<Vec<Target>, StoreError> {
        self.change(|state| {
            state.queries += 1;
            let mut active = HashMap::new();
            for Row { delivery, .. } in state.rows.values() {
                let id = delivery.target.webhook_id;
                if of.contains(&id) && !state.ended.contains(&id) {
                    active.insert(id, Target::clone(&delivery.target));
                }
            }
            active.into_values().collect()
        })
    }
}

pub(crate) fn webhook_id(number: u16) -> WebhookId {
    let [high, low] = number.to_be_bytes();
    WebhookId::new(NOW, [0, 0, 0, 0, 0, 0, 0, 0, high, low])
}

/// Returns the account of a test webhook. Each webhook below number 1000 has a separate account. Above, each hundred
/// webhooks share an account.
pub(crate) fn account_of(webhook: u16) -> AccountId {
    let number = if webhook < 1000 { webhook } else { webhook - webhook % 100 };
    let [high, low] = number.to_be_bytes();
    AccountId::new(NOW, [0, 0, 0, 0, 0, 0, 0, 0, high, low])
}

/// Returns a delivery of the envelope number `envelope` to the webhook number `target`. The URL of the webhook is
/// empty.
pub(crate) fn delivery(target: u16, envelope: u32) -> LeasedDelivery {
    let target = Target {
        webhook_id: webhook_id(target),
        account_id: account_of(target),
        url: String::new(),
        secret: Wrapped(vec![]),
        retiring: vec![],
    };
    delivery_to(Arc::new(target), envelope)
}

pub(crate) fn delivery_to(target: Arc<Target>, envelope: u32) -> LeasedDelivery {
    let [a, b, c, d] = envelope.to_be_bytes();
    let meta = EnvelopeMeta {
        id: EnvelopeId::new(NOW, [0, 0, 0, 0, 0, 0, a, b, c, d]),
        sender: "ak_01h455vb4pex5vsknk084sn02q".parse().unwrap(),
        recipient: "ak_00000000000000000000000001".parse().unwrap(),
        suite: Suite::Hybrid,
        hash: EnvelopeHash([d; 32]),
        payload_size_bytes: 1234,
        timestamp: NOW,
        context: MessageContext::default(),
        trace: None,
    };
    LeasedDelivery {
        event: Event::received(meta, None),
        target,
        target_read_at: NOW,
        attempts: 0,
        requested_at: None,
        lease: LeaseToken(i64::from(envelope)),
        lease_until: NOW.plus(Duration::from_secs(45)),
    }
}
