//! Chooses the target of the next request. Limits the requests in flight of each account and of each health class
//! (responsive, slow, unresponsive or untried targets).
//!
//! The health classes take turns. Within a class, the accounts take turns, and within an account, its targets.
//! Responsive targets therefore get requests, even if many other targets hang. An account with many targets gets no
//! more turns than an account with one target.

mod account_ring;

use std::collections::HashMap;

use sealpost_domain::{AccountId, WebhookId};

use self::account_ring::AccountRing;
use crate::{circuit_breaker::TargetHealth, settings::Settings};

/// Queues the targets with waiting deliveries, and chooses the target of the next request.
pub(crate) struct FairQueue {
    classes: ClassQueues,
    /// The numbers of requests in flight, for each account with requests in flight.
    accounts: HashMap<AccountId, AccountSlots>,
    account_max: usize,
    slots_max: usize,
    /// Index in [`CLASSES`] of the health class whose turn is next.
    next_class: usize,
}

/// The permission to have one request in flight. The request counts against the limits of its account, and of the
/// health class that the target had when the request started.
#[derive(Debug)]
pub(crate) struct Slot {
    /// Host that the request is sent to. The request counts against the limit of this host too.
    pub(super) host: String,
    account_id: AccountId,
    health: TargetHealth,
}

struct ClassQueues {
    responsive: ClassQueue,
    slow: ClassQueue,
    unresponsive: ClassQueue,
    untried: ClassQueue,
}

/// Queues the targets of one health class, which take turns in sending requests. Counts and limits the requests in
/// flight to all targets of the class.
struct ClassQueue {
    turns: AccountRing,
    used: usize,
    max: usize,
}

/// Counts the requests in flight of one account.
#[derive(Default)]
struct AccountSlots {
    used: usize,
    /// Number of requests in flight to targets that are slow, unresponsive, or untried (no attempt has ended yet).
    used_by_others: usize,
}

impl FairQueue {
    pub(crate) fn new(settings: &Settings) -> Self {
        let slots_max = settings.in_flight_per_worker();
        let part = |divisor: usize| ClassQueue::new(slots_max / divisor);
        let classes = ClassQueues {
            responsive: part(1),
            slow: part(SLOW_DIVISOR),
            unresponsive: part(UNRESPONSIVE_DIVISOR),
            untried: part(UNTRIED_DIVISOR),
        };
        Self {
            classes,
            accounts: HashMap::new(),
            account_max: settings.in_flight_per_account_and_worker(),
            slots_max,
            next_class: 0,
        }
    }

    pub(crate) fn free_slots(&self) -> usize {
        self.slots_max.saturating_sub(self.classes.used())
    }

    pub(crate) fn push(&mut self, id: WebhookId, account_id: AccountId, health: TargetHealth) {
        self.classes.class(health).turns.push(account_id, id);
    }

    /// Removes and returns the target that may start the next request. Returns `None` if no target waits or if the
    /// limits allow no request now. The health classes take turns, then the accounts of a class, then the targets of an
    /// account.
    pub(crate) fn pop(&mut self) -> Option<WebhookId> {
        if self.free_slots() == 0 {
            return None;
        }
        CLASSES.iter().find_map(|_| {
            let health = CLASSES.get(self.next_class).copied().unwrap_or_default();
            self.next_class = (self.next_class + 1) % CLASSES.len();
            let class = self.classes.class(health);
            let (accounts, max) = (&self.accounts, self.account_max);
            let may_start = |id: &AccountId| has_room(accounts.get(id), health, max);
            if class.has_room() { class.turns.pop(may_start) } else { None }
        })
    }

    /// Counts a new request to a target that [`FairQueue::pop`] returned. Returns `None` and queues the target again if
    /// a limit is reached.
    pub(crate) fn acquire(
        &mut self,
        id: WebhookId,
        account_id: AccountId,
        health: TargetHealth,
    ) -> Option<Slot> {
        let class = self.classes.class(health);
        if !class.has_room() || !has_room(self.accounts.get(&account_id), health, self.account_max)
        {
            class.turns.push(account_id, id);
            return None;
        }
        class.used += 1;
        let of_account = self.accounts.entry(account_id).or_default();
        of_account.used += 1;
        of_account.used_by_others += usize::from(health != TargetHealth::Responsive);
        Some(Slot { host: String::new(), account_id, health })
    }

    pub(crate) fn release(&mut self, slot: &Slot) {
        let class = self.classes.class(slot.health);
        class.used = class.used.saturating_sub(1);
        let Some(of_account) = self.accounts.get_mut(&slot.account_id) else { return };
        let by_other = usize::from(slot.health != TargetHealth::Responsive);
        of_account.used = of_account.used.saturating_sub(1);
        of_account.used_by_others = of_account.used_by_others.saturating_sub(by_other);
        if of_account.used == 0 {
            self.accounts.remove(&slot.account_id);
        }
    }
}

impl ClassQueues {
    fn used(&self) -> usize {
        let Self { responsive, slow, unresponsive, untried } = self;
        [responsive, slow, unresponsive, untried].iter().map(|class| class.used).sum()
    }

    fn class(&mut self, health: TargetHealth) -> &mut ClassQueue {
        match health {
            TargetHealth::Responsive => &mut self.responsive,
            TargetHealth::Slow => &mut self.slow,
            TargetHealth::Unresponsive => &mut self.unresponsive,
            TargetHealth::Untried => &mut self.untried,
        }
    }
}

impl ClassQueue {
    fn new(max: usize) -> Self {
        Self { turns: AccountRing::default(), used: 0, max: max.max(1) }
    }

    fn has_room(&self) -> bool {
        self.used < self.max
    }
}

/// Returns true if an account may have another request in flight to a target of this health. `of_account` counts the
/// account's requests in flight; `None` means zero. The account may have at most `max` requests in flight, and at most
/// half of `max` to targets that are not responsive.
fn has_room(of_account: Option<&AccountSlots>, health: TargetHealth, max: usize) -> bool {
    of_account.is_none_or(|AccountSlots { used, used_by_others }| {
        let is_responsive = health == TargetHealth::Responsive;
        *used < max && (is_responsive || *used_by_others < max.div_ceil(2))
    })
}

/// Divisors of the maximum number of requests in flight. All targets of a health class together may use the maximum
/// divided by the divisor of the class. This leaves an eighth of the requests in flight to responsive targets. A target
/// is untried until its first attempt has ended.
const UNTRIED_DIVISOR: usize = 2;
const SLOW_DIVISOR: usize = 8;
const UNRESPONSIVE_DIVISOR: usize = 4;

const CLASSES: [TargetHealth; 4] = [
    TargetHealth::Responsive,
    TargetHealth::Slow,
    TargetHealth::Untried,
    TargetHealth::Unresponsive,
];
