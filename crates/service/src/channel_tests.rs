//! What this node's memory holds of channels, and when it lets go.

use std::{
    ops::Deref,
    sync::{
        Weak,
        atomic::{AtomicI64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use sealpost_domain::{
    Clock, Did, EnvelopeId, KeyStatus, LeaseToken, LeasedDelivery, Suite,
    ports::{Dispatch, TargetGuard},
};
use sealpost_storage::{Database, DatabaseUrl, Settings as DatabaseSettings};
use sealpost_wallet::{Keyring, Root};

use super::*;
use crate::{Issuer, Parts, Sealpost, built_in_circuits};

struct Pairing<C> {
    channels: C,
    sender: Identity,
    recipient: Identity,
}

impl Pairing<Box<Channels>> {
    fn new() -> Self {
        Self::on(Box::new(Channels::new(&Settings::default())))
    }
}

impl<C: Deref<Target = Channels>> Pairing<C> {
    /// In the memory of somebody else.
    fn on(channels: C) -> Self {
        let identity = || Identity::new(Root::generate().unwrap()).unwrap();
        Self { channels, sender: identity(), recipient: identity() }
    }

    /// Seals at this instant, to this version of the recipient's key.
    fn seal(&self, now: i64, version: u32) -> (Envelope, Arc<Running>) {
        let timestamp = Timestamp::from_millis(now);
        let id = EnvelopeId::new(timestamp, [1; 10]);
        let draft = Draft { id, sender: key(1), recipient: key(2), timestamp };
        let to = self.recipient.sealing_public_key(Suite::Channel, version).unwrap();
        self.channels.seal(&draft, b"message", &self.sender, &to).unwrap()
    }

    fn accept(&self, channel: &Channel) -> Result<Arc<ChannelReceiver>, WalletError> {
        let now = Timestamp::from_millis(0);
        self.channels.accept(channel, &self.recipient, &self.sender.did(), now)
    }

    /// Both sides of a channel, which nobody holds but its vaults.
    fn both(&self) -> (Weak<Running>, Weak<ChannelReceiver>) {
        let (envelope, running) = self.seal(0, 1);
        let receiver = self.accept(&running.unstored().unwrap()).unwrap();
        assert_eq!(*receiver.open(&envelope).unwrap(), b"message");
        (Arc::downgrade(&running), Arc::downgrade(&receiver))
    }
}

fn key(n: u8) -> ApiKeyId {
    ApiKeyId::new(Timestamp::from_millis(0), [n; 10])
}

fn inactive(field: Option<&'static str>) -> Verdict {
    Verdict::Refused(Refusal::KeyInactive { status: KeyStatus::Deactivated, field })
}

/// Secrets are wiped as soon as nobody holds them: both sides must be gone, or neither.
fn are_gone((running, receiver): &(Weak<Running>, Weak<ChannelReceiver>)) -> bool {
    assert_eq!(running.strong_count(), receiver.strong_count());
    running.strong_count() == 0
}

/// A service on a database in this folder, whose clock is moved by hand.
fn service(folder: &std::path::Path, clock: &Arc<Hands>) -> Sealpost {
    let url = DatabaseUrl::Sqlite(folder.join("sealpost.db"));
    let database = Arc::new(Database::open(&url, DatabaseSettings::default()).unwrap());
    database.migrate().unwrap();
    let keyring = Arc::new(Keyring::parse(&Keyring::fresh_line(1).unwrap()).unwrap());
    let clock = Arc::<Hands>::clone(clock);
    let (store, time) = (Arc::<Database>::clone(&database), Arc::<Hands>::clone(&clock));
    let did = Did::web("seal.example.org", "");
    let parts = Parts {
        store: database,
        dispatch: Arc::new(Nowhere),
        guard: Arc::new(Nowhere),
        issuer: Arc::new(Issuer::open(store, Arc::clone(&keyring), time, did).unwrap()),
        keyring,
        clock,
        base_url: "https://seal.example.org".to_owned(),
        circuits: built_in_circuits().unwrap(),
    };
    let every = Duration::from_millis(1);
    Sealpost::start(parts, Settings { housekeeping_every: every, ..Settings::default() }).unwrap()
}

#[derive(Default)]
struct Hands(AtomicI64);

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// Nothing is sent, and nothing registered.
struct Nowhere;

impl Dispatch for Nowhere {
    fn room(&self) -> usize {
        0
    }

    fn lease(&self) -> (LeaseToken, Timestamp) {
        (LeaseToken(0), Timestamp::from_millis(0))
    }

    fn submit(&self, _: Vec<LeasedDelivery>) {}
}

impl TargetGuard for Nowhere {
    fn vet(&self, _: &str) -> Result<String, String> {
        Err("leads nowhere".to_owned())
    }
}

#[test]
fn a_service_that_stops_wipes_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let sealpost = service(folder.path(), &Arc::default());
    let both = Pairing::on(&sealpost.core.channels).both();
    assert!(!are_gone(&both));
    sealpost.stop();
    assert!(are_gone(&both));
}

#[test]
fn housekeeping_wipes_what_has_had_its_time() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Arc::new(Hands::default()));
    let sealpost = service(folder.path(), &clock);
    let both = Pairing::on(&sealpost.core.channels).both();
    clock.0.store(599_999, Ordering::SeqCst);
    let until = Instant::now() + Duration::from_secs(20);
    assert!(!are_gone(&both));
    clock.0.store(600_000, Ordering::SeqCst);
    while both.0.strong_count() + both.1.strong_count() > 0 {
        assert!(Instant::now() < until, "not in time");
        thread::yield_now();
    }
}

