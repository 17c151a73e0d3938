//! Tests the log of delivery attempts, and the list of pending deliveries.

use sealpost_domain::{
    Attempt, AttemptFailure, AttemptNumber, AttemptOutcome, AttemptResult, AttemptTiming,
    EventKind, LeaseToken, Outcome, PendingDelivery, ReceiverResponse, Webhook,
    ports::{Durability::Durable, Outbox},
};

use crate::tests::fixture::{Fixture, at, claim, record, result_of};

on_both!(
    every_attempt_is_logged_completely,
    any_response_can_be_logged,
    attempts_are_paged_newest_first,
    pending_deliveries_are_listed_newest_envelope_first,
    leased_and_exhausted_deliveries_show_no_due_time,
    the_log_is_readable_during_a_write,
    recent_attempts_are_read_up_to_a_limit,
    the_log_is_searched_by_time,
    an_event_is_found_with_its_attempts_and_pending_deliveries,
);

fn attempts(
    db: &Fixture,
    of: &Webhook,
    outcome: Option<AttemptOutcome>,
    below: Option<AttemptNumber>,
    limit: u32,
) -> Vec<Attempt> {
    db.write(Durable, |tx| tx.attempts(&of.id, outcome, below, limit)).unwrap()
}

fn all(db: &Fixture, of: &Webhook) -> Vec<Attempt> {
    attempts(db, of, None, None, 1000)
}

fn pending(db: &Fixture, of: &Webhook) -> Vec<PendingDelivery> {
    db.write(Durable, |tx| tx.pending_deliveries(&of.id, at(0), None, 1000)).unwrap()
}

fn retry(due_at: i64) -> Outcome {
    Outcome::Retry { failure: AttemptFailure::HttpStatus(500), due_at: at(due_at) }
}

fn every_attempt_is_logged_completely(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let sent = db.send(&to, 1);
    record(db, &[result_of(&claim(db, 1000, 1)[0], 1100, retry(1200))]);
    let exhausted = Outcome::Exhausted(AttemptFailure::Timeout);
    let last = claim(db, 1200, 2).remove(0);
    let error_detail = Some("late\0".to_owned());
    record(
        db,
        &[AttemptResult { response: None, error_detail, ..result_of(&last, 1300, exhausted) }],
    );
    let first = Attempt {
        number: AttemptNumber(0),
        event_id: sent[0].event.id(),
        attempt: 1,
        at: at(1100),
        duration_ms: 12,
        outcome: AttemptOutcome::Failed,
        status_code: Some(500),
        error: Some("http_status".to_owned()),
        error_detail: None,
        excerpt: Some("out of order".to_owned()),
        next_attempt_at: Some(at(1200)),
    };
    let second = Attempt {
        attempt: 2,
        at: at(1300),
        outcome: AttemptOutcome::Exhausted,
        status_code: None,
        error: Some("timeout".to_owned()),
        error_detail: Some("late ".to_owned()),
        excerpt: None,
        next_attempt_at: None,
        ..first.clone()
    };
    let logged = all(db, &to).into_iter().map(|it| Attempt { number: AttemptNumber(0), ..it });
    assert_eq!(logged.collect::<Vec<_>>(), [second, first]);
}

fn any_response_can_be_logged(db: &Fixture) {
    let to = db.register(&db.activate().id);
    db.send(&to, 3);
    let held = claim(db, 1000, 1);
    let answers = ["\0'\"\\{NULL},\u{FFFD}\u{7}", &"ü".repeat(5000), ""].map(str::to_owned);
    let ends: Vec<_> = held
        .iter()
        .zip(&answers)
        .map(|(held, excerpt)| AttemptResult {
            response: Some(ReceiverResponse { status: 599, excerpt: excerpt.clone() }),
            duration_ms: u32::MAX,
            ..result_of(held, 1100, Outcome::Succeeded)
        })
        .collect();
    record(db, &ends);
    let kept: Vec<_> = all(db, &to).into_iter().rev().map(|attempt| attempt.excerpt).collect();
    let first = " '\"\\{NULL},\u{FFFD}\u{7}".to_owned();
    assert_eq!(kept, [Some(first), Some("ü".repeat(512)), None]);
}

