//! Tests of many responses on one connection: each event gets the outcome of its own response.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use proptest::{collection::vec, option, prelude::*, sample::select};
use sealpost_domain::{AttemptFailure, AttemptResult, Outcome, ReceiverResponse};

use super::{
    fixture::{Fixture, SECRET, settings, target},
    test_receiver::{Receiver, Reply},
};
use crate::Settings;

/// Returns a receiver that gives the n-th reply to the n-th request.
fn replying(replies: Vec<Reply>) -> Receiver {
    let (replies, next) = (replies, AtomicUsize::new(0));
    Receiver::start(move |_| replies[next.fetch_add(1, Ordering::SeqCst)].clone())
}

/// Sends the given number of events one after the other.
fn results(receiver: &Receiver, events: usize) -> Vec<AttemptResult> {
    // Keeps the circuit breakers closed, because an open breaker would defer events.
    let settings = Settings { breaker_failures: u32::MAX, ..settings() };
    let fixture = Fixture::start(settings);
    fixture.submit_in_turn(&target(1, &receiver.url(), SECRET), u32::try_from(events).unwrap())
}

fn status(result: &AttemptResult) -> u16 {
    result.response.as_ref().map_or(0, |response| response.status)
}

#[test]
fn interim_responses_decide_nothing_and_keep_the_connection() {
    let interim: [&[u8]; 4] = [
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 102 Processing\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 199 x\r\n\r\n",
    ];
    for interim in interim {
        let statuses = [200, 500, 204, 404, 201, 503, 200, 400];
        let replies = statuses.map(|status| {
            let last = format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\n\r\n");
            Reply::Parts(vec![interim.to_vec(), last.into_bytes()])
        });
        let receiver = replying(replies.into());
        let results = results(&receiver, statuses.len());
        assert_eq!(results.iter().map(status).collect::<Vec<_>>(), statuses);
        for (result, status) in results.iter().zip(statuses) {
            assert_eq!(result.outcome == Outcome::Succeeded, status < 300, "{result:?}");
        }
        assert_eq!(receiver.connections(), 1);
        assert_eq!(receiver.requests().len(), statuses.len());
    }
}

#[test]
fn a_410_after_an_interim_response_disables() {
    let response = b"HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n";
    let results = results(&replying(vec![Reply::Bytes(response)]), 1);
    assert_eq!(results[0].outcome, Outcome::Gone);
}

#[test]
fn a_body_without_a_length_is_read_to_the_end_of_its_connection() {
    let parts = ["HTTP/1.1 200 OK\r\nconnection: keep-alive\r\n\r\n", "fi", "ne"];
    let reply = || Reply::LastParts(parts.map(|it| it.as_bytes().to_vec()).into());
    let receiver = replying((0..4).map(|_| reply()).collect());
    for result in results(&receiver, 4) {
        let response = Some(ReceiverResponse { status: 200, excerpt: "fine".to_owned() });
        assert_eq!((result.outcome, result.response), (Outcome::Succeeded, response));
    }
    assert_eq!(receiver.connections(), 4);
}

#[test]
fn a_switch_of_protocols_is_a_failure_at_once() {
    let response = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n";
    let results = results(&replying(vec![Reply::HangAfter(response)]), 1);
    assert!(matches!(results[0].outcome, Outcome::Retry { failure: AttemptFailure::Protocol, .. }));
}

/// A generated response, and the outcome that the attempt must have.
#[derive(Debug, Clone)]
struct Made {
    interim: String,
    status: u16,
    fields: &'static str,
    body: String,
    /// Bytes after the response, which no request asked for.
    excess: &'static str,
    /// `None` if the bytes are no response.
    expected: Option<u16>,
    ends_connection: bool,
}

impl Made {
    /// Returns the bytes in parts. The end of the response and the excess are one part, because a client cannot know
    /// that more bytes follow later.
    fn parts(&self, lengths: &[usize]) -> Vec<Vec<u8>> {
        let response = format!(
            "{}HTTP/1.1 {} x\r\n{}\r\n{}",
            self.interim, self.status, self.fields, self.body
        );
        let end = if matches!(self.status, 204 | 304) {
            response.len() - self.body.len()
        } else {
            response.len()
        };
        let bytes = [response.as_bytes(), self.excess.as_bytes()].concat();
        let (mut parts, mut rest, mut sent) = (Vec::new(), bytes.as_slice(), 0);
        for length in lengths {
            if sent + length < end {
                let (part, others) = rest.split_at(*length);
                parts.push(part.to_vec());
                (rest, sent) = (others, sent + length);
            }
        }
        parts.push(rest.to_vec());
        parts
    }
}