#[test]
fn closing_wipes_both_sides_and_nothing_is_kept_from_then_on() {
    let pairing = Pairing::new();
    let both = pairing.both();
    assert!(!are_gone(&both));
    pairing.channels.close();
    assert!(are_gone(&both));
    assert!(are_gone(&pairing.both()));
}

#[test]
fn both_sides_are_wiped_when_their_time_is_over_though_nobody_asks_for_them() {
    let pairing = Pairing::new();
    let both = pairing.both();
    for (now, gone) in [(599_999, false), (600_000, true)] {
        pairing.channels.retire(Timestamp::from_millis(now));
        assert_eq!(are_gone(&both), gone, "{now}");
    }
}

#[test]
fn a_longer_life_than_an_hour_is_an_hour() {
    let settings = Settings { channel_life: Duration::from_hours(9), ..Settings::default() };
    let pairing = Pairing::on(Box::new(Channels::new(&settings)));
    let both = pairing.both();
    for (now, gone) in [(3_599_999, false), (3_600_000, true)] {
        pairing.channels.retire(Timestamp::from_millis(now));
        assert_eq!(are_gone(&both), gone, "{now}");
    }
}

#[test]
fn a_transaction_that_shows_a_key_in_another_state_ends_both_sides() {
    for (sender, recipient, verdict, ends) in [
        (1, Some(2), inactive(None), true),
        (1, Some(9), inactive(None), true),
        (2, None, inactive(None), true),
        (9, Some(2), inactive(Some("to")), true),
        (9, Some(1), inactive(Some("to")), true),
        (9, Some(2), Verdict::Stale, true),
        (9, Some(2), inactive(None), false),
        (1, Some(9), inactive(Some("to")), false),
        (1, Some(9), Verdict::Stale, false),
        (1, Some(2), Verdict::Stored, false),
        (1, Some(2), Verdict::Admitted, false),
        (1, Some(2), Verdict::Refused(Refusal::GovernanceBlocked { field: None }), false),
    ] {
        let pairing = Pairing::new();
        let both = pairing.both();
        let recipient = recipient.map(key);
        pairing.channels.heed(&key(sender), recipient.as_ref(), &verdict);
        assert_eq!(are_gone(&both), ends, "{sender} {recipient:?} {verdict:?}");
    }
}

#[test]
fn another_sealing_key_means_another_channel() {
    let pairing = Pairing::new();
    let (_, first) = pairing.seal(0, 1);
    let (_, second) = pairing.seal(0, 2);
    assert!(!Arc::ptr_eq(&first, &second));
    assert_eq!(second.unstored().unwrap().sealing_version, 2);
    assert!(Arc::ptr_eq(&second, &pairing.seal(0, 2).1));
    assert_eq!(Arc::strong_count(&first), 1);
}

#[test]
fn a_channel_comes_along_until_it_is_known_to_be_stored() {
    let pairing = Pairing::new();
    let (_, running) = pairing.seal(0, 1);
    assert_eq!(running.unstored(), pairing.seal(1, 1).1.unstored());
    assert!(running.unstored().is_some());
    running.note_stored();
    assert_eq!(pairing.seal(2, 1).1.unstored(), None);
}

/// What was accepted once is remembered by all that is stored of it: a change is not helped by the memory.
#[test]
fn a_row_that_was_changed_after_it_was_accepted_is_refused() {
    let pairing = Pairing::new();
    let channel = pairing.seal(0, 1).1.unstored().unwrap();
    let first = pairing.accept(&channel).unwrap();
    assert!(Arc::ptr_eq(&first, &pairing.accept(&channel).unwrap()));
    let edits: [fn(&mut Channel); 6] = [
        |it| it.id = ChannelId::new(Timestamp::from_millis(1), [1; 10]),
        |it| it.sender = key(3),
        |it| it.recipient = key(3),
        |it| it.sealing_version = 2,
        |it| it.encapsulation[7] ^= 1,
        |it| it.signature[7] ^= 1,
    ];
    for edit in edits {
        let mut changed = Channel::clone(&channel);
        edit(&mut changed);
        assert!(pairing.accept(&changed).is_err(), "{changed:?}");
    }
    let (now, stranger) = (Timestamp::from_millis(0), Identity::new(Root::generate().unwrap()));
    let did = stranger.unwrap().did();
    assert!(pairing.channels.accept(&channel, &pairing.recipient, &did, now).is_err());
}
