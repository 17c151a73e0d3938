//! Tests the facts of a batch of sends: the rows that admission depends on.

use std::sync::Arc;

use sealpost_domain::{
    ApiKey, EventKind, Handle, KeyStatus, Plan, Session, Target, Usage, WindowUse,
    ports::{
        AdmissionFacts, Durability::Durable, FactsQuery, HandleOwner, RecipientWebhook,
        RecipientWebhooks, WriteSet,
    },
};

use crate::tests::fixture::{Fixture, at, key, open_session, target, token, webhook};

on_both!(
    an_empty_query_finds_nothing,
    missing_facts_are_absent,
    keys_are_found_with_their_newest_handle,
    a_fresh_key_has_used_nothing,
    usage_reads_back_for_callers_alone,
    sessions_are_found_expired_or_not,
    webhooks_of_recipients_are_found_by_their_status,
    a_webhook_receives_only_the_events_that_it_names,
);

fn facts(db: &Fixture, wanted: &FactsQuery) -> AdmissionFacts {
    db.write(Durable, |tx| tx.lock_facts(wanted)).unwrap()
}

fn callers(keys: &[&ApiKey]) -> FactsQuery {
    FactsQuery { callers: keys.iter().map(|key| key.id).collect(), ..FactsQuery::default() }
}

fn recipients(keys: &[&ApiKey]) -> FactsQuery {
    FactsQuery { recipients: keys.iter().map(|key| key.id).collect(), ..FactsQuery::default() }
}

fn an_empty_query_finds_nothing(db: &Fixture) {
    let facts = facts(db, &FactsQuery::default());
    assert!(facts.keys.is_empty() && facts.sessions.is_empty());
    assert!(facts.usage.is_empty() && facts.webhooks.is_empty());
}

fn missing_facts_are_absent(db: &Fixture) {
    let missing = key(&db.activate().account_id);
    let facts = facts(
        db,
        &FactsQuery {
            sessions: vec![token()],
            recipients: vec![missing.id],
            ..callers(&[&missing])
        },
    );
    assert!(facts.keys.is_empty() && facts.sessions.is_empty());
    assert!(facts.usage.is_empty());
    assert_eq!(*facts.webhooks[&missing.id], RecipientWebhooks::default());
}

fn keys_are_found_with_their_newest_handle(db: &Fixture) {
    let (old, plain) = (db.activate(), db.activate());
    let new = db.activate_beside(&old);
    let bob = Handle::parse("bob").unwrap();
    for key in [&old, &new] {
        let owner = HandleOwner { account_id: key.account_id, api_key_id: key.id };
        db.write(Durable, |tx| tx.assign_handle(&bob, &owner)).unwrap();
    }
    let wanted = FactsQuery { recipients: vec![new.id, plain.id], ..callers(&[&old]) };
    let keys = facts(db, &wanted).keys;
    assert_eq!(keys.len(), 3);
    assert_eq!(keys[&old.id].handle, None);
    assert_eq!(keys[&new.id].handle, Some(bob));
    let facts = &keys[&plain.id];
    assert_eq!(facts.handle, None);
    assert_eq!(facts.account_id, plain.account_id);
    assert_eq!((facts.status, facts.plan), (KeyStatus::Active, Plan::Explorer));
    assert_eq!(facts.sealing_version, plain.sealing_version);
    assert!(!facts.standing.is_blocked());
}

fn a_fresh_key_has_used_nothing(db: &Fixture) {
    let key = db.activate();
    assert_eq!(facts(db, &callers(&[&key])).usage[&key.id], Usage::UNUSED);
}

fn usage_reads_back_for_callers_alone(db: &Fixture) {
    let (caller, other) = (db.activate(), db.activate());
    let used = Usage {
        minute: WindowUse { start: at(60_000), used: 1 },
        day: WindowUse { start: at(86_400_000), used: 2 },
        month: WindowUse { start: at(1_767_225_600_000), used: u32::MAX },
        throughput_tat_us: -3,
    };
    db.apply(&WriteSet { usage: vec![(caller.id, used), (other.id, used)], ..WriteSet::default() });
    let wanted = FactsQuery { recipients: vec![other.id], ..callers(&[&caller]) };
    let usage = facts(db, &wanted).usage;
    assert_eq!(usage.len(), 1);
    assert_eq!(usage[&caller.id], used);
}

fn sessions_are_found_expired_or_not(db: &Fixture) {
    let account_id = db.activate().account_id;
    let sessions =
        [0, i64::MAX].map(|end| Session { token: token(), account_id, expires_at: at(end) });
    db.write(Durable, |tx| sessions.iter().try_for_each(|session| open_session(tx, session)))
        .unwrap();
    let tokens = sessions.iter().map(|session| session.token).chain([token()]).collect();
    let found = facts(db, &FactsQuery { sessions: tokens, ..FactsQuery::default() }).sessions;
    assert_eq!(found.len(), 2);
    assert!(sessions.iter().all(|session| found[&session.token] == *session));
}

fn webhooks_of_recipients_are_found_by_their_status(db: &Fixture) {
    let (sender, recipient, other) = (db.activate(), db.activate(), db.activate());
    db.register(&sender.id);
    let mine = [db.register(&recipient.id), db.register(&recipient.id)];
    let off = sealpost_domain::Webhook {
        status: sealpost_domain::WebhookStatus::Disabled,
        ..webhook(&recipient.id)
    };
    db.write(Durable, |tx| tx.insert_webhook(&off)).unwrap();
    let wanted = FactsQuery { callers: vec![sender.id], ..recipients(&[&recipient, &other]) };
    let found = facts(db, &wanted).webhooks;
    assert_eq!(found.len(), 2, "webhooks of senders are not read");
    let webhook = |of: &sealpost_domain::Webhook, is_active| RecipientWebhook {
        events: vec![EventKind::EnvelopeReceived],
        is_active,
        target: Arc::new(Target { account_id: recipient.account_id, ..Target::clone(&target(of)) }),
    };
    let [first, second] = &mine;
    let expected = vec![webhook(first, true), webhook(second, true), webhook(&off, false)];
    assert_eq!(*found[&recipient.id], RecipientWebhooks(expected));
    assert_eq!(*found[&other.id], RecipientWebhooks::default());
}

fn a_webhook_receives_only_the_events_that_it_names(db: &Fixture) {
    let recipient = db.activate();
    let [subscribed, other] = [(); 2].map(|()| db.register(&recipient.id));
    let names = "usage.threshold,identity.rotated";
    db.execute(&format!("UPDATE webhooks SET events = '{names}' WHERE id = '{}'", other.id))
        .unwrap();
    let found = facts(db, &recipients(&[&recipient])).webhooks;
    let webhooks = &found[&recipient.id];
    assert_eq!(webhooks.0.len(), 2);
    let ids: Vec<_> = webhooks
        .subscribed(EventKind::EnvelopeReceived)
        .map(|webhook| webhook.target.webhook_id)
        .collect();
    assert_eq!(ids, [subscribed.id]);
}
