//! Tests the lists of accounts, API keys and webhooks for operators, and the counts of rows.

use diesel::{
    RunQueryDsl as _, sql_query,
    sql_types::{Nullable, Text},
};
use sealpost_domain::{
    ApiKey, Handle, KeyStatus, Label, PartnerId, Plan, Session, WebhookStatus,
    ports::{
        AccountOverview, AccountSummary, Durability::Durable, KeyFilter, ServiceStats, WebhookOwner,
    },
};

use crate::{
    DatabaseUrl,
    connection::AnyConnection,
    tests::fixture::{Fixture, account, at, key, open_session, token},
};

on_both!(
    accounts_are_listed_newest_first_page_by_page,
    an_account_shows_its_live_sessions_and_webhooks,
    keys_are_listed_newest_first_page_by_page,
    each_filter_of_keys_selects_its_keys,
    each_filter_of_keys_has_an_index,
    webhooks_are_listed_by_key_and_by_account,
    stats_count_every_kind_of_row,
    stats_count_no_further_than_the_limit,
    sessions_are_ended_by_account_or_all_up_to_a_limit,
    a_webhook_of_any_key_can_be_disabled,
);

fn accounts_are_listed_newest_first_page_by_page(db: &Fixture) {
    let partner = PartnerId::parse("acme").unwrap();
    let keys = [(); 3].map(|()| db.activate());
    db.activate_beside(&keys[1]);
    db.write(Durable, |tx| tx.set_partner(&keys[0].account_id, Some(&partner))).unwrap();
    let newest = [summary(&keys[2], None, 1), summary(&keys[1], None, 2)];
    assert_eq!(db.reader().accounts(None, 2).unwrap(), newest);
    let rest = db.reader().accounts(Some(&keys[1].account_id), 2).unwrap();
    assert_eq!(rest, [summary(&keys[0], Some(partner), 1)]);
    assert_eq!(db.reader().accounts(Some(&keys[0].account_id), 2).unwrap(), []);
}

fn summary(key: &ApiKey, partner: Option<PartnerId>, keys: u64) -> AccountSummary {
    let (id, created_at) = (key.account_id, at(1));
    AccountSummary { id, partner, keys, created_at, closed_at: None, erased_at: None }
}

fn an_account_shows_its_live_sessions_and_webhooks(db: &Fixture) {
    let (mine, other) = (db.activate(), db.activate());
    let second = db.activate_beside(&mine);
    for key in [&mine, &second, &second, &other] {
        db.register(&key.id);
    }
    let session = |account_id, end| Session { token: token(), account_id, expires_at: at(end) };
    let sessions = [(mine.account_id, 4), (mine.account_id, 5), (other.account_id, 5)]
        .map(|(account, end)| session(account, end));
    db.write(Durable, |tx| sessions.iter().try_for_each(|session| open_session(tx, session)))
        .unwrap();
    let expected = AccountOverview { summary: summary(&mine, None, 2), sessions: 1, webhooks: 3 };
    assert_eq!(db.reader().account(&mine.account_id, at(4)).unwrap(), Some(expected));
    assert_eq!(db.reader().account(&account().id, at(4)).unwrap(), None);
}

fn keys_are_listed_newest_first_page_by_page(db: &Fixture) {
    let keys = [(); 5].map(|()| db.activate().id);
    let (filter, mut below, mut found) = (KeyFilter::default(), None, Vec::new());
    loop {
        let page = db.reader().keys(&filter, below.as_ref(), 2).unwrap();
        assert!(page.len() <= 2);
        let Some(last) = page.last() else { break };
        below = Some(last.id);
        found.extend(page.into_iter().map(|key| key.id));
    }
    found.reverse();
    assert_eq!(found, keys);
}

