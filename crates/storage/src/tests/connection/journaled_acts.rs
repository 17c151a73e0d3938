//! Tests that transactions record revocations and similar changes (acts) in the revocation journal, and raise the
//! journal's mark in the database.

use std::sync::{Arc, Mutex};

use sealpost_domain::{
    AccountSecrets, ApiTokenId, BadgeId, KeyStatus, Revocation, Timestamp,
    ports::{
        ClosingExtent,
        Durability::{Durable, Relaxed},
        JournaledAct, RevocationJournal, StoreError,
    },
};
use sealpost_testkit::{FsyncMode, Proxy, Server};

use crate::{
    connection::transaction::Transaction,
    tests::{
        fixture::{Fixture, account, at, at_url, key, secrets},
        records::{api_tokens, badges},
    },
};

on_both!(
    each_act_is_recorded_with_a_rising_mark,
    an_act_has_the_time_of_the_database_server,
    a_transaction_without_acts_has_no_mark,
    a_failed_or_rolled_back_transaction_records_nothing,
    a_relaxed_transaction_records_acts_without_a_mark,
    a_mark_is_raised_and_never_lowered,
    concurrent_transactions_have_different_marks,
    the_identity_is_a_random_name,
);

/// A revocation journal in memory instead of in a file. Each entry has the mark and the recorded acts.
#[derive(Debug, Default)]
struct Memory {
    entries: Mutex<Vec<(Option<u64>, Vec<JournaledAct>)>>,
    /// The server time of the newest entry.
    newest: Mutex<Option<Timestamp>>,
}

impl Memory {
    fn attach(db: &Fixture) -> Arc<Self> {
        let journal = Arc::new(Self::default());
        db.attach_journal(Arc::<Self>::clone(&journal));
        journal
    }

    fn take(&self) -> Vec<(Option<u64>, Vec<JournaledAct>)> {
        std::mem::take(&mut self.entries.lock().unwrap())
    }
}

impl RevocationJournal for Memory {
    fn name(&self) -> Option<String> {
        Some(NAME.to_owned())
    }

    fn append(&self, mark: Option<u64>, server_time: Option<Timestamp>, acts: &[JournaledAct]) {
        *self.newest.lock().unwrap() = server_time;
        self.entries.lock().unwrap().push((mark, acts.to_vec()));
    }
}

type Act = Box<dyn Fn(&mut Transaction) -> Result<(), StoreError>>;

fn each_act_is_recorded_with_a_rising_mark(db: &Fixture) {
    use JournaledAct as A;
    let journal = Memory::attach(db);
    let (key, other) = (db.activate(), db.activate());
    let (account, replaced): (_, AccountSecrets) = (key.account_id, secrets());
    let tokens: [ApiTokenId; 2] = [(); 2].map(|()| api_tokens::insert(db, &key).id);
    let badge: BadgeId = badges::insert(db, &key.id);
    assert_eq!(journal.take(), [], "these writes revoke nothing");
    let revocation = Revocation { at: at(9), by: "an operator".to_owned(), reason: String::new() };
    let acts: Vec<(Act, Vec<A>)> = vec![
        (
            Box::new(move |tx| tx.set_status(&key.id, KeyStatus::Deactivated)),
            vec![A::KeyDeactivated(key.id)],
        ),
        (
            Box::new(move |tx| tx.set_status(&key.id, KeyStatus::Active)),
            vec![A::KeyActivated(key.id)],
        ),
        (Box::new(move |tx| tx.revoke_key(&key.id, at(9)).map(drop)), vec![A::KeyRevoked(key.id)]),
        (
            Box::new(move |tx| tx.delete_api_token(&tokens[0], None).map(drop)),
            vec![A::ApiTokenRevoked(tokens[0])],
        ),
        (
            Box::new(move |tx| tx.delete_api_tokens_of(&account).map(drop)),
            vec![A::ApiTokenRevoked(tokens[1])],
        ),
        (
            Box::new(move |tx| tx.revoke_badge(&badge, &revocation).map(drop)),
            vec![A::BadgeRevoked(badge)],
        ),
        (
            Box::new(move |tx| tx.set_account_secrets(&account, &replaced)),
            vec![A::SecretsReplaced(account, replaced)],
        ),
        (
            Box::new(move |tx| {
                tx.begin_closing(&account, ClosingExtent::Close, at(9)).map(drop)?;
                tx.begin_closing(&other.account_id, ClosingExtent::Erase, at(9)).map(drop)
            }),
            vec![A::AccountClosed(account), A::AccountErased(other.account_id)],
        ),
    ];
    for (mark, (act, expected)) in (1..).zip(acts) {
        db.write(Durable, |tx| act(tx)).unwrap();
        assert_eq!(journal.take(), [(Some(mark), expected)]);
        assert_eq!(db.journal_mark(NAME).unwrap(), Some(mark));
    }
}

