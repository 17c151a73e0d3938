//! Tests the list of the envelopes of a sender.

use std::sync::Arc;

use sealpost_domain::{
    ApiKeyId, Envelope, EnvelopeId, EnvelopeMeta, MessageContext, MessageType, ReceiptPolicy,
    RecipientPolicy, ThreadId,
    ports::{Durability::Durable, SentList, SentQuery, WaitingEnvelope, WriteSet},
};

use crate::tests::fixture::{Fixture, at, envelope};

on_both!(
    pages_contain_exactly_the_selected_envelopes,
    a_page_with_a_recipient_examines_a_bounded_number,
    a_list_has_the_state_the_policy_and_the_context,
    threads_are_found_by_sender_and_recipient_only,
);

/// Returns an envelope whose id contains its time.
fn sent_at(sender: &ApiKeyId, recipient: &ApiKeyId, millis: i64, number: u16) -> Envelope {
    let mut random = [0; 10];
    random[8..].copy_from_slice(&number.to_be_bytes());
    let like = envelope(sender, recipient);
    let id = EnvelopeId::new(at(millis), random);
    Envelope { meta: EnvelopeMeta { id, timestamp: at(millis), ..like.meta }, ..like }
}

fn thread(name: &str) -> ThreadId {
    ThreadId::parse(name).unwrap()
}

fn store(db: &Fixture, envelopes: &[Envelope]) {
    let envelopes = envelopes.iter().cloned().map(Arc::new).collect();
    db.apply(&WriteSet { envelopes, ..WriteSet::default() });
}

fn list(db: &Fixture, query: &SentQuery) -> SentList {
    db.read(|reader| reader.list_sent(query)).unwrap()
}

fn all_of(sender: ApiKeyId) -> SentQuery {
    let (since, limit) = (at(0), 100);
    SentQuery { sender, recipient: None, thread: None, since, until: None, below: None, limit }
}

/// Reads all pages.
fn pages(db: &Fixture, mut query: SentQuery) -> Vec<EnvelopeId> {
    let mut found = Vec::new();
    loop {
        let page = list(db, &query);
        assert!(page.envelopes.len() <= usize::try_from(query.limit).unwrap());
        found.extend(page.envelopes.iter().map(|sent| sent.id));
        query.below = page.next;
        if query.below.is_none() {
            return found;
        }
    }
}

/// Compares every combination of filters with a model. Several envelopes have the same time.
fn pages_contain_exactly_the_selected_envelopes(db: &Fixture) {
    let (alice, bob, carol) = (db.activate().id, db.activate().id, db.activate().id);
    let mut stored: Vec<Envelope> = (0..60_u16)
        .map(|n| {
            let sender = if n % 7 == 0 { bob } else { alice };
            let recipient = if n % 2 == 0 { bob } else { carol };
            let mut one = sent_at(&sender, &recipient, 10 + i64::from(n / 4), n);
            one.meta.context.thread =
                [None, Some(thread("A")), Some(thread("B"))][usize::from(n) % 3].clone();
            one
        })
        .collect();
    store(db, &stored);
    stored.reverse();
    for recipient in [None, Some(bob), Some(carol)] {
        for thread in [None, Some(thread("A")), Some(thread("none"))] {
            for (since, until) in [(0, None), (13, Some(20)), (13, Some(13)), (24, None)] {
                let until = until.map(at);
                let is_selected = |one: &&Envelope| {
                    let meta = &one.meta;
                    meta.sender == alice
                        && recipient.is_none_or(|recipient| meta.recipient == recipient)
                        && (thread.is_none() || meta.context.thread == thread)
                        && meta.timestamp >= at(since)
                        && until.is_none_or(|until| meta.timestamp < until)
                };
                let expected: Vec<_> =
                    stored.iter().filter(is_selected).map(|one| one.meta.id).collect();
                for limit in [1, 7, 100] {
                    let thread = thread.clone();
                    let since = at(since);
                    let query =
                        SentQuery { recipient, thread, since, until, limit, ..all_of(alice) };
                    assert_eq!(pages(db, query.clone()), expected, "{query:?}");
                }
            }
        }
    }
}

fn a_page_with_a_recipient_examines_a_bounded_number(db: &Fixture) {
    let (alice, bob, carol) = (db.activate().id, db.activate().id, db.activate().id);
    let mut all = vec![sent_at(&alice, &carol, 1, 0)];
    all.extend((0..2000).map(|n| sent_at(&alice, &bob, 2, n)));
    store(db, &all);
    let to_carol = SentQuery { recipient: Some(carol), ..all_of(alice) };
    let first = list(db, &to_carol);
    assert_eq!((first.envelopes.len(), first.next), (0, Some(all[1].meta.id)));
    let second = list(db, &SentQuery { below: first.next, ..to_carol });
    assert_eq!((second.envelopes[0].id, second.next), (all[0].meta.id, None));
}

fn a_list_has_the_state_the_policy_and_the_context(db: &Fixture) {
    let (alice, bob) = (db.activate().id, db.activate().id);
    let mut sent = sent_at(&alice, &bob, 7, 1);
    sent.meta.context = MessageContext {
        thread: Some(thread("order:7")),
        reply_to: Some(EnvelopeId::new(at(1), [1; 10])),
        message_type: Some(MessageType::parse("text/plain").unwrap()),
    };
    let id = sent.meta.id;
    let waiting = vec![WaitingEnvelope { envelope_id: id, recipient: bob }];
    let envelopes = vec![Arc::new(sent.clone())];
    db.apply(&WriteSet { envelopes, waiting, ..WriteSet::default() });
    let listed = list(db, &all_of(alice)).envelopes.remove(0);
    assert_eq!((listed.id, listed.recipient, listed.sent_at), (id, bob, at(7)));
    assert_eq!(listed.context, sent.meta.context);
    assert!(listed.facts.is_waiting && listed.receipts == ReceiptPolicy::Notified);
    let receipts = ReceiptPolicy::None;
    let hidden = RecipientPolicy { receipts, ..RecipientPolicy::default() };
    db.write(Durable, |tx| tx.set_policy(&bob, &hidden)).unwrap();
    assert_eq!(list(db, &all_of(alice)).envelopes[0].receipts, receipts);
    let opened = db.write(Durable, |tx| tx.find_envelope(&id, &bob)).unwrap();
    assert_eq!(opened.unwrap().envelope.meta, sent.meta);
}

fn threads_are_found_by_sender_and_recipient_only(db: &Fixture) {
    let (alice, bob, carol) = (db.activate().id, db.activate().id, db.activate().id);
    let mut sent = [sent_at(&alice, &bob, 7, 1), sent_at(&alice, &bob, 7, 2)];
    sent[0].meta.context.thread = Some(thread("A"));
    store(db, &sent);
    let ids = sent.each_ref().map(|one| one.meta.id);
    let unknown = EnvelopeId::new(at(7), [9; 10]);
    for (key, found) in [(alice, 2), (bob, 2), (carol, 0)] {
        let asked = [ids[0], unknown, ids[1]];
        let threads = db.read(|reader| reader.find_threads(&asked, &key)).unwrap();
        assert_eq!(threads.len(), found);
        assert!(
            found == 0 || (threads[&ids[0]] == Some(thread("A")) && threads[&ids[1]].is_none())
        );
    }
}
