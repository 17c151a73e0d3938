//! Tests the rows that a batch of sends writes, and the envelopes that recipients read.

use std::{collections::BTreeSet, sync::Arc};

use sealpost_domain::{
    Envelope, Event, LeaseToken, Suite,
    ports::{Durability::Durable, Outbox, StoreError, WriteSet},
};

use crate::tests::fixture::{Fixture, at, claim_of, delivery, envelope, envelope_of};

on_both!(
    only_its_recipient_reads_an_envelope,
    the_first_opening_stays,
    a_large_batch_is_stored_completely,
    an_envelope_is_stored_once,
    a_leased_delivery_cannot_be_claimed_until_its_lease_ends,
    usage_of_a_missing_key_is_an_error,
    an_empty_batch_is_allowed,
);

fn only_its_recipient_reads_an_envelope(db: &Fixture) {
    let (sender, recipient) = (db.activate(), db.activate());
    let mut classic = envelope_of(&sender.id, &recipient.id, vec![0xA5; 300_000]);
    classic.meta.suite = Suite::Classic;
    db.apply(&WriteSet { envelopes: vec![Arc::new(classic.clone())], ..WriteSet::default() });
    let find = |key| db.write(Durable, |tx| tx.find_envelope(&classic.meta.id, key)).unwrap();
    let found = find(&recipient.id).unwrap();
    assert_eq!((found.opened_at, found.sender_handle), (None, None));
    assert!(found.envelope == classic);
    assert!(find(&sender.id).is_none());
}

fn the_first_opening_stays(db: &Fixture) {
    let key = db.activate();
    let envelope = envelope(&key.id, &key.id);
    db.apply(&WriteSet { envelopes: vec![Arc::new(envelope.clone())], ..WriteSet::default() });
    let open = |when| db.write(Durable, |tx| tx.mark_opened(&envelope.meta.id, at(when)));
    for when in [50, 40, 60] {
        assert_eq!(open(when).unwrap(), Some(at(50)));
    }
    let found = db.write(Durable, |tx| tx.find_envelope(&envelope.meta.id, &key.id));
    assert_eq!(found.unwrap().unwrap().opened_at, Some(at(50)));
    let unknown = crate::tests::fixture::envelope(&key.id, &key.id).meta.id;
    assert_eq!(db.write(Durable, |tx| tx.mark_opened(&unknown, at(1))).unwrap(), None);
}

fn a_large_batch_is_stored_completely(db: &Fixture) {
    let (sender, recipient) = (db.activate(), db.activate());
    let to = db.register(&recipient.id);
    let envelopes: Vec<_> =
        (0..256).map(|_| Arc::new(envelope(&sender.id, &recipient.id))).collect();
    let lease = LeaseToken(i64::MIN);
    let deliver = |envelopes: &[Arc<Envelope>]| {
        envelopes.iter().map(|envelope| delivery(envelope, &to, lease, 900)).collect()
    };
    db.apply(&WriteSet {
        leased: deliver(&envelopes[..200]),
        unleased: deliver(&envelopes[200..]),
        envelopes: envelopes.clone(),
        ..WriteSet::default()
    });
    let due = db.claim(&claim_of(1000, 999, LeaseToken(1))).unwrap();
    let sent: BTreeSet<_> = envelopes.iter().map(|envelope| envelope.meta.id.into()).collect();
    assert_eq!(due.iter().map(|delivery| delivery.event.id()).collect::<BTreeSet<_>>(), sent);
    for event in due.iter().map(|delivery| &delivery.event) {
        let Event::EnvelopeReceived(received) = event else { panic!("{event:?}") };
        assert!(envelopes.iter().any(|envelope| envelope.meta == received.meta));
    }
}

fn an_envelope_is_stored_once(db: &Fixture) {
    let key = db.activate();
    let envelope = Arc::new(envelope(&key.id, &key.id));
    let changes = WriteSet { envelopes: vec![envelope], ..WriteSet::default() };
    db.apply(&changes);
    let again = db.write(Durable, |tx| tx.apply(&changes));
    assert!(matches!(again, Err(StoreError::Refused(_))), "{again:?}");
}

fn a_leased_delivery_cannot_be_claimed_until_its_lease_ends(db: &Fixture) {
    let key = db.activate();
    let to = db.register(&key.id);
    let envelope = Arc::new(envelope(&key.id, &key.id));
    let leased = vec![delivery(&envelope, &to, LeaseToken(7), 5000)];
    db.apply(&WriteSet { envelopes: vec![envelope], leased, ..WriteSet::default() });
    let claim = |now| db.claim(&claim_of(now, 10, LeaseToken(8))).unwrap().len();
    assert_eq!(claim(4999), 0);
    assert_eq!(claim(5000), 1);
    assert_eq!(claim(5000), 0);
}

fn usage_of_a_missing_key_is_an_error(db: &Fixture) {
    let missing = crate::tests::fixture::key(&db.activate().account_id).id;
    let usage = vec![(missing, sealpost_domain::Usage::UNUSED)];
    let changes = WriteSet { usage, ..WriteSet::default() };
    let done = db.write(Durable, |tx| tx.apply(&changes));
    assert!(matches!(done, Err(StoreError::Corrupt("usage"))), "{done:?}");
}

fn an_empty_batch_is_allowed(db: &Fixture) {
    db.apply(&WriteSet::default());
}