fn attempts_are_paged_newest_first(db: &Fixture) {
    let key = db.activate();
    let (to, other) = (db.register(&key.id), db.register(&key.id));
    db.send(&to, 9);
    db.send(&other, 2);
    let outcomes = [Outcome::Succeeded, retry(9000), Outcome::Exhausted(AttemptFailure::Dns)];
    let ends: Vec<_> = claim(db, 1000, 1)
        .iter()
        .zip(outcomes.into_iter().cycle())
        .zip(1100..)
        .map(|((held, outcome), when)| result_of(held, when, outcome))
        .collect();
    for part in ends.rchunks(4) {
        record(db, part);
    }
    let whole = all(db, &to);
    assert_eq!(whole.len(), 9);
    assert!(whole.is_sorted_by(|later, earlier| later.number > earlier.number));
    let mut pages = Vec::new();
    loop {
        let below = pages.last().map(|attempt: &Attempt| attempt.number);
        let page = attempts(db, &to, None, below, 2);
        if page.is_empty() {
            break;
        }
        pages.extend(page);
    }
    assert_eq!(pages, whole);
    for outcome in AttemptOutcome::ALL {
        let alone = attempts(db, &to, Some(outcome), None, 1000);
        let picked: Vec<_> = whole.iter().filter(|it| it.outcome == outcome).cloned().collect();
        assert_eq!(alone, picked);
        assert!(!alone.is_empty());
    }
}

fn pending_deliveries_are_listed_newest_envelope_first(db: &Fixture) {
    let key = db.activate();
    let (to, other) = (db.register(&key.id), db.register(&key.id));
    let sent = db.send(&to, 4);
    db.send(&other, 1);
    let held = claim(db, 1000, 1);
    let mine = held.iter().find(|held| held.id() == sent[1].id()).unwrap();
    record(db, &[result_of(mine, 1100, retry(7000))]);
    db.release(&[(sent[3].id(), LeaseToken(1))], at(1150)).unwrap();
    let waiting = pending(db, &to);
    let ids: Vec<_> = waiting.iter().map(|it| it.event_id).collect();
    assert_eq!(ids, [3, 2, 1, 0].map(|nth| sent[nth].event.id()));
    let failed = PendingDelivery {
        event_id: sent[1].event.id(),
        event_at: at(1000),
        attempts: 1,
        error: Some("http_status".to_owned()),
        due_at: Some(at(7000)),
    };
    assert_eq!(waiting[2], failed);
    assert_eq!((waiting[0].due_at, waiting[0].attempts), (Some(at(1150)), 0));
    let below = db
        .write(Durable, |tx| tx.pending_deliveries(&to.id, at(0), Some(&sent[2].event.id()), 1))
        .unwrap();
    assert_eq!(below, [failed]);
}

fn leased_and_exhausted_deliveries_show_no_due_time(db: &Fixture) {
    let to = db.register(&db.activate().id);
    db.send(&to, 2);
    let held = claim(db, 1000, 1);
    record(db, &[result_of(&held[0], 1100, Outcome::Gone)]);
    let waiting = pending(db, &to);
    assert_eq!(waiting.len(), 1);
    assert_eq!((waiting[0].event_id, waiting[0].due_at), (held[1].event.id(), None));
}

fn the_log_is_readable_during_a_write(db: &Fixture) {
    let to = db.register(&db.activate().id);
    let sent = db.send(&to, 3);
    record(db, &[result_of(&claim(db, 1000, 1)[0], 1100, Outcome::Succeeded)]);
    let mut writer = db.begin(Durable).unwrap();
    writer.delete_webhook(&to.api_key_id, &to.id, at(9)).unwrap();
    let mut lookup = db.reader();
    assert_eq!(lookup.list_webhooks(&to.api_key_id).unwrap().len(), 1);
    assert_eq!(lookup.attempts(&to.id, None, None, 9).unwrap().len(), 1);
    let below = Some(&sent[2].event.id());
    let counts =
        [None, below].map(|below| lookup.pending_deliveries(&to.id, at(0), below, 9).unwrap());
    assert_eq!(counts.map(|it| it.len()), [2, 1]);
    writer.commit().unwrap();
    assert!(lookup.pending_deliveries(&to.id, at(0), None, 9).unwrap().is_empty());
}

