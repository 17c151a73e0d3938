//! Chooses the target of the next request, with quotas of slots for accounts and for health classes.
//!
//! Each health class has a ring of accounts, and each account in it a ring of targets. However many targets hang or
//! respond slowly, and however many targets an account has, responsive targets of other accounts get slots.

mod account_ring;

use std::collections::HashMap;

use sealpost_domain::{AccountId, WebhookId};

use self::account_ring::AccountRing;
use crate::{circuit_breaker::target_health::TargetHealth, settings::Settings};

/// The targets with queued deliveries, in the order in which they may start requests.
pub(crate) struct FairQueue {
    classes: ClassQueues,
    /// Slots of each account with a request in flight.
    accounts: HashMap<AccountId, AccountSlots>,
    account_max: usize,
    slots_max: usize,
    /// Index in [`CLASSES`] of the health class that is served next.
    next_class: usize,
}

/// A slot for one request in flight. Counts against the quotas of the account, and of the health class that the target
/// had at the start of the request.
#[derive(Debug)]
pub(crate) struct Slot {
    /// Host of the request. The slot counts against the limit of this host too.
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

/// The waiting targets and the slots of one health class.
struct ClassQueue {
    turns: AccountRing,
    used: usize,
    max: usize,
}

/// Numbers of the slots that one account uses.
#[derive(Default)]
struct AccountSlots {
    used: usize,
    /// Number of slots used by targets that are slow, unresponsive or untried.
    used_by_others: usize,
}

impl FairQueue {
    pub(crate) fn new(settings: &Settings) -> Self {
        let slots_max = settings.in_flight_per_worker();
        let bounds = &settings.bounds;
        let part = |divisor: usize| ClassQueue::new(slots_max / divisor.max(1));
        let classes = ClassQueues {
            responsive: part(1),
            slow: part(bounds.slow_quota_divisor),
            unresponsive: part(bounds.unresponsive_quota_divisor),
            untried: part(bounds.untried_quota_divisor),
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
        self.classes.of(health).turns.push(account_id, id);
    }

    /// Removes and returns the target that may start the next request. Returns `None` if the quotas allow no request
    /// now. Alternates between the health classes, then between the accounts of a class, then between the targets of an
    /// account.
    pub(crate) fn pop(&mut self) -> Option<WebhookId> {
        if self.free_slots() == 0 {
            return None;
        }
        CLASSES.iter().find_map(|_| {
            let health = CLASSES.get(self.next_class).copied().unwrap_or_default();
            self.next_class = (self.next_class + 1) % CLASSES.len();
            let class = self.classes.of(health);
            let (accounts, max) = (&self.accounts, self.account_max);
            let may_start = |id: &AccountId| has_room(accounts.get(id), health, max);
            if class.has_room() { class.turns.pop(may_start) } else { None }
        })
    }

    /// Takes a slot for a target that [`FairQueue::pop`] returned. Returns `None` and queues the target again if a
    /// quota is used up.
    pub(crate) fn acquire(
        &mut self,
        id: WebhookId,
        account_id: AccountId,
        health: TargetHealth,
    ) -> Option<Slot> {
        let class = self.classes.of(health);
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
        let class = self.classes.of(slot.health);
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

    fn of(&mut self, health: TargetHealth) -> &mut ClassQueue {
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

/// Whether an account may use another slot for a target of this health. `of_account` counts the slots in use; `None`
/// means none. An account may use `max` slots, and at most half of them for targets that are not responsive.
fn has_room(of_account: Option<&AccountSlots>, health: TargetHealth, max: usize) -> bool {
    of_account.is_none_or(|AccountSlots { used, used_by_others }| {
        let is_responsive = health == TargetHealth::Responsive;
        *used < max && (is_responsive || *used_by_others < max.div_ceil(2))
    })
}

const CLASSES: [TargetHealth; 4] = [
    TargetHealth::Responsive,
    TargetHealth::Slow,
    TargetHealth::Untried,
    TargetHealth::Unresponsive,
];