fn made() -> impl Strategy<Value = Made> {
    let interim = vec(
        select(
            &[
                "HTTP/1.1 100 Continue\r\n\r\n",
                "HTTP/1.1 102 Processing\r\n\r\n",
                "HTTP/1.1 103 Hints\r\nlink: <a>,\r\n <b>\r\n\r\n",
            ][..],
        ),
        0..3,
    );
    let status = select(&[200_u16, 202, 204, 304, 400, 500][..]);
    let framed = select(FRAMED);
    let excess = option::weighted(0.3, select(EXCESS));
    (interim, status, framed, excess).prop_map(|(interim, status, framed, excess)| {
        let Framed { fields, body, mut is_response, mut ends_connection } = framed;
        // A response with one of these statuses ends with its head, whatever length the head names.
        if matches!(status, 204 | 304) && !fields.contains("bad") {
            (is_response, ends_connection) = (true, fields.contains("close"));
        }
        // Adds excess bytes only if the body has an end of its own. Otherwise the excess bytes would belong to the
        // body.
        let has_end = !ends_connection || body == "fine";
        Made {
            interim: interim.concat(),
            status,
            fields,
            body: body.to_owned(),
            excess: excess.filter(|_| has_end).unwrap_or_default(),
            expected: is_response.then_some(status),
            ends_connection,
        }
    })
}

#[derive(Debug, Clone, Copy)]
struct Framed {
    fields: &'static str,
    body: &'static str,
    is_response: bool,
    ends_connection: bool,
}

const fn framed(fields: &'static str, body: &'static str) -> Framed {
    Framed { fields, body, is_response: true, ends_connection: false }
}

const fn last(fields: &'static str, body: &'static str) -> Framed {
    Framed { ends_connection: true, ..framed(fields, body) }
}

const FRAMED: &[Framed] = &[
    framed("content-length: 4\r\n", "fine"),
    framed("content-length: 0\r\n", ""),
    framed("x: a\r\n b\r\ncontent-length:\r\n 4\r\n", "fine"),
    framed("upgrade: websocket\r\ncontent-length: 4\r\n", "fine"),
    framed("transfer-encoding: chunked\r\n", "4\r\nfine\r\n0\r\n\r\n"),
    framed("transfer-encoding: chunked\r\n", "1;a\r\nf\r\n3\r\nine\r\n0\r\nsum: 1\r\n\r\n"),
    last("connection: close\r\ncontent-length: 4\r\n", "fine"),
    last("content-length: 9\r\nconnection: close\r\n", "cut"),
    last("transfer-encoding: chunked\r\nconnection: close\r\n", "9\r\ncut"),
    last("", "to the end"),
    Framed { is_response: false, ..last("content-length: 1, 2\r\n", "") },
    Framed { is_response: false, ..last("bad field\r\n", "") },
];

const EXCESS: &[&str] = &[
    "\r\n",
    "x",
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    "HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn each_event_has_the_outcome_of_its_own_response(
        made in vec(made(), 1..8),
        lengths in vec(1..60_usize, 0..12),
    ) {
        let replies = made.iter().map(|made| {
            let parts = made.parts(&lengths);
            if made.ends_connection { Reply::LastParts(parts) } else { Reply::Parts(parts) }
        });
        let receiver = replying(replies.collect());
        let results = results(&receiver, made.len());
        prop_assert_eq!(receiver.requests().len(), made.len());
        for (result, made) in results.iter().zip(&made) {
            prop_assert_eq!(result.response.as_ref().map(|it| it.status), made.expected);
            let is_success = made.expected.is_some_and(|status| status < 300);
            prop_assert_eq!(result.outcome == Outcome::Succeeded, is_success);
            prop_assert!(Duration::from_millis(result.duration_ms.into()) < Duration::from_millis(900));
        }
    }
}
