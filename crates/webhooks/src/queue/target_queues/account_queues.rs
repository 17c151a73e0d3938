//! Bounds the number of queued deliveries of each account.

use std::{
    collections::{HashMap, HashSet},
    mem,
};

use sealpost_domain::{AccountId, WebhookId};

use crate::settings::Settings;

/// Counts the queued deliveries of each account. Marks a target as full if the queued deliveries of its account leave
/// too little capacity for another [claim](sealpost_domain::ports::Claim).
pub(super) struct AccountQueues {
    queued: HashMap<AccountId, usize>,
    full: HashMap<AccountId, HashSet<WebhookId>>,
    has_changed: bool,
    /// Number of further deliveries that an account must be able to queue. If fewer fit, the targets of the account are
    /// full, and no more of their deliveries are claimed from the database.
    claim_room: usize,
    /// Number of delivery workers, which share the free capacity equally.
    workers: usize,
}

impl AccountQueues {
    pub(super) fn new(settings: &Settings) -> Self {
        let workers = settings.workers();
        let room_max = settings.queue_max / workers;
        Self {
            queued: HashMap::new(),
            full: HashMap::new(),
            has_changed: false,
            claim_room: settings.claim_max.min(room_max / CLAIM_ROOM_DIVISOR),
            workers,
        }
    }

    pub(super) fn add(&mut self, account_id: AccountId, count: usize) {
        if count > 0 {
            *self.queued.entry(account_id).or_default() += count;
        }
    }

    pub(super) fn remove(&mut self, account_id: AccountId, count: usize) {
        let Some(queued) = self.queued.get_mut(&account_id) else { return };
        *queued = queued.saturating_sub(count);
        if *queued == 0 {
            self.queued.remove(&account_id);
        }
    }

    /// Returns true if the account may queue another delivery in this worker.
    ///
    /// `free` is the number of further deliveries that fit into the memory of all workers together. The limit of an
    /// account in one worker is `free` divided by the number of workers. Each queued delivery reduces `free`, so a
    /// single account can use only about half of the capacity.
    pub(super) fn has_place(&self, account_id: AccountId, free: usize) -> bool {
        self.queued(account_id) <= free / self.workers
    }

    /// Marks the target as full if its account cannot queue `claim_room` further deliveries. No more deliveries to a
    /// full target are claimed from the database.
    pub(super) fn mark_if_full(&mut self, account_id: AccountId, target: WebhookId, free: usize) {
        if self.queued(account_id) + self.claim_room > free / self.workers {
            self.has_changed |= self.full.entry(account_id).or_default().insert(target);
        }
    }

    /// Returns all full targets, or `None` if the set of full targets has not changed since the last call.
    ///
    /// The targets of an account stop being full in two cases:
    ///
    /// - The account has no queued deliveries.
    /// - The account uses at most half of its limit, and can queue `claim_room` further deliveries. So the next claim
    ///   usually comes before its queues are empty.
    pub(super) fn changed_full_targets(&mut self, free: usize) -> Option<HashSet<WebhookId>> {
        let (count, max) = (self.full.len(), free / self.workers);
        let (queued, claim_room) = (&self.queued, self.claim_room);
        self.full.retain(|account_id, _| {
            let queued = queued.get(account_id).copied().unwrap_or_default();
            queued > 0 && (queued * 2 > max || queued + claim_room > max)
        });
        let has_changed = mem::take(&mut self.has_changed) || self.full.len() < count;
        has_changed.then(|| self.full.values().flatten().copied().collect())
    }

    fn queued(&self, account_id: AccountId) -> usize {
        self.queued.get(&account_id).copied().unwrap_or_default()
    }
}

/// Divisor that limits [`AccountQueues::claim_room`] to an eighth of the deliveries that a delivery worker may hold in
/// memory. The rest stays free for other accounts.
const CLAIM_ROOM_DIVISOR: usize = 8;
