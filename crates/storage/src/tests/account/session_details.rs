//! Tests of session details: start, last use and client.

use sealpost_domain::{
    RequestSource, Session, SessionDetails, UserAgent, ports::Durability::Durable,
};

use crate::tests::fixture::{Fixture, at, open_session, token};

on_both!(
    the_client_and_the_start_of_a_session_read_back,
    the_last_use_only_advances_unless_a_clock_was_wrong,
);

const HOUR: i64 = 3_600_000;

fn details_of(db: &Fixture, session: &Session) -> SessionDetails {
    let mut lookup = db.reader();
    let all = lookup.sessions_of(&session.account_id, at(0), 9).unwrap();
    all.into_iter().find(|details| details.session == *session).unwrap()
}

fn session(db: &Fixture) -> Session {
    Session { token: token(), account_id: db.activate().account_id, expires_at: at(99) }
}

fn the_client_and_the_start_of_a_session_read_back(db: &Fixture) {
    let session = session(db);
    let source = RequestSource {
        address: Some("2001:db8::7".parse().unwrap()),
        user_agent: UserAgent::new(b"curl/8.5 'x' <b>"),
    };
    db.write(Durable, |tx| tx.insert_session(&session, at(5), &source)).unwrap();
    let expected =
        SessionDetails { session: session.clone(), started_at: at(5), last_used_at: None, source };
    assert_eq!(details_of(db, &session), expected);
}

fn the_last_use_only_advances_unless_a_clock_was_wrong(db: &Fixture) {
    let (used, unused) = (session(db), session(db));
    db.write(Durable, |tx| {
        open_session(tx, &used)?;
        open_session(tx, &unused)
    })
    .unwrap();
    // A last use that is more than an hour ahead came from a wrong clock.
    for (hour, expected) in [(2, 2), (1, 2), (3, 3), (27, 27), (26, 27), (4, 4)] {
        let tokens = [used.token, token()];
        db.write(Durable, |tx| tx.set_session_uses(&tokens, at(hour * HOUR))).unwrap();
        assert_eq!(details_of(db, &used).last_used_at, Some(at(expected * HOUR)));
    }
    assert_eq!(details_of(db, &unused).last_used_at, None);
}
