//! Tests when channels are cached, and when their secrets are wiped.

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
    Account, AccountId, AccountSecrets, ApiKey, Clock, Did, EnvelopeId, KeyStatus, Label,
    MessageContext, Plan, ReceiptState, Refusal, Session, Suite, TokenHash, Wrapped,
    ports::{Durability, StoreError},
};
use sealpost_storage::{Database, DatabaseUrl, Settings as DatabaseSettings, Transaction};
use sealpost_wallet::{Keyring, Root, SessionToken};

use self::doubles::{Anywhere, RecordedDispatch};
use super::*;
use crate::{
    acts::audited::{Operator, OperatorError},
    cache::key_cache::{CacheEvent, KeyCache},
    caller::credentials::CallerId,
    compliance::circuits_file::built_in_circuits,
    issuer::signer::Issuer,
    sealpost::{Sealpost, core::Parts},
    send::command::Verdict,
};

#[path = "../../../tests/it/doubles.rs"]
mod doubles;

struct Pairing<C> {
    channels: C,
    sender: KeyMaterial,
    recipient: Identity,
}

impl Pairing<Box<ChannelCache>> {
    fn new() -> Self {
        Self::on(Box::new(ChannelCache::new(&Settings::default())))
    }
}

impl<C: Deref<Target = ChannelCache>> Pairing<C> {
    /// Creates a sender and a recipient with their channels in `channels`.
    fn on(channels: C) -> Self {
        let identity = || Identity::new(Root::generate().unwrap()).unwrap();
        let sender = identity();
        let sealing_key = sender.sealing_public_key(Suite::Channel, 1).unwrap();
        let sender = KeyMaterial { identity: sender, sealing_key };
        Self { channels, sender, recipient: identity() }
    }

    /// Seals a message at the time `now` (milliseconds since the Unix epoch), for this version of the recipient's
    /// sealing key.
    fn seal(&self, now: i64, version: u32) -> (Envelope, Arc<OpenChannel>) {
        let timestamp = Timestamp::from_millis(now);
        let id = EnvelopeId::new(timestamp, [1; 10]);
        let context = MessageContext::default();
        let draft = EnvelopeDraft { id, sender: key(1), recipient: key(2), timestamp, context };
        let to = self.recipient.sealing_public_key(Suite::Channel, version).unwrap();
        self.channels.seal(&draft, b"message", &self.sender, &to).unwrap()
    }

    fn accept(&self, channel: &Channel) -> Result<Arc<ChannelReceiver>, WalletError> {
        let now = Timestamp::from_millis(0);
        self.channels.accept(channel, &self.recipient, &self.sender.identity.did(), now)
    }

    /// Begins a channel, and returns the sender's side and the recipient's side as weak references, so that only the
    /// cache keeps the secrets.
    fn both(&self) -> (Weak<OpenChannel>, Weak<ChannelReceiver>) {
        let (envelope, channel) = self.seal(0, 1);
        let receiver = self.accept(&channel.row()).unwrap();
        assert_eq!(*receiver.open(&envelope).unwrap(), b"message");
        (Arc::downgrade(&channel), Arc::downgrade(&receiver))
    }
}

fn key(n: u8) -> ApiKeyId {
    ApiKeyId::new(Timestamp::from_millis(0), [n; 10])
}

fn inactive(field: Option<&'static str>) -> Verdict {
    Verdict::Refused(Refusal::KeyInactive { status: KeyStatus::Deactivated, field })
}

/// Returns true if the sender's side and the recipient's side of a channel were dropped, and therefore wiped. Panics if
/// only one side was dropped.
fn are_wiped((channel, receiver): &(Weak<OpenChannel>, Weak<ChannelReceiver>)) -> bool {
    assert_eq!(channel.strong_count(), receiver.strong_count());
    channel.strong_count() == 0
}

/// Starts a service on a database in `folder`, with a manual clock. Housekeeping runs every millisecond.
fn service(folder: &std::path::Path, clock: &Arc<ManualClock>) -> Sealpost {
    service_keeping_house(folder, clock, Duration::from_millis(1))
}

fn service_keeping_house(
    folder: &std::path::Path,
    clock: &Arc<ManualClock>,
    every: Duration,
) -> Sealpost {
    let url = DatabaseUrl::Sqlite(folder.join("sealpost.db"));
    let patient = DatabaseSettings {
        connection_timeout: Duration::from_secs(20),
        ..DatabaseSettings::default()
    };
    let database = Arc::new(Database::open(&url, patient).unwrap());
    database.migrate().unwrap();
    let keyring = Arc::new(Keyring::parse(&Keyring::fresh_line(1).unwrap()).unwrap());
    let clock = Arc::<ManualClock>::clone(clock);
    let (store, time) = (Arc::<Database>::clone(&database), Arc::<ManualClock>::clone(&clock));
    let did = Did::web("seal.example.org", "");
    let parts = Parts {
        store: database,
        dispatch: Arc::new(RecordedDispatch::default()),
        guard: Arc::new(Anywhere),
        issuer: Arc::new(Issuer::open(store, Arc::clone(&keyring), time, did).unwrap()),
        keyring,
        clock,
        base_url: "https://seal.example.org".to_owned(),
        circuits: built_in_circuits().unwrap(),
    };
    Sealpost::start(parts, Settings { housekeeping_every: every, ..Settings::default() }).unwrap()
}