fn an_act_has_the_time_of_the_database_server(db: &Fixture) {
    let journal = Memory::attach(db);
    let server_time = || db.read(|reader| reader.shared_time(NO_SERVER)).unwrap();
    for durability in [Durable, Relaxed] {
        let (key, before) = (db.activate(), server_time());
        db.write(durability, |tx| tx.revoke_key(&key.id, at(9))).unwrap();
        let recorded = journal.newest.lock().unwrap().unwrap_or(NO_SERVER);
        assert!((before..=server_time()).contains(&recorded), "{recorded:?}");
    }
}

fn a_transaction_without_acts_has_no_mark(db: &Fixture) {
    let journal = Memory::attach(db);
    let key = db.activate();
    let write = |act: &dyn Fn(&mut Transaction) -> Result<(), StoreError>| {
        db.write(Durable, |tx| act(tx)).unwrap();
    };
    write(&|tx| tx.set_status(&key.id, KeyStatus::Rotating));
    write(&|tx| tx.delete_sessions_of(&key.account_id));
    write(&|tx| tx.delete_api_tokens_of(&key.account_id).map(drop));
    assert_eq!((journal.take(), db.journal_mark(NAME).unwrap()), (vec![], None));
}

fn a_failed_or_rolled_back_transaction_records_nothing(db: &Fixture) {
    let journal = Memory::attach(db);
    let existing = db.activate();
    let mut tx = db.begin(Durable).unwrap();
    tx.revoke_key(&existing.id, at(9)).unwrap();
    drop(tx);
    let mut tx = db.begin(Durable).unwrap();
    tx.set_status(&existing.id, KeyStatus::Deactivated).unwrap();
    tx.set_status(&key(&account().id).id, KeyStatus::Deactivated).unwrap_err();
    tx.commit().unwrap_err();
    assert_eq!((journal.take(), db.journal_mark(NAME).unwrap()), (vec![], None));
}

fn a_relaxed_transaction_records_acts_without_a_mark(db: &Fixture) {
    let journal = Memory::attach(db);
    let key = db.activate();
    db.write(Relaxed, |tx| tx.revoke_key(&key.id, at(9))).unwrap();
    assert_eq!(journal.take(), [(None, vec![JournaledAct::KeyRevoked(key.id)])]);
    assert_eq!(db.journal_mark(NAME).unwrap(), None);
}

fn a_mark_is_raised_and_never_lowered(db: &Fixture) {
    for (mark, expected) in [(7, 7), (3, 7), (9, 9)] {
        db.raise_journal_mark(NAME, mark).unwrap();
        assert_eq!(db.journal_mark(NAME).unwrap(), Some(expected));
    }
    assert_eq!(db.journal_mark("0b").unwrap(), None);
}

fn concurrent_transactions_have_different_marks(db: &Fixture) {
    let journal = Memory::attach(db);
    let keys = [(); 4].map(|()| db.activate());
    std::thread::scope(|scope| {
        for key in &keys {
            scope.spawn(|| db.write(Durable, |tx| tx.revoke_key(&key.id, at(9))).unwrap());
        }
    });
    let mut marks: Vec<_> = journal.take().into_iter().map(|(mark, _)| mark).collect();
    marks.sort_unstable();
    assert_eq!(marks, [Some(1), Some(2), Some(3), Some(4)]);
}

fn the_identity_is_a_random_name(db: &Fixture) {
    let id = db.identity().unwrap();
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    assert_eq!(db.identity().unwrap(), id);
}

#[test]
fn a_commit_in_doubt_records_only_revocations_and_without_a_mark() {
    let server = Server::start(FsyncMode::Off).unwrap();
    let url = server.create_database();
    let proxy = Proxy::before(&url).unwrap();
    let (db, through) = (at_url(&url), at_url(proxy.url()));
    db.migrate().unwrap();
    let (key, journal) = (db.activate(), Memory::attach(&through));
    proxy.drop_commit_responses(true);
    let lost = through.write(Durable, |tx| {
        tx.set_account_secrets(&key.account_id, &secrets())?;
        tx.revoke_key(&key.id, at(9))
    });
    assert!(matches!(lost, Err(StoreError::InDoubt(_))), "{lost:?}");
    assert_eq!(journal.take(), [(None, vec![JournaledAct::KeyRevoked(key.id)])]);
    assert_eq!(db.journal_mark(NAME).unwrap(), Some(1), "it was carried out");
}

const NAME: &str = "0a";
/// The result of `shared_time` for SQLite, which has no server.
const NO_SERVER: Timestamp = Timestamp::from_millis(1);
