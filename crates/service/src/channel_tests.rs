//! What this node's memory holds of channels, and when it lets go.

use std::{sync::Weak, time::Duration};

use sealpost_domain::{EnvelopeId, KeyStatus, Suite};
use sealpost_wallet::Root;

use super::*;

struct Pairing {
    channels: Channels,
    sender: Identity,
    recipient: Identity,
}

impl Pairing {
    fn new() -> Self {
        let identity = || Identity::new(Root::generate().unwrap()).unwrap();
        let channels = Channels::new(&Settings::default());
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

#[test]
fn stopping_wipes_both_sides_and_nothing_is_kept_from_then_on() {
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
    let pairing = Pairing { channels: Channels::new(&settings), ..Pairing::new() };
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
    running.is_stored();
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
