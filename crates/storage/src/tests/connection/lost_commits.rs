//! Tests of commits with a lost response: the transaction is in doubt, and the store does not retry it.

use sealpost_domain::{
    AttemptFailure, LeaseToken, Outcome,
    ports::{Durability::Durable, Outbox, StoreError},
};
use sealpost_testkit::{FsyncMode, Proxy, Server};

use crate::tests::fixture::{FAILING_MAX, Fixture, account, at, at_url, claim_of, result_of};

#[test]
fn a_commit_with_a_lost_response_is_in_doubt_and_not_retried() {
    let server = Server::start(FsyncMode::Off).unwrap();
    let (db, through, proxy) = beside_proxy(&server);
    for lose in [true, false] {
        proxy.drop_commit_responses(lose);
        let (account, mut tries) = (account(), 0);
        let opened = through.write(Durable, |tx| {
            tries += 1;
            tx.insert_account(&account)
        });
        match opened {
            Ok(()) => assert!(!lose),
            Err(StoreError::InDoubt(_)) => assert!(lose),
            Err(other) => panic!("{other:?}"),
        }
        assert_eq!(tries, 1);
        let found = db.read(|reader| reader.find_login_secret(&account.id)).unwrap();
        assert_eq!(found, Some(account.secrets.login_secret), "it was carried out");
    }
}

/// The dispatcher records outcomes again after any error. If the first commit took effect, the repetition must change
/// nothing.
#[test]
fn outcomes_may_be_recorded_again_after_a_commit_in_doubt() {
    let server = Server::start(FsyncMode::Off).unwrap();
    let (db, through, proxy) = beside_proxy(&server);
    let to = db.register(&db.activate().id);
    db.send(&to, 2);
    let held = db.claim(&claim_of(1000, 2, LeaseToken(1))).unwrap();
    let failed = Outcome::Retry { failure: AttemptFailure::Timeout, due_at: at(6000) };
    let batch = [result_of(&held[0], 1100, Outcome::Succeeded), result_of(&held[1], 1100, failed)];
    proxy.drop_commit_responses(true);
    let lost = through.record_outcomes(&batch, FAILING_MAX);
    assert!(matches!(lost, Err(StoreError::InDoubt(_))), "{lost:?}");
    proxy.drop_commit_responses(false);
    through.record_outcomes(&batch, FAILING_MAX).unwrap();
    let waiting = "deliveries WHERE attempts = 1 AND due_at = 6000 AND lease IS NULL";
    assert_eq!(["attempts", "deliveries", waiting].map(|rows| db.count(rows)), [2, 1, 1]);
}

/// Opens a database twice: directly, and through a proxy that can drop responses.
fn beside_proxy(server: &Server) -> (Fixture, Fixture, Proxy) {
    let url = server.create_database();
    let proxy = Proxy::before(&url).unwrap();
    let (db, through) = (at_url(&url), at_url(proxy.url()));
    db.migrate().unwrap();
    (db, through, proxy)
}
