//! What earlier batches have read, for as long as it holds: every change of a fact draws another stamp, in the
//! transaction that changes it. What does not exist is not remembered.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use sealpost_domain::{
    ApiKeyId, Session, TokenHash,
    ports::{AdmissionFacts, FactsQuery, KeyFacts, RecipientWebhooks},
};

/// Shared by all batches of a node.
#[derive(Debug)]
pub(crate) struct Memory {
    known: Mutex<Known>,
    /// How many sessions, how many keys and how many webhooks.
    max: usize,
}

#[derive(Debug, Default)]
struct Known {
    /// `None` while nothing is known.
    stamp: Option<String>,
    sessions: HashMap<TokenHash, Session>,
    keys: HashMap<ApiKeyId, Arc<KeyFacts>>,
    webhooks: HashMap<ApiKeyId, Arc<RecipientWebhooks>>,
    /// How many those are, of all keys.
    registered: usize,
}

impl Memory {
    pub(crate) fn new(max: usize) -> Self {
        Self { known: Mutex::default(), max }
    }

    /// What is known of what is wanted, and holds at this stamp.
    pub(crate) fn recall(
        &self,
        stamp: &str,
        wanted: &FactsQuery,
        keys: &[ApiKeyId],
    ) -> AdmissionFacts {
        let known = self.at(stamp);
        AdmissionFacts {
            sessions: pick(&known.sessions, &wanted.sessions),
            keys: pick(&known.keys, keys),
            webhooks: pick(&known.webhooks, &wanted.recipients),
            ..AdmissionFacts::default()
        }
    }

    /// Remembers what was read at this stamp.
    pub(crate) fn keep(&self, stamp: &str, read: &AdmissionFacts) {
        let mut known = self.at(stamp);
        add(&mut known.sessions, &read.sessions, self.max);
        add(&mut known.keys, &read.keys, self.max);
        for (key, webhooks) in &read.webhooks {
            known.add_webhooks(*key, webhooks, self.max);
        }
    }

    /// A new connection may lead to a server, or a state of it, where what was added to the old one never was.
    pub(crate) fn forget(&self) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Known::default();
    }

    /// What is known at this stamp: nothing where it is a new one.
    fn at(&self, stamp: &str) -> MutexGuard<'_, Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.stamp.as_deref() != Some(stamp) {
            *known = Known { stamp: Some(stamp.to_owned()), ..Known::default() };
        }
        known
    }
}

impl Known {
    /// These are of any size, so that each counts, and a key that has none as one.
    fn add_webhooks(&mut self, key: ApiKeyId, of_key: &Arc<RecipientWebhooks>, max: usize) {
        let count = (of_key.enabled.len() + of_key.disabled.len()).max(1);
        if self.registered.saturating_add(count) > max {
            self.webhooks.clear();
            self.registered = 0;
        }
        if count <= max {
            self.webhooks.insert(key, Arc::clone(of_key));
            self.registered += count;
        }
    }
}

fn pick<K: Copy + Eq + Hash, V: Clone>(known: &HashMap<K, V>, wanted: &[K]) -> HashMap<K, V> {
    let found = |key: &K| known.get(key).map(|value| (*key, value.clone()));
    wanted.iter().filter_map(found).collect()
}

/// Where there is no room all is let go: what is in use comes back with the next batches.
fn add<K: Copy + Eq + Hash, V: Clone>(known: &mut HashMap<K, V>, read: &HashMap<K, V>, max: usize) {
    if known.len().saturating_add(read.len()) > max {
        known.clear();
    }
    known.extend(read.iter().take(max).map(|(key, value)| (*key, value.clone())));
}

#[cfg(test)]
mod tests {
    use sealpost_domain::{AccountId, Timestamp};

    use super::*;

    fn read(from: u8, count: u8) -> AdmissionFacts {
        let session = |n| {
            let (token, end) = (TokenHash([n; 32]), Timestamp::from_millis(i64::from(n)));
            let session =
                Session { token, account_id: AccountId::new(end, [n; 10]), expires_at: end };
            (token, session)
        };
        AdmissionFacts {
            sessions: (from..from + count).map(session).collect(),
            ..AdmissionFacts::default()
        }
    }

    fn recalled(memory: &Memory, stamp: &str) -> usize {
        let sessions = (0..100).map(|n| TokenHash([n; 32])).collect();
        memory.recall(stamp, &FactsQuery { sessions, ..FactsQuery::default() }, &[]).sessions.len()
    }

    #[test]
    fn what_is_known_is_known_at_its_stamp_alone() {
        let memory = Memory::new(9);
        memory.keep("a", &read(0, 2));
        memory.keep("a", &read(2, 1));
        assert_eq!(recalled(&memory, "a"), 3);
        assert_eq!(recalled(&memory, "b"), 0);
        assert_eq!(recalled(&memory, "a"), 0, "what was another state is gone for good");
    }

    #[test]
    fn no_more_is_known_than_there_is_room_for() {
        let memory = Memory::new(5);
        for from in 0..20 {
            memory.keep("a", &read(3 * from, 3));
            assert!(recalled(&memory, "a") <= 5);
        }
        memory.keep("a", &read(0, 100));
        assert_eq!(recalled(&memory, "a"), 5);
    }

    #[test]
    fn webhooks_count_however_many_a_key_has() {
        let memory = Memory::new(5);
        let key = |n| ApiKeyId::new(Timestamp::from_millis(1), [n; 10]);
        let known = |memory: &Memory| {
            let recipients: Vec<_> = (0..100).map(key).collect();
            let wanted = FactsQuery { recipients, ..FactsQuery::default() };
            memory.recall("a", &wanted, &[]).webhooks.len()
        };
        let keep = |n, count| {
            let disabled =
                vec![sealpost_domain::WebhookId::new(Timestamp::from_millis(1), [n; 10]); count];
            let of_key = Arc::new(RecipientWebhooks { enabled: vec![], disabled });
            let webhooks = HashMap::from([(key(n), of_key)]);
            memory.keep("a", &AdmissionFacts { webhooks, ..AdmissionFacts::default() });
        };
        keep(1, 2);
        keep(2, 0);
        keep(3, 2);
        assert_eq!(known(&memory), 3);
        keep(4, 1);
        assert_eq!(known(&memory), 1, "all made room for the fourth");
        keep(5, 6);
        assert_eq!(known(&memory), 0, "one that would fill it alone is not kept");
    }

    #[test]
    fn what_was_forgotten_is_read_again() {
        let memory = Memory::new(9);
        memory.keep("a", &read(0, 2));
        memory.forget();
        assert_eq!(recalled(&memory, "a"), 0);
    }
}
