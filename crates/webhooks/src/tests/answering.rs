//! What a receiver may answer, and what is made of it.

use std::time::Duration;

use sealpost_domain::{AttemptFailure, AttemptResult, Outcome, ReceiverResponse as Kept};

use super::{
    outbox::NOW,
    receiver::{Answer, Receiver},
    rig::{Rig, SECRET, settings, target},
};
use crate::Settings;

fn settlement_with(settings: Settings, answer: &'static [u8]) -> AttemptResult {
    settlement_at(settings, &Receiver::start(move |_| Answer::Bytes(answer)))
}

fn settlement_at(settings: Settings, receiver: &Receiver) -> AttemptResult {
    let rig = Rig::start(settings);
    rig.submit(&target(1, &receiver.url(), SECRET), 0);
    rig.outbox.wait_for_settled(1).remove(0)
}

fn leaked(parts: &[&[u8]]) -> &'static [u8] {
    Vec::leak(parts.concat())
}

fn failure(settlement: &AttemptResult) -> AttemptFailure {
    match settlement.outcome {
        Outcome::Exhausted(failure) | Outcome::Retry { failure, .. } => failure,
        other => panic!("{other:?}"),
    }
}

fn pause(settlement: &AttemptResult) -> Duration {
    match settlement.outcome {
        Outcome::Retry { due_at, .. } => due_at.since(NOW),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_attempt_says_what_was_answered_and_how_long_it_took() {
    let receiver = Receiver::start(|_| {
        std::thread::sleep(Duration::from_millis(30));
        Answer::Bytes(b"HTTP/1.1 418 Teapot\r\ncontent-length: 9\r\n\r\nshort\x00\xff&\n")
    });
    let settlement = settlement_at(settings(), &receiver);
    let excerpt = "short\u{fffd}\u{fffd}&\n".to_owned();
    assert_eq!(settlement.response, Some(Kept { status: 418, excerpt }));
    assert_eq!(failure(&settlement), AttemptFailure::HttpStatus(418));
    assert!((30..10_000).contains(&settlement.duration_ms), "{}", settlement.duration_ms);
}

#[test]
fn a_success_is_told_of_too_and_silence_is_no_answer() {
    let settlement = settlement_with(settings(), b"HTTP/1.1 204 No Content\r\n\r\n");
    assert_eq!(settlement.outcome, Outcome::Succeeded);
    assert_eq!(settlement.response, Some(Kept { status: 204, excerpt: String::new() }));
    let timeout = Duration::from_millis(150);
    let hanging = Receiver::start(|_| Answer::Hang);
    let settlement = settlement_at(Settings { timeout, ..settings() }, &hanging);
    assert_eq!((failure(&settlement), &settlement.response), (AttemptFailure::Timeout, &None));
    assert!(settlement.duration_ms >= 150, "{}", settlement.duration_ms);
}

#[test]
fn of_a_long_answer_the_beginning_is_kept_and_the_rest_is_not_read() {
    for (head, is_success) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n", true),
        ("HTTP/1.1 500 Oh\r\ncontent-length: 99999999999\r\n\r\n", false),
    ] {
        let endless = Receiver::start(move |_| Answer::Endless(head.as_bytes()));
        let rig = Rig::start(settings());
        rig.submit(&target(1, &endless.url(), SECRET), 0);
        let settlement = rig.outbox.wait_for_settled(1).remove(0);
        assert_eq!(settlement.response.as_ref().unwrap().excerpt, "x".repeat(1024));
        assert_eq!(settlement.outcome == Outcome::Succeeded, is_success, "{settlement:?}");
        endless.wait_for_cut(1);
    }
}

/// A connection is used again only once the answer on it has ended.
#[test]
fn a_body_of_sixteen_kibibytes_is_read_and_a_longer_one_is_not_worth_its_connection() {
    for (length, connections) in [(16 * 1024, 1), (16 * 1024 + 1, 2), (1 << 20, 2)] {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
        let answer = leaked(&[head.as_bytes(), &vec![b'x'; length]]);
        let receiver = Receiver::start(move |_| Answer::Bytes(answer));
        let rig = Rig::start(settings());
        let target = target(1, &receiver.url(), SECRET);
        for envelope in 0..2 {
            rig.submit(&target, envelope);
            rig.outbox.wait_for_settled(usize::try_from(envelope).unwrap() + 1);
        }
        assert_eq!(receiver.connections(), connections, "{length}");
    }
}

#[test]
fn dripping_bytes_hold_nobody_up() {
    let body =
        Receiver::start(|_| Answer::Drip(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n"));
    let settlement = settlement_at(settings(), &body);
    assert_eq!(settlement.outcome, Outcome::Succeeded);
    assert!(settlement.duration_ms < 10_000, "{}", settlement.duration_ms);
    body.wait_for_cut(1);

    let head = Receiver::start(|_| Answer::Drip(b"HTTP/1.1 200 OK\r\nx-slow: "));
    let timeout = Duration::from_millis(300);
    let settlement = settlement_at(Settings { timeout, ..settings() }, &head);
    assert_eq!((failure(&settlement), settlement.response), (AttemptFailure::Timeout, None));
}

#[test]
fn a_head_without_measure_is_too_large() {
    let long = leaked(&[b"HTTP/1.1 200 OK\r\nx-long: ", &vec![b'x'; 200_000]]);
    let many = leaked(&[b"HTTP/1.1 200 OK\r\n", &b"x-many: x\r\n".repeat(200), b"\r\n"]);
    for answer in [long, many] {
        let settlement = settlement_with(settings(), answer);
        assert_eq!((failure(&settlement), settlement.response), (AttemptFailure::TooLarge, None));
    }
}

#[test]
fn a_reset_is_a_failed_attempt() {
    let settlement = settlement_at(settings(), &Receiver::resetting());
    assert_eq!((failure(&settlement), settlement.response), (AttemptFailure::Protocol, None));
}

#[test]
fn overloaded_receivers_are_granted_a_minute_and_what_they_ask_for() {
    for (answer, from_s, to_s) in [
        ("429 Slow Down\r\n", 60, 72),
        ("502 Bad Gateway\r\n", 60, 72),
        ("504 Gateway Timeout\r\n", 60, 72),
        ("503 Not Now\r\n", 5, 6),
        ("503 Not Now\r\nretry-after: 120\r\n", 120, 144),
        ("429 Slow Down\r\nretry-after: 120\r\n", 120, 144),
        ("429 Slow Down\r\nretry-after: 2\r\n", 60, 72),
        ("503 Not Now\r\nretry-after: Thu, 01 Jan 2026 00:01:40 GMT\r\n", 100, 120),
        ("503 Not Now\r\nretry-after: 999999999\r\n", 3600, 4320),
        // The word has no meaning there.
        ("500 Oh\r\nretry-after: 120\r\n", 5, 6),
    ] {
        let answer = format!("HTTP/1.1 {answer}content-length: 0\r\n\r\n").leak();
        let pause = pause(&settlement_with(settings(), answer.as_bytes())).as_millis();
        assert!((from_s * 1000..=to_s * 1000).contains(&pause), "{answer}: {pause} ms");
    }
}

#[test]
fn a_timeout_is_granted_a_minute() {
    let timeout = Duration::from_millis(100);
    let hanging = Receiver::start(|_| Answer::Hang);
    let settlement = settlement_at(Settings { timeout, ..settings() }, &hanging);
    assert!(pause(&settlement) >= Duration::from_mins(1));
}

#[test]
fn a_receiver_that_is_gone_gets_nothing_more() {
    let gone =
        Receiver::start(|_| Answer::Bytes(b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n"));
    let rig = Rig::start(settings());
    let target = target(1, &gone.url(), SECRET);
    let ids = rig.submit_all(&target, 0..30);
    let settlement = rig.outbox.wait_for_settled(1).remove(0);
    assert_eq!(settlement.outcome, Outcome::Gone);
    assert_eq!(settlement.response.unwrap().status, 410);
    rig.outbox.wait_until(|state| {
        let others = ids.iter().filter(|id| **id != settlement.id);
        others.map(|id| &state.rows[id]).all(|row| row.held.is_none()).then_some(())
    });
    assert_eq!(gone.requests().len(), 1);
    assert!(ids.iter().all(|id| rig.outbox.row(*id).delivery.attempts <= 1));
}

#[test]
fn a_receiver_may_refuse_one_notice_for_good() {
    let aborting = Receiver::start(|_| {
        Answer::Bytes(
            b"HTTP/1.1 400 No\r\nwebhook-delivery: abort-message\r\ncontent-length: 0\r\n\r\n",
        )
    });
    let settlement = settlement_at(settings(), &aborting);
    assert_eq!(settlement.outcome, Outcome::Exhausted(AttemptFailure::HttpStatus(400)));
}
