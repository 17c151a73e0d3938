//! Caches a [`TargetSender`] for each target, with its decrypted signing keys and HTTP client. Evicts idle
//! senders.

use std::{
    collections::HashMap,
    rc::Rc,
    time::{Duration, Instant},
};

use sealpost_domain::WebhookId;

use super::target_sender::TargetSender;

pub(crate) struct SenderCache {
    by_target: HashMap<WebhookId, CachedSender>,
    /// Maximum number of senders. The cache exceeds it only while no sender is idle.
    max: usize,
    keep_alive: Duration,
}

struct CachedSender {
    sender: Rc<TargetSender>,
    last_used: Instant,
}

impl SenderCache {
    pub(crate) fn new(max: usize, keep_alive: Duration) -> Self {
        Self { by_target: HashMap::new(), max, keep_alive }
    }

    pub(crate) fn get(&self, id: WebhookId) -> Option<&Rc<TargetSender>> {
        self.by_target.get(&id).map(|cached| &cached.sender)
    }

    /// Adds a sender. If the cache is full, first evicts the least recently used idle senders, because each idle
    /// connection is an open socket.
    pub(crate) fn insert(&mut self, id: WebhookId, sender: Rc<TargetSender>) {
        while self.by_target.len() >= self.max
            && let Some(oldest) = self.oldest_idle()
        {
            self.by_target.remove(&oldest);
        }
        self.by_target.insert(id, CachedSender { sender, last_used: Instant::now() });
    }

    /// Sets the time of the sender's last use to now, because an attempt has ended.
    pub(crate) fn mark_used(&mut self, id: WebhookId) {
        if let Some(cached) = self.by_target.get_mut(&id) {
            cached.last_used = Instant::now();
        }
    }

    /// Evicts senders that have been idle for `keep_alive`.
    pub(crate) fn evict_idle(&mut self) {
        let now = Instant::now();
        self.by_target.retain(|_, cached| {
            !cached.is_idle() || now.duration_since(cached.last_used) < self.keep_alive
        });
    }

    /// Returns the least recently used idle sender. Searches all senders, which takes less time than opening a
    /// connection.
    fn oldest_idle(&self) -> Option<WebhookId> {
        let idle = self.by_target.iter().filter(|(_, cached)| cached.is_idle());
        idle.min_by_key(|(_, cached)| cached.last_used).map(|(id, _)| *id)
    }
}

impl CachedSender {
    /// Returns true if no attempt uses the sender. Each attempt in flight holds a reference to its sender.
    fn is_idle(&self) -> bool {
        Rc::strong_count(&self.sender) == 1
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        http::{
            client::{ClientFactory, ConnectionPools},
            tls::tls_config,
        },
        settings::{KEEP_ALIVE, SENDERS_MAX},
        tests::{
            fake_resolver::fixed,
            fixture::{SECRET, keyring, settings, target},
            memory_outbox::webhook_id,
        },
    };

    /// Creates a sender that never connects, because its URL is forbidden.
    fn sender() -> Rc<TargetSender> {
        let clients = ClientFactory {
            policy: settings().policy,
            resolver: fixed(),
            tls: tls_config(&[]).unwrap(),
            timeout: Duration::from_secs(1),
            relays: Arc::default(),
            pools: ConnectionPools::default(),
        };
        let target = target(1, "", SECRET);
        Rc::new(TargetSender::open(&target, &keyring(), &clients, None).unwrap())
    }

    #[test]
    fn senders_that_were_idle_longest_are_evicted_first() {
        let mut cache = SenderCache::new(SENDERS_MAX, KEEP_ALIVE);
        let mut use_once = |target: u16| {
            let id = webhook_id(target);
            if cache.get(id).is_none() {
                cache.insert(id, sender());
            }
            cache.mark_used(id);
        };
        (0..600).for_each(|target| {
            use_once(0);
            use_once(target);
        });
        assert_eq!(cache.by_target.len(), 512);
        let is_cached = |target| cache.get(webhook_id(target)).is_some();
        assert!(is_cached(0) && !is_cached(1) && !is_cached(88) && is_cached(599));
        cache.evict_idle();
        assert_eq!(cache.by_target.len(), 512);
    }

    #[test]
    fn a_sender_with_an_attempt_in_flight_is_not_evicted() {
        let mut cache = SenderCache::new(1, Duration::ZERO);
        let [busy, idle, next] = [1, 2, 3].map(webhook_id);
        cache.insert(busy, sender());
        let attempt = Rc::clone(cache.get(busy).unwrap());
        cache.mark_used(busy);
        cache.insert(idle, sender());
        cache.mark_used(idle);
        cache.insert(next, sender());
        assert!(cache.get(busy).is_some() && cache.get(idle).is_none());
        cache.evict_idle();
        assert!(cache.get(busy).is_some() && cache.get(next).is_none());
        drop(attempt);
        cache.evict_idle();
        assert!(cache.get(busy).is_none());
    }
}
