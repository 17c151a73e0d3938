//! A dispatcher for tests, with fast settings, a manual clock, and a delivery queue in memory instead of a database.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use ring::signature::{Ed25519KeyPair, KeyPair as _};
use sealpost_domain::{
    AttemptResult, Clock, DeliveryId, LeasedDelivery, RetiringSecret, Target, Timestamp,
    ports::{Dispatch as _, EventSigner},
};
use sealpost_wallet::{Keyring, WebhookSecret};

use super::{
    fake_resolver::fixed,
    memory_outbox::{MemoryOutbox, NOW, account_of, delivery_to, webhook_id},
};
use crate::{AddressPolicy, Dispatcher, Settings, VerifyingKey, dispatcher::Dependencies};

pub(crate) const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

pub(crate) struct Fixture {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) outbox: Arc<MemoryOutbox>,
    pub(crate) clock: Arc<TestClock>,
}

/// A signer like that of the service.
pub(crate) struct Signer(pub(crate) Ed25519KeyPair);

impl Signer {
    pub(crate) fn new(seed: &[u8]) -> Self {
        Self(Ed25519KeyPair::from_seed_unchecked(seed).unwrap())
    }

    pub(crate) fn key(&self) -> VerifyingKey {
        VerifyingKey::from_bytes(self.0.public_key().as_ref().try_into().unwrap()).unwrap()
    }
}

impl EventSigner for Signer {
    fn sign_event(&self, content: &[u8]) -> [u8; 64] {
        self.0.sign(content).as_ref().try_into().unwrap()
    }
}

/// A clock that advances only if a test calls `advance`.
#[derive(Default)]
pub(crate) struct TestClock(AtomicI64);

impl TestClock {
    pub(crate) fn advance(&self, span: Duration) {
        self.0.fetch_add(i64::try_from(span.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// Returns settings for tests. The address policy is that for development, because the receivers are on loopback.
pub(crate) fn settings() -> Settings {
    Settings {
        worker_threads: 1,
        sweep_every: Duration::from_millis(20),
        drain: Duration::from_millis(200),
        timeout: Duration::from_secs(10),
        policy: AddressPolicy { dev: true, ..AddressPolicy::default() },
        ..Settings::default()
    }
}

/// Returns settings in which the timeout of an attempt is longer than any test.
pub(crate) fn endless() -> Settings {
    let (timeout, lease) = (Duration::from_mins(10), Duration::from_mins(11));
    Settings { timeout, lease, ..settings() }
}

pub(crate) fn keyring() -> Arc<Keyring> {
    Arc::new(Keyring::parse("1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").unwrap())
}

/// Returns dependencies with an empty delivery queue and a clock at its beginning.
pub(crate) fn dependencies() -> Dependencies {
    Dependencies {
        outbox: Arc::<MemoryOutbox>::default(),
        keyring: keyring(),
        clock: Arc::<TestClock>::default(),
        signer: None,
        new_resolver: fixed,
    }
}

pub(crate) fn target(number: u16, url: &str, secret: &str) -> Arc<Target> {
    rotating_target(number, url, secret, &[])
}

/// Returns a target with replaced secrets, each of which still signs until its given time.
pub(crate) fn rotating_target(
    number: u16,
    url: &str,
    secret: &str,
    retiring: &[(&str, Timestamp)],
) -> Arc<Target> {
    let webhook_id = webhook_id(number);
    let wrap =
        |secret| WebhookSecret::parse(secret).unwrap().wrap(&keyring(), &webhook_id).unwrap();
    let retiring = retiring
        .iter()
        .map(|(secret, until)| RetiringSecret { secret: wrap(secret), until: *until });
    let (secret, retiring) = (wrap(secret), retiring.collect());
    let (account_id, url) = (account_of(number), url.to_owned());
    Arc::new(Target { webhook_id, account_id, url, secret, retiring })
}

impl Fixture {
    pub(crate) fn start(settings: Settings) -> Self {
        Self::start_on(settings, Arc::default())
    }

    pub(crate) fn start_on(settings: Settings, outbox: Arc<MemoryOutbox>) -> Self {
        Self::start_using(settings, outbox, dependencies())
    }

    /// Starts a dispatcher with another name resolver or signer. `change` sets it.
    pub(crate) fn start_with(change: impl FnOnce(&mut Dependencies)) -> Self {
        let mut dependencies = dependencies();
        change(&mut dependencies);
        Self::start_using(settings(), Arc::default(), dependencies)
    }

    fn start_using(
        settings: Settings,
        outbox: Arc<MemoryOutbox>,
        dependencies: Dependencies,
    ) -> Self {
        let clock = Arc::new(TestClock(AtomicI64::new(NOW.as_millis())));
        let (store, time): (Arc<MemoryOutbox>, Arc<TestClock>) =
            (Arc::clone(&outbox), Arc::clone(&clock));
        let dependencies = Dependencies { outbox: store, clock: time, ..dependencies };
        let dispatcher = Dispatcher::start_with(settings, dependencies).unwrap();
        Self { dispatcher, outbox, clock }
    }

    /// Stores one delivery, and passes it to the dispatcher like the send path does.
    pub(crate) fn submit(&self, target: &Arc<Target>, envelope: u32) -> DeliveryId {
        self.submit_all(target, envelope..envelope + 1).remove(0)
    }

    /// Submits deliveries together, so that all are queued before the first attempt starts.
    pub(crate) fn submit_all(
        &self,
        target: &Arc<Target>,
        envelopes: Range<u32>,
    ) -> Vec<DeliveryId> {
        let (lease, lease_until) = self.dispatcher.lease();
        let leased = |envelope| LeasedDelivery {
            lease,
            lease_until,
            ..delivery_to(Arc::clone(target), envelope)
        };
        let deliveries: Vec<_> = envelopes.map(leased).collect();
        for delivery in &deliveries {
            self.outbox.insert(delivery, true);
        }
        let ids = deliveries.iter().map(LeasedDelivery::id).collect();
        self.dispatcher.submit(deliveries);
        ids
    }

    /// Submits deliveries one after the other, each after the result of the one before. Returns all results.
    pub(crate) fn submit_in_turn(&self, target: &Arc<Target>, count: u32) -> Vec<AttemptResult> {
        for envelope in 0..count {
            self.submit(target, envelope);
            self.outbox.wait_for_results(usize::try_from(envelope).unwrap() + 1);
        }
        self.outbox.wait_for_results(usize::try_from(count).unwrap())
    }
}

/// Makes one attempt at a URL, and returns its result.
pub(crate) fn result_at(settings: Settings, url: &str) -> AttemptResult {
    let fixture = Fixture::start(settings);
    fixture.submit(&target(1, url, SECRET), 0);
    fixture.outbox.wait_for_results(1).remove(0)
}