#[derive(Default)]
struct ManualClock(AtomicI64);

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

#[test]
fn a_service_that_stops_wipes_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let sealpost = service(folder.path(), &Arc::default());
    let pairing = Pairing::on(&sealpost.core.cache.channels);
    let both = pairing.both();
    assert!(!are_wiped(&both));
    sealpost.stop();
    assert!(are_wiped(&both));
    assert!(are_wiped(&pairing.both()), "no channel is cached after the stop");
}

#[test]
fn housekeeping_wipes_expired_channels() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Arc::new(ManualClock::default()));
    let sealpost = service(folder.path(), &clock);
    let both = Pairing::on(&sealpost.core.cache.channels).both();
    clock.0.store(599_999, Ordering::SeqCst);
    let until = Instant::now() + Duration::from_secs(20);
    assert!(!are_wiped(&both));
    clock.0.store(600_000, Ordering::SeqCst);
    while both.0.strong_count() + both.1.strong_count() > 0 {
        assert!(Instant::now() < until, "not in time");
        thread::yield_now();
    }
}

#[test]
fn both_sides_are_wiped_at_expiry_without_a_read() {
    let default_life = Settings::default().channel_life;
    for (what, channel_life, expiry) in [
        ("the default life", default_life, 600_000),
        ("an hour at most", Duration::from_hours(9), 3_600_000),
    ] {
        let settings = Settings { channel_life, ..Settings::default() };
        let pairing = Pairing::on(Box::new(ChannelCache::new(&settings)));
        let both = pairing.both();
        for (now, gone) in [(expiry - 1, false), (expiry, true)] {
            pairing.channels.wipe_expired(Timestamp::from_millis(now));
            assert_eq!(are_wiped(&both), gone, "{what}: {now}");
        }
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
        (1, Some(2), Verdict::Stored(ReceiptState::Sent), false),
        (1, Some(2), Verdict::Admitted, false),
        (1, Some(2), Verdict::Refused(Refusal::GovernanceBlocked { field: None }), false),
    ] {
        let cache = KeyCache::new(&Settings::default());
        let both = Pairing::on(&cache.channels).both();
        let caller = CallerId { session: TokenHash([1; 32]), key: key(sender) };
        let recipient = recipient.map(key);
        let event = match (&verdict, &recipient) {
            (Verdict::Refused(refusal), recipient) => {
                CacheEvent::from_refusal(&caller, recipient.as_ref(), refusal)
            }
            (Verdict::Stale, Some(key)) => Some(CacheEvent::RecipientStale { key, handle: None }),
            _ => None,
        };
        if let Some(event) = event {
            cache.invalidate_on(event);
        }
        assert_eq!(are_wiped(&both), ends, "{sender} {recipient:?} {verdict:?}");
    }
}

#[test]
fn a_review_ends_channels_that_do_not_fit_the_key() {
    use KeyStatus as S;
    // The reviewed key, its state, its version, and whether the sender's and the recipient's side must end.
    for (party, status, sealing_version, ends) in [
        (1, S::Active, 1, [false, false]),
        (2, S::Active, 1, [false, false]),
        (1, S::Active, 2, [true, false]),
        (2, S::Active, 2, [true, false]),
        (9, S::Active, 2, [false, false]),
        (1, S::Rotating, 1, [true, true]),
        (1, S::Deactivated, 1, [true, true]),
        (2, S::Deactivated, 1, [true, true]),
        (2, S::Revoked, 1, [true, true]),
        (9, S::Revoked, 1, [false, false]),
    ] {
        let pairing = Pairing::new();
        let (channel, receiver) = pairing.both();
        pairing.channels.end_outdated(&KeySnapshot { id: key(party), status, sealing_version });
        let ended = [channel.strong_count() == 0, receiver.strong_count() == 0];
        assert_eq!(ended, ends, "{party} {status:?} {sealing_version}");
    }
}

