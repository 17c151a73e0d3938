//! Tests which outcome each kind of response leads to.

use std::time::Duration;

use sealpost_domain::{AttemptFailure, AttemptResult, Outcome, ReceiverResponse};

use super::{
    fixture::{Fixture, SECRET, result_at, settings, target},
    memory_outbox::NOW,
    test_receiver::{Receiver, Reply},
};
use crate::Settings;

fn result_with(settings: Settings, response: &'static [u8]) -> AttemptResult {
    result_at(settings, &Receiver::start(move |_| Reply::Bytes(response)).url())
}

fn leaked(parts: &[&[u8]]) -> &'static [u8] {
    Vec::leak(parts.concat())
}

fn failure(result: &AttemptResult) -> AttemptFailure {
    match result.outcome {
        Outcome::Exhausted(failure) | Outcome::Retry { failure, .. } => failure,
        other => panic!("{other:?}"),
    }
}

fn pause(result: &AttemptResult) -> Duration {
    match result.outcome {
        Outcome::Retry { due_at, .. } => due_at.since(NOW),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_result_has_the_response_and_the_duration() {
    let receiver = Receiver::start(|_| {
        std::thread::sleep(Duration::from_millis(30));
        Reply::Bytes(b"HTTP/1.1 418 Teapot\r\ncontent-length: 9\r\n\r\nshort\x00\xff&\n")
    });
    let result = result_at(settings(), &receiver.url());
    let excerpt = "short\u{fffd}\u{fffd}&\n".to_owned();
    assert_eq!(result.response, Some(ReceiverResponse { status: 418, excerpt }));
    assert_eq!(failure(&result), AttemptFailure::HttpStatus(418));
    assert!((30..10_000).contains(&result.duration_ms), "{}", result.duration_ms);
}

#[test]
fn a_success_has_its_response_and_a_timeout_has_none_and_is_retried_after_a_minute() {
    let result = result_with(settings(), b"HTTP/1.1 204 No Content\r\n\r\n");
    assert_eq!(result.outcome, Outcome::Succeeded);
    assert_eq!(result.response, Some(ReceiverResponse { status: 204, excerpt: String::new() }));
    let timeout = Duration::from_millis(150);
    let hanging = Receiver::start(|_| Reply::Hang);
    let result = result_at(Settings { timeout, ..settings() }, &hanging.url());
    assert_eq!((failure(&result), &result.response), (AttemptFailure::Timeout, &None));
    assert!(result.duration_ms >= 150, "{}", result.duration_ms);
    assert!(pause(&result) >= Duration::from_mins(1));
}

#[test]
fn a_long_response_is_cut_after_its_beginning() {
    for (head, is_success) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n", true),
        ("HTTP/1.1 500 Oh\r\ncontent-length: 99999999999\r\n\r\n", false),
    ] {
        let endless = Receiver::start(move |_| Reply::Endless(head.as_bytes()));
        let fixture = Fixture::start(settings());
        fixture.submit(&target(1, &endless.url(), SECRET), 0);
        let result = fixture.outbox.wait_for_results(1).remove(0);
        assert_eq!(result.response.as_ref().unwrap().excerpt, "x".repeat(1024));
        assert_eq!(result.outcome == Outcome::Succeeded, is_success, "{result:?}");
        endless.wait_for_cut(1);
    }
}

/// The dispatcher reads at most 16 KiB of a body. A connection is reused only if the body was read to its end.
#[test]
fn a_body_of_sixteen_kibibytes_keeps_its_connection_and_a_longer_one_closes_it() {
    for (length, connections) in [(16 * 1024, 1), (16 * 1024 + 1, 2), (1 << 20, 2)] {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
        let response = leaked(&[head.as_bytes(), &vec![b'x'; length]]);
        let receiver = Receiver::start(move |_| Reply::Bytes(response));
        let fixture = Fixture::start(settings());
        fixture.submit_in_turn(&target(1, &receiver.url(), SECRET), 2);
        assert_eq!(receiver.connections(), connections, "{length}");
    }
}

#[test]
fn a_connection_by_http_1_0_is_reused_only_if_the_receiver_offers_it() {
    let connections = |reply: fn() -> Reply| {
        let receiver = Receiver::start(move |_| reply());
        let fixture = Fixture::start(settings());
        for result in fixture.submit_in_turn(&target(1, &receiver.url(), SECRET), 5) {
            assert_eq!(result.outcome, Outcome::Succeeded);
            assert_eq!(result.response.unwrap().excerpt, "fine");
        }
        receiver.connections()
    };
    // These connections stay open after the response. A second request on one of them would get a response too.
    let plain = || Reply::Bytes(b"HTTP/1.0 200 OK\r\ncontent-length: 4\r\n\r\nfine");
    assert_eq!(connections(plain), 5);
    let closing =
        || Reply::Bytes(b"HTTP/1.0 200 OK\r\nconnection: close\r\ncontent-length: 4\r\n\r\nfine");
    assert_eq!(connections(closing), 5);
    let kept = || {
        Reply::Bytes(b"HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 4\r\n\r\nfine")
    };
    assert_eq!(connections(kept), 1);
    assert_eq!(connections(|| Reply::Last(b"HTTP/1.0 200 OK\r\n\r\nfine")), 5);
}

#[test]
fn a_slow_response_is_bounded_in_time() {
    let body =
        Receiver::start(|_| Reply::Drip(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n"));
    let result = result_at(settings(), &body.url());
    assert_eq!(result.outcome, Outcome::Succeeded);
    assert!(result.duration_ms < 10_000, "{}", result.duration_ms);
    body.wait_for_cut(1);

    let silent = Receiver::start(|_| {
        Reply::HangAfter(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\nand so on")
    });
    assert_eq!(result_at(settings(), &silent.url()).outcome, Outcome::Succeeded);

    let head = Receiver::start(|_| Reply::Drip(b"HTTP/1.1 200 OK\r\nx-slow: "));
    let timeout = Duration::from_millis(300);
    let result = result_at(Settings { timeout, ..settings() }, &head.url());
    assert_eq!((failure(&result), result.response), (AttemptFailure::Timeout, None));
}

#[test]
fn an_excessive_head_is_too_large() {
    let long = leaked(&[b"HTTP/1.1 200 OK\r\nx-long: ", &vec![b'x'; 200_000]]);
    let many = leaked(&[b"HTTP/1.1 200 OK\r\n", &b"x-many: x\r\n".repeat(200), b"\r\n"]);
    for response in [long, many] {
        let result = result_with(settings(), response);
        assert_eq!((failure(&result), result.response), (AttemptFailure::TooLarge, None));
    }
}

#[test]
fn a_reset_is_a_failed_attempt() {
    let result = result_at(settings(), &Receiver::resetting().url());
    assert_eq!((failure(&result), result.response), (AttemptFailure::Protocol, None));
}

#[test]
fn overloaded_receivers_get_a_minute_and_their_retry_after() {
    for (response, from_s, to_s) in [
        ("429 Slow Down\r\n", 60, 72),
        ("502 Bad Gateway\r\n", 60, 72),
        ("504 Gateway Timeout\r\n", 60, 72),
        ("503 Not Now\r\n", 5, 6),
        ("503 Not Now\r\nretry-after: 120\r\n", 120, 144),
        ("429 Slow Down\r\nretry-after: 120\r\n", 120, 144),
        ("429 Slow Down\r\nretry-after: 2\r\n", 60, 72),
        ("503 Not Now\r\nretry-after: Thu, 01 Jan 2026 00:01:40 GMT\r\n", 100, 120),
        ("503 Not Now\r\nretry-after: 999999999\r\n", 3600, 4320),
        // The header `Retry-After` has no effect with status 500.
        ("500 Oh\r\nretry-after: 120\r\n", 5, 6),
    ] {
        let head = format!("HTTP/1.1 {response}content-length: 0\r\n\r\n").leak();
        let pause = pause(&result_with(settings(), head.as_bytes())).as_millis();
        assert!((from_s * 1000..=to_s * 1000).contains(&pause), "{response}: {pause} ms");
    }
}

#[test]
fn a_receiver_that_responds_410_gets_no_more_requests() {
    let gone = Receiver::start(|_| Reply::Bytes(b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n"));
    let fixture = Fixture::start(settings());
    let target = target(1, &gone.url(), SECRET);
    let ids = fixture.submit_all(&target, 0..30);
    let result = fixture.outbox.wait_for_results(1).remove(0);
    assert_eq!(result.outcome, Outcome::Gone);
    assert_eq!(result.response.unwrap().status, 410);
    fixture.outbox.wait_until(|state| {
        let others = ids.iter().filter(|id| **id != result.id);
        others.map(|id| &state.rows[id]).all(|row| row.held.is_none()).then_some(())
    });
    assert_eq!(gone.requests().len(), 1);
    assert!(ids.iter().all(|id| fixture.outbox.row(*id).delivery.attempts <= 1));
}

#[test]
fn a_receiver_may_abort_one_delivery_permanently() {
    let aborting = Receiver::start(|_| {
        Reply::Bytes(
            b"HTTP/1.1 400 No\r\nwebhook-delivery: abort-message\r\ncontent-length: 0\r\n\r\n",
        )
    });
    let result = result_at(settings(), &aborting.url());
    assert_eq!(result.outcome, Outcome::Exhausted(AttemptFailure::HttpStatus(400)));
}
