//! Lets the accounts of one health class take turns, and within each account its targets.

use std::collections::{HashMap, VecDeque};

use sealpost_domain::{AccountId, WebhookId};

/// The order in which the targets of one health class may start requests. The accounts take turns, so an account with
/// many targets may start only as many requests as an account with one target.
#[derive(Default)]
pub(super) struct AccountRing {
    /// The accounts with at least one waiting target. Each account occurs once.
    accounts: VecDeque<AccountId>,
    targets: HashMap<AccountId, VecDeque<WebhookId>>,
}

impl AccountRing {
    pub(super) fn push(&mut self, account_id: AccountId, target: WebhookId) {
        let targets = self.targets.entry(account_id).or_default();
        if targets.is_empty() {
            self.accounts.push_back(account_id);
        }
        targets.push_back(target);
    }

    /// Returns the next target of the next account for which `may_start` returns true. The search is short, because it
    /// skips only accounts that have reached their limit.
    pub(super) fn pop(&mut self, may_start: impl Fn(&AccountId) -> bool) -> Option<WebhookId> {
        let position = self.accounts.iter().position(may_start)?;
        let account_id = self.accounts.remove(position)?;
        let targets = self.targets.get_mut(&account_id)?;
        let target = targets.pop_front();
        if targets.is_empty() {
            self.targets.remove(&account_id);
        } else {
            self.accounts.push_back(account_id);
        }
        target
    }
}