fn each_filter_of_keys_selects_its_keys(db: &Fixture) {
    let [plain, other] = [(); 2].map(|()| db.activate());
    let handle = Handle::parse("alice").unwrap();
    let label = Label::parse("a label").unwrap();
    let odd = ApiKey {
        handle: Some(handle.clone()),
        label: label.clone(),
        status: KeyStatus::Deactivated,
        plan: Plan::Builder,
        ..key(&other.account_id)
    };
    db.write(Durable, |tx| tx.insert_key(&odd)).unwrap();
    let none = KeyFilter::default;
    for (filter, expected) in [
        (none(), vec![odd.id, other.id, plain.id]),
        (KeyFilter { account: Some(other.account_id), ..none() }, vec![odd.id, other.id]),
        (KeyFilter { handle: Some(handle.clone()), ..none() }, vec![odd.id]),
        (KeyFilter { label: Some(label), ..none() }, vec![odd.id]),
        (KeyFilter { label: Some(plain.label.clone()), ..none() }, vec![other.id, plain.id]),
        (KeyFilter { status: Some(KeyStatus::Deactivated), ..none() }, vec![odd.id]),
        (KeyFilter { status: Some(KeyStatus::Active), ..none() }, vec![other.id, plain.id]),
        (KeyFilter { plan: Some("builder".to_owned()), ..none() }, vec![odd.id]),
        (
            KeyFilter {
                account: Some(other.account_id),
                status: Some(KeyStatus::Active),
                plan: Some("explorer".to_owned()),
                ..none()
            },
            vec![other.id],
        ),
        (KeyFilter { handle: Some(handle), status: Some(KeyStatus::Active), ..none() }, vec![]),
    ] {
        let found = db.reader().keys(&filter, None, 9).unwrap();
        assert_eq!(found.iter().map(|key| key.id).collect::<Vec<_>>(), expected, "{filter:?}");
    }
}

/// On SQLite, checks that the query plan of each filter searches an index and sorts nothing. On PostgreSQL, checks only
/// that the indexes exist, because its query plans depend on statistics.
fn each_filter_of_keys_has_an_index(db: &Fixture) {
    for column in ["handle", "label", "plan", "status"] {
        let index = format!("ix_api_keys__{column}__id");
        if matches!(db.url, DatabaseUrl::Postgres(_)) {
            assert_eq!(db.count(&format!("pg_indexes WHERE indexname = '{index}'")), 1);
            continue;
        }
        let AnyConnection::Sqlite(mut lite) = db.raw() else { panic!() };
        let query = format!(
            "EXPLAIN QUERY PLAN SELECT * FROM api_keys WHERE {column} = ? AND id < ? ORDER BY id DESC LIMIT 9"
        );
        let steps: Vec<PlanStep> = sql_query(query)
            .bind::<Nullable<Text>, _>(None::<String>)
            .bind::<Text, _>("ak")
            .load(&mut lite)
            .unwrap();
        let plan: Vec<_> = steps.into_iter().map(|step| step.detail).collect();
        let [search] = &plan[..] else { panic!("{plan:?}") };
        assert!(search.starts_with("SEARCH") && search.contains(&index), "{plan:?}");
    }
}

#[derive(diesel::QueryableByName)]
struct PlanStep {
    #[diesel(sql_type = Text)]
    detail: String,
}

fn webhooks_are_listed_by_key_and_by_account(db: &Fixture) {
    let (mine, other) = (db.activate(), db.activate());
    let second = db.activate_beside(&mine);
    let [first, next, last] = [&mine, &second, &mine].map(|key| db.register(&key.id).id);
    db.register(&other.id);
    let found = |owner, below: Option<_>, limit| {
        let page = db.reader().webhooks(&owner, below.as_ref(), limit).unwrap();
        page.into_iter().map(|webhook| webhook.id).collect::<Vec<_>>()
    };
    assert_eq!(found(WebhookOwner::Key(mine.id), None, 9), [last, first]);
    let of_account = WebhookOwner::Account(mine.account_id);
    assert_eq!(found(of_account, None, 2), [last, next]);
    assert_eq!(found(of_account, Some(next), 2), [first]);
    assert_eq!(found(WebhookOwner::Account(account().id), None, 9), []);
}

