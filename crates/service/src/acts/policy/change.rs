//! A change of a recipient's policy: finds the keys that the request names, and applies the change.

use std::collections::BTreeSet;

use sealpost_domain::{AcceptPolicy, ApiKeyId, ReceiptPolicy, RecipientPolicy, Refusal};
use sealpost_storage::{Abort, Reader};

use crate::account::key_status::{find_named_key, unknown};

/// A change of a recipient's policy, as requested. Fields that are `None` or empty change nothing. Each list names
/// at most 100 keys.
#[derive(Debug, Clone, Default)]
pub struct PolicyChange {
    /// The senders whose messages the key accepts.
    pub accept: Option<AcceptPolicy>,
    /// The part of a receipt (the state of a received envelope) that the key shows to the sender.
    pub receipts: Option<ReceiptPolicy>,
    /// Whether other keys can see the label (display name) of the key.
    pub listed: Option<bool>,
    /// API keys or handles to add to the allowlist.
    pub allow: Vec<String>,
    /// API keys or handles to remove from the allowlist.
    pub unallow: Vec<String>,
    /// API keys or handles to add to the blocklist.
    pub block: Vec<String>,
    /// API keys or handles to remove from the blocklist.
    pub unblock: Vec<String>,
}

impl PolicyChange {
    /// Returns whether the request changes nothing and only reads the policy.
    pub fn is_empty(&self) -> bool {
        let Self { accept, receipts, listed, allow, unallow, block, unblock } = self;
        accept.is_none()
            && receipts.is_none()
            && listed.is_none()
            && [allow, unallow, block, unblock].iter().all(|list| list.is_empty())
    }

    /// Refuses a list of more than 100 API keys and handles. `field` is the name of the list.
    pub fn check_names(field: &'static str, names: &[String]) -> Result<(), Refusal> {
        if names.len() <= NAMES_MAX {
            return Ok(());
        }
        let problem = format!("must name at most {NAMES_MAX} keys; send several requests");
        Err(Refusal::InvalidField { field, problem })
    }

    /// Finds the keys that the change names. Refuses a list with too many names, unknown keys, and a key in two
    /// contradictory lists such as `allow` and `block`.
    pub(super) fn find_keys(&self, reader: &mut Reader) -> Result<KeyedChange, Abort> {
        let Self { accept, receipts, listed, allow, unallow, block, unblock } = self;
        let (accept, receipts, listed) = (*accept, *receipts, *listed);
        for (field, names) in
            [("allow", allow), ("unallow", unallow), ("block", block), ("unblock", unblock)]
        {
            Self::check_names(field, names)?;
        }
        let mut keyed = KeyedChange { accept, receipts, listed, ..KeyedChange::default() };
        for (field, names, keys) in [
            ("allow", allow, &mut keyed.allow),
            ("unallow", unallow, &mut keyed.unallow),
            ("block", block, &mut keyed.block),
            ("unblock", unblock, &mut keyed.unblock),
        ] {
            *keys = find_keys(reader, field, names)?;
        }
        keyed.check_opposites()?;
        Ok(keyed)
    }
}

/// Finds the keys that `names` contains, as API keys or as handles. Refuses unknown keys.
fn find_keys(
    reader: &mut Reader,
    field: &'static str,
    names: &[String],
) -> Result<BTreeSet<ApiKeyId>, Abort> {
    let mut keys = BTreeSet::new();
    for name in names {
        keys.insert(find_named_key(reader, field, name)?);
    }
    let ids: Vec<_> = keys.iter().copied().collect();
    let all_exist = reader.find_key_snapshots(&ids)?.len() == keys.len();
    if all_exist { Ok(keys) } else { Err(unknown(field).into()) }
}

/// A change of a recipient's policy, with the ids of existing keys instead of names.
#[derive(Debug, Clone, Default)]
pub(super) struct KeyedChange {
    pub(super) accept: Option<AcceptPolicy>,
    receipts: Option<ReceiptPolicy>,
    listed: Option<bool>,
    allow: BTreeSet<ApiKeyId>,
    unallow: BTreeSet<ApiKeyId>,
    block: BTreeSet<ApiKeyId>,
    unblock: BTreeSet<ApiKeyId>,
}