#[test]
fn a_change_on_another_node_ends_channels_here() {
    type Change = fn(&Operator) -> Result<(), OperatorError>;
    let changes: [(&str, Change); 4] = [
        ("the sender is deactivated", |it| it.deactivate_key(&key(1)).map(drop)),
        ("the sender is rotated", |it| it.rotate_key(&key(1)).map(drop)),
        ("the recipient is rotated", |it| it.rotate_key(&key(2)).map(drop)),
        ("the recipient is revoked", |it| it.revoke_key(&key(2)).map(drop)),
    ];
    for (what, change) in changes {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::default());
        let sealpost = service(folder.path(), &clock);
        let core = &sealpost.core;
        core.store.write(Durability::Durable, put_both).unwrap();
        let (channel, _) = Pairing::on(&core.cache.channels).both();
        core.review_keys().unwrap();
        assert_eq!(channel.strong_count(), 1, "nothing has changed");
        change(&Operator::new(Arc::clone(&core.store), clock, "operator:other".to_owned()))
            .unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while channel.strong_count() > 0 {
            assert!(Instant::now() < until, "{what}");
            thread::yield_now();
        }
    }
}

#[test]
fn an_owner_who_revokes_a_key_ends_its_channels_at_once() {
    let (folder, token) = (tempfile::tempdir().unwrap(), SessionToken::generate().unwrap());
    let sealpost = service_keeping_house(folder.path(), &Arc::default(), Duration::from_hours(1));
    let put_owner = |tx: &mut Transaction| {
        put_both(tx)?;
        let expires_at = Timestamp::from_millis(1);
        tx.insert_session(
            &Session { token: token.hash(), account_id: account(), expires_at },
            Timestamp::from_millis(0),
            &sealpost_domain::RequestSource::default(),
        )?;
        tx.confirm_session(&token.hash(), Timestamp::from_millis(0))
    };
    sealpost.core.store.write(Durability::Durable, put_owner).unwrap();
    let both = Pairing::on(&sealpost.core.cache.channels).both();
    revoke(&sealpost, token.expose());
    assert!(are_wiped(&both));
}

fn revoke(sealpost: &Sealpost, token: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let owner = sealpost.owner(token, sealpost_domain::RequestSource::default()).await.unwrap();
        let owner = owner.confirm(None).await.unwrap();
        sealpost.accounts.revoke_key(owner, key(2)).await.unwrap();
    });
}

fn account() -> AccountId {
    AccountId::new(Timestamp::from_millis(0), [1; 10])
}

/// Inserts the sender's key 1 and the recipient's key 2.
fn put_both(tx: &mut Transaction) -> Result<(), StoreError> {
    let (id, created_at) = (account(), Timestamp::from_millis(0));
    let secrets =
        AccountSecrets { login_secret: TokenHash([1; 32]), recovery_code: TokenHash([2; 32]) };
    tx.insert_account(&Account { id, secrets, created_at })?;
    for (n, did) in [(1, "did:key:one"), (2, "did:key:two")] {
        tx.insert_key(&ApiKey {
            id: key(n),
            account_id: id,
            label: Label::parse("of a pairing").unwrap(),
            handle: None,
            root: Some(Wrapped(vec![0; 61])),
            did: Did::new(did.to_owned()),
            status: KeyStatus::Active,
            plan: Plan::Explorer,
            sealing_version: 1,
            created_at,
        })?;
    }
    Ok(())
}

#[test]
fn the_last_envelope_of_a_channel_wipes_it() {
    let settings = Settings { channel_envelopes_max: 2, ..Settings::default() };
    let pairing = Pairing::on(Box::new(ChannelCache::new(&settings)));
    let first = Arc::downgrade(&pairing.seal(0, 1).1);
    assert_eq!(first.strong_count(), 1, "it may seal one more");
    let (_, channel) = pairing.seal(0, 1);
    assert!(Weak::ptr_eq(&first, &Arc::downgrade(&channel)));
    drop(channel);
    assert_eq!(first.strong_count(), 0);
}

#[test]
fn another_sealing_key_of_either_party_opens_another_channel() {
    let mut pairing = Pairing::new();
    let (_, first) = pairing.seal(0, 1);
    let (_, second) = pairing.seal(0, 2);
    assert!(!Arc::ptr_eq(&first, &second));
    assert_eq!(second.row().sealing_version, 2);
    assert!(Arc::ptr_eq(&second, &pairing.seal(0, 2).1));
    assert_eq!(Arc::strong_count(&first), 1);
    pairing.sender.sealing_key =
        pairing.sender.identity.sealing_public_key(Suite::Channel, 2).unwrap();
    assert!(!Arc::ptr_eq(&second, &pairing.seal(0, 2).1));
    assert_eq!(Arc::strong_count(&second), 1);
}

/// The hash in the cache key covers every column, so a changed row is not found in the cache and its signature is
/// verified again.
#[test]
fn a_row_that_was_changed_after_it_was_accepted_is_refused() {
    let pairing = Pairing::new();
    let channel = pairing.seal(0, 1).1.row();
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