fn stats_count_every_kind_of_row(db: &Fixture) {
    let keys = [db.activate(), db.activate()];
    let builder = ApiKey { plan: Plan::Builder, ..key(&keys[0].account_id) };
    let revoked = db.activate_beside(&keys[0]);
    db.write(Durable, |tx| {
        tx.insert_key(&builder)?;
        tx.revoke_key(&revoked.id, at(9))
    })
    .unwrap();
    let (enabled, disabled) = (db.register(&keys[0].id), db.register(&keys[1].id));
    db.send(&enabled, 3);
    db.execute(&format!("UPDATE webhooks SET status = 'disabled' WHERE id = '{}'", disabled.id))
        .unwrap();
    db.execute(
        "UPDATE deliveries SET due_at = NULL WHERE envelope_id IN
            (SELECT min(envelope_id) FROM deliveries)",
    )
    .unwrap();
    for (key, day, sent, delivered) in
        [(&keys[0], 9, 1, 2), (&keys[1], 10, 3, 4), (&keys[0], 11, 5, 6)]
    {
        let key = key.id;
        db.execute(&format!(
            "INSERT INTO daily_counts (api_key_id, day, sent, received, delivered)
             VALUES ('{key}', {day}, {sent}, 100, {delivered})"
        ))
        .unwrap();
    }
    let stats = db.reader().stats(at(10), 9).unwrap();
    let database_bytes = stats.database_bytes;
    assert!(database_bytes > 10_000, "{database_bytes}");
    let expected = ServiceStats {
        accounts: 2,
        keys_by_status: vec![(KeyStatus::Active, 3), (KeyStatus::Revoked, 1)],
        keys_by_plan: vec![("builder".to_owned(), 1), ("explorer".to_owned(), 2)],
        webhooks: vec![(WebhookStatus::Disabled, 1), (WebhookStatus::Enabled, 1)],
        envelopes: 3,
        waiting_deliveries: 2,
        sent: 8,
        delivered: 10,
        database_bytes,
    };
    assert_eq!(stats, expected);
}

fn stats_count_no_further_than_the_limit(db: &Fixture) {
    let empty = db.reader().stats(at(0), 9).unwrap();
    assert_eq!((empty.accounts, empty.envelopes, empty.sent), (0, 0, 0));
    db.send(&db.register(&db.activate().id), 3);
    let stats = db.reader().stats(at(0), 2).unwrap();
    assert_eq!((stats.envelopes, stats.waiting_deliveries), (2, 2));
}

fn sessions_are_ended_by_account_or_all_up_to_a_limit(db: &Fixture) {
    let (mine, other) = (db.activate().account_id, db.activate().account_id);
    let sessions = [mine, mine, mine, other, other].map(|account_id| Session {
        token: token(),
        account_id,
        expires_at: at(9),
    });
    db.write(Durable, |tx| sessions.iter().try_for_each(|session| open_session(tx, session)))
        .unwrap();
    let end = |account, limit| db.write(Durable, |tx| tx.end_sessions(account, limit));
    let left = |id| db.reader().account(&id, at(4)).unwrap().unwrap().sessions;
    assert_eq!(end(Some(&mine), 2).unwrap(), 2);
    assert_eq!((left(mine), left(other)), (1, 2));
    assert_eq!(end(Some(&mine), 2).unwrap(), 1);
    assert_eq!((left(mine), left(other)), (0, 2));
    assert_eq!(end(None, 9).unwrap(), 2);
    assert_eq!(end(None, 9).unwrap(), 0);
}

fn a_webhook_of_any_key_can_be_disabled(db: &Fixture) {
    let key = db.activate();
    let (one, other) = (db.register(&key.id), db.register(&key.id));
    let locked = db
        .write(Durable, |tx| {
            let locked = tx.lock_webhook_of_any_key(&one.id)?;
            tx.disable_webhook(&one.id, at(0))?;
            Ok(locked)
        })
        .unwrap();
    assert_eq!(locked.map(|webhook| webhook.id), Some(one.id));
    let of_key = db.reader().webhooks(&WebhookOwner::Key(key.id), None, 9).unwrap();
    let status: Vec<_> = of_key.iter().map(|webhook| (webhook.id, webhook.status)).collect();
    let expected = [(other.id, WebhookStatus::Enabled), (one.id, WebhookStatus::Disabled)];
    assert_eq!(status, expected);
    let unknown = crate::tests::fixture::webhook(&key.id).id;
    let found = db.write(Durable, |tx| tx.lock_webhook_of_any_key(&unknown)).unwrap();
    assert!(found.is_none());
}