impl KeyedChange {
    fn check_opposites(&self) -> Result<(), Refusal> {
        for (keys, opposites, field, opposite) in [
            (&self.unallow, &self.allow, "unallow", "allow"),
            (&self.block, &self.allow, "block", "allow"),
            (&self.unblock, &self.block, "unblock", "block"),
        ] {
            if let Some(key) = keys.intersection(opposites).next() {
                let problem = format!("must not name {key}, which {opposite} names too");
                return Err(Refusal::InvalidField { field, problem });
            }
        }
        Ok(())
    }

    /// Applies the change to `policy`. Refuses the change if the allowlist or the blocklist would then have more than
    /// `entries_max` keys.
    pub(super) fn apply(
        &self,
        policy: &mut RecipientPolicy,
        entries_max: u32,
    ) -> Result<(), Refusal> {
        policy.receipts = self.receipts.unwrap_or(policy.receipts);
        policy.is_listed = self.listed.unwrap_or(policy.is_listed);
        // Changes `records_contacts` only if the request changes `accept`. A concurrent request may be collecting
        // contacts for the policy `Contacts`, and needs the recording of new contacts to continue.
        if let Some(accept) = self.accept {
            policy.accept = accept;
            policy.records_contacts = accept == AcceptPolicy::Contacts;
        }
        for (list, added, removed, what) in [
            (&mut policy.allowed, &self.allow, &self.unallow, "allowed keys of this API key"),
            (&mut policy.blocked, &self.block, &self.unblock, "blocked keys of this API key"),
        ] {
            list.retain(|key| !removed.contains(key));
            list.extend(added);
            if u32::try_from(list.len()).is_ok_and(|entries| entries <= entries_max) {
                continue;
            }
            let way_out = "remove keys that are no longer needed";
            return Err(Refusal::QuotaExceeded { limit: entries_max, what, way_out });
        }
        Ok(())
    }
}

/// Maximum number of API keys and handles in each list of one change.
const NAMES_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use sealpost_domain::Timestamp;

    use super::*;

    fn keys(numbers: std::ops::Range<u8>) -> BTreeSet<ApiKeyId> {
        numbers.map(|n| ApiKeyId::new(Timestamp::from_millis(1), [n; 10])).collect()
    }

    #[test]
    fn a_full_list_takes_a_key_only_in_place_of_another() {
        let mut policy = RecipientPolicy { blocked: keys(0..3), ..RecipientPolicy::default() };
        let add = KeyedChange { block: keys(3..4), ..KeyedChange::default() };
        let Err(Refusal::QuotaExceeded { limit: 3, .. }) = add.apply(&mut policy.clone(), 3) else {
            panic!("the list is full");
        };
        let known = KeyedChange { block: keys(0..3), ..KeyedChange::default() };
        known.apply(&mut policy, 3).unwrap();
        let replace = KeyedChange { unblock: keys(0..1), ..add };
        replace.apply(&mut policy, 3).unwrap();
        assert_eq!(policy.blocked, keys(1..4));
    }

    #[test]
    fn a_change_names_at_most_100_keys_in_each_list() {
        let check = |number| PolicyChange::check_names("block", &vec!["bob".to_owned(); number]);
        check(100).unwrap();
        let Err(Refusal::InvalidField { field: "block", .. }) = check(101) else {
            panic!("the list is too long");
        };
    }

    #[test]
    fn only_keys_that_accept_contacts_record_them() {
        let mut policy = RecipientPolicy::default();
        for (accept, records_contacts) in
            [(AcceptPolicy::Contacts, true), (AcceptPolicy::Nobody, false)]
        {
            let change = KeyedChange { accept: Some(accept), ..KeyedChange::default() };
            change.apply(&mut policy, 3).unwrap();
            assert_eq!(policy.records_contacts, records_contacts);
            KeyedChange::default().apply(&mut policy, 3).unwrap();
            assert_eq!(policy.records_contacts, records_contacts);
        }
        let mut collecting = RecipientPolicy { records_contacts: true, ..policy };
        KeyedChange { listed: Some(false), ..KeyedChange::default() }
            .apply(&mut collecting, 3)
            .unwrap();
        assert!(collecting.records_contacts, "contacts are collected meanwhile");
    }
}
