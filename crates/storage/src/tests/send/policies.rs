//! Tests the policies of recipients, and the contacts that sends record.

use std::{collections::BTreeSet, sync::Arc};

use sealpost_domain::{
    AcceptPolicy, ApiKeyId, EnvelopeId, ReceiptPolicy, RecipientPolicy, Timestamp,
    ports::{Contact, Durability::Durable, ExpiringRows, FactsQuery, WriteSet},
};

use crate::tests::fixture::{Fixture, at, envelope};

on_both!(
    a_policy_reads_back,
    the_next_batch_sees_a_changed_policy,
    a_contact_counts_from_its_last_message,
    the_recipients_of_a_sender_are_found_page_by_page,
);

fn set(db: &Fixture, id: &ApiKeyId, policy: &RecipientPolicy) {
    db.write(Durable, |tx| tx.set_policy(id, policy)).unwrap();
}

fn full_policy(db: &Fixture) -> RecipientPolicy {
    let keys = |count| (0..count).map(|_| db.activate().id).collect::<BTreeSet<_>>();
    RecipientPolicy {
        accept: AcceptPolicy::Contacts,
        receipts: ReceiptPolicy::None,
        is_listed: false,
        allowed: keys(3),
        blocked: keys(1),
        records_contacts: true,
    }
}

fn a_policy_reads_back(db: &Fixture) {
    let key = db.activate();
    let find = || db.read(|reader| reader.find_policy(&key.id)).unwrap();
    let label = || db.read(|reader| reader.find_profile(&key.id)).unwrap().unwrap().label;
    assert_eq!((find(), label()), (None, Some(key.label.clone())));
    for policy in [full_policy(db), RecipientPolicy::default()] {
        set(db, &key.id, &policy);
        assert_eq!(label().is_some(), policy.is_listed);
        assert_eq!(find(), Some(policy));
    }
    let (other, unknown) = (db.activate(), crate::tests::fixture::key(&key.account_id).id);
    let found = db.read(|reader| reader.find_profiles(&[key.id, unknown, other.id])).unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(found[&other.id].label, Some(other.label));
    assert_eq!(db.read(|reader| reader.find_profile(&unknown)).unwrap(), None);
}

fn the_next_batch_sees_a_changed_policy(db: &Fixture) {
    let recipient = db.activate();
    let wanted = FactsQuery { recipients: vec![recipient.id], ..FactsQuery::default() };
    let read = || {
        let facts = db.write(Durable, |tx| tx.lock_facts(&wanted)).unwrap();
        facts.keys[&recipient.id].policy.clone()
    };
    assert_eq!(read(), None);
    let mut policy = full_policy(db);
    for _ in 0..2 {
        set(db, &recipient.id, &policy);
        assert_eq!(read(), Some(Arc::new(policy.clone())));
        policy.blocked.pop_first();
    }
    db.execute("DELETE FROM policies").unwrap();
    assert_eq!(read(), None);
}

/// The stored time is at most ten seconds before the last message.
fn a_contact_counts_from_its_last_message(db: &Fixture) {
    let [owner, contact, other] = [(); 3].map(|()| db.activate().id);
    let found = |since| {
        let pairs = [(owner, contact), (owner, other), (contact, owner)];
        let found = db.write(Durable, |tx| tx.find_contacts(&pairs, at(since))).unwrap();
        found.into_iter().collect::<Vec<_>>()
    };
    for (sent_at, last) in [(5, 5), (10_004, 5), (10_005, 10_005), (20_004, 10_005), (7, 10_005)] {
        let contact = Contact { api_key_id: owner, contact, sent_at: at(sent_at) };
        db.apply(&WriteSet { contacts: vec![contact], ..WriteSet::default() });
        assert_eq!(found(last), [(owner, contact.contact)]);
        assert_eq!(found(last + 1), []);
    }
    let purge = |before| {
        db.write(Durable, |tx| tx.purge_expired(ExpiringRows::Contacts, at(before), 9)).unwrap()
    };
    assert_eq!((purge(10_005), found(0).len()), (0, 1));
    assert_eq!((purge(10_006), found(0).len()), (1, 0));
}

fn the_recipients_of_a_sender_are_found_page_by_page(db: &Fixture) {
    let [sender, other] = [(); 2].map(|()| db.activate().id);
    let recipients: BTreeSet<_> = (0..3).map(|_| db.activate().id).collect();
    let mut envelopes = Vec::new();
    for recipient in recipients.iter().chain(&recipients) {
        envelopes.extend([&sender, &other].map(|from| Arc::new(envelope(from, recipient))));
    }
    db.apply(&WriteSet { envelopes, ..WriteSet::default() });
    for limit in [1, 5, 100] {
        let mut after = EnvelopeId::new(Timestamp::from_millis(0), [0; 10]);
        let (mut pages, mut found) = (0, BTreeSet::new());
        let page =
            |after: EnvelopeId| db.read(|reader| reader.sent_page(&sender, &after, limit)).unwrap();
        while let Some(page) = page(after) {
            assert!(page.contacts.iter().all(|contact| contact.api_key_id == sender));
            found.extend(page.contacts.iter().map(|contact| contact.contact));
            after = page.last;
            pages += 1;
        }
        assert_eq!((pages, &found), (12_u32.div_ceil(limit), &recipients));
    }
}