fn recent_attempts_are_read_up_to_a_limit(db: &Fixture) {
    let key = db.activate();
    let (to, other) = (db.register(&key.id), db.register(&key.id));
    db.send(&to, 4);
    let held = claim(db, 1000, 1);
    let outcomes = [
        Outcome::Succeeded,
        retry(9000),
        Outcome::Exhausted(AttemptFailure::Dns),
        Outcome::Succeeded,
    ];
    for ((held, outcome), when) in held.iter().zip(outcomes).zip([1100, 1200, 1300, 1400]) {
        let result = result_of(held, when, outcome);
        let response = result.response.clone().filter(|_| when != 1300);
        record(db, &[AttemptResult { response, ..result }]);
    }
    let recent =
        |id, since, limit| db.read(|reader| reader.recent_attempts(id, at(since), limit)).unwrap();
    let timing = |when, is_success| AttemptTiming {
        at: at(when),
        duration_ms: 12,
        is_success,
        has_response: when != 1300,
    };
    let all = [timing(1400, true), timing(1300, false), timing(1200, false), timing(1100, true)];
    assert_eq!(recent(&to.id, 0, 9), all);
    assert_eq!(recent(&to.id, 1200, 9), all[..3]);
    assert_eq!(recent(&to.id, 0, 2), all[..2]);
    assert!(recent(&other.id, 0, 9).is_empty());
}

fn the_log_is_searched_by_time(db: &Fixture) {
    let first_attempt_at = |when| db.read(|reader| reader.first_attempt_at(at(when))).unwrap();
    assert_eq!(first_attempt_at(0), AttemptNumber(0));
    let to = db.register(&db.activate().id);
    db.send(&to, 3);
    for (held, when) in claim(db, 1000, 1).iter().zip([1100, 1200, 1300]) {
        record(db, &[result_of(held, when, Outcome::Succeeded)]);
    }
    let before = |when| {
        let found = attempts(db, &to, None, Some(first_attempt_at(when)), 9);
        found.iter().map(|attempt| attempt.at.as_millis()).collect::<Vec<_>>()
    };
    assert_eq!(before(1100), [0; 0]);
    assert_eq!(before(1101), [1100]);
    assert_eq!(before(1300), [1200, 1100]);
    assert_eq!(before(9000), [1300, 1200, 1100]);
}

fn an_event_is_found_with_its_attempts_and_pending_deliveries(db: &Fixture) {
    let (key, stranger) = (db.activate(), db.activate());
    let (to, other) = (db.register(&key.id), db.register(&key.id));
    let sent = db.send(&to, 2);
    let event = &sent[0].event;
    let held = |now, lease| {
        let claimed = claim(db, now, lease);
        claimed.into_iter().find(|held| held.event.id() == event.id()).unwrap()
    };
    record(db, &[result_of(&held(1000, 1), 1100, retry(1200))]);
    let mut owner = db.reader();
    let pending = owner.pending_at_event(&[to.id, other.id], event).unwrap();
    assert_eq!(pending.len(), 1);
    assert_eq!((pending[0].0, pending[0].1.attempts), (to.id, 1));
    record(db, &[result_of(&held(1200, 2), 1300, Outcome::Succeeded)]);
    assert!(owner.pending_at_event(&[to.id, other.id], event).unwrap().is_empty());
    let mut attempts = |webhooks: &[_], limit| {
        let found = owner.attempts_at_event(webhooks, &event.id(), limit).unwrap();
        found.iter().map(|(id, attempt)| (*id, attempt.attempt)).collect::<Vec<_>>()
    };
    assert_eq!(attempts(&[to.id, other.id], 9), [(to.id, 2), (to.id, 1)]);
    assert_eq!(attempts(&[to.id], 1), [(to.id, 2)]);
    assert!(attempts(&[other.id], 9).is_empty());
    let mut lookup = db.reader();
    let sources = lookup.event_sources(&[event.id(), sent[1].event.id()]).unwrap();
    assert_eq!(sources.len(), 2);
    assert_eq!(sources[&event.id()].kind, EventKind::EnvelopeReceived);
    assert!(sources[&event.id()].sender.is_some());
    let found = owner.find_event(&key.id, &event.id()).unwrap().unwrap();
    assert_eq!((found.id(), found.timestamp()), (event.id(), event.timestamp()));
    assert!(owner.find_event(&stranger.id, &event.id()).unwrap().is_none());
}
