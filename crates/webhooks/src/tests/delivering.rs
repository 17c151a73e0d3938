//! Attempts and what becomes of them.

use std::{sync::Arc, time::Duration};

use sealpost_domain::{AttemptFailure, Outcome, ports::Dispatch as _};
use sealpost_wallet::WebhookSecret;

use super::{
    outbox::{MemoryOutbox, NOW, delivery_to},
    receiver::{Answer, OK, Receiver, Request},
    rig::{Rig, SECRET, endless, settings, target},
};
use crate::{Settings, SignedHeaders, verify};

const OTHER_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn is_signed_with(secret: &str, request: &Request) -> bool {
    let headers = SignedHeaders {
        id: &request.headers["webhook-id"],
        timestamp: &request.headers["webhook-timestamp"],
        signature: &request.headers["webhook-signature"],
    };
    verify(&WebhookSecret::parse(secret).unwrap(), &headers, &request.body, NOW).is_ok()
}

#[test]
fn a_notice_is_delivered_and_settled() {
    let receiver = Receiver::start(|_| OK);
    let rig = Rig::start(settings());
    let id = rig.submit(&target(1, &receiver.url(), SECRET), 7);

    let settled = rig.outbox.wait_for_settled(1);
    assert_eq!(settled[0].id, id);
    assert_eq!((settled[0].attempts, settled[0].outcome), (1, Outcome::Succeeded));

    let request = receiver.requests().remove(0);
    assert_eq!(request.head, "POST /hook HTTP/1.1");
    assert!(is_signed_with(SECRET, &request));
    let header = |name: &str| request.headers[name].as_str();
    assert_eq!(header("content-type"), "application/json");
    assert_eq!(header("webhook-id"), id.envelope_id.to_string());
    assert_eq!(header("webhook-timestamp"), "1767225600");
    assert_eq!(header("x-service-signature"), header("webhook-signature"));
    assert!(header("user-agent").starts_with("Sealpost/"));
    let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(body["envelope_id"], id.envelope_id.to_string());
}

#[test]
fn one_connection_carries_many_notices() {
    let receiver = Receiver::start(|_| OK);
    let rig = Rig::start(settings());
    let target = target(1, &receiver.url(), SECRET);
    for envelope in 0..5 {
        rig.submit(&target, envelope);
        rig.outbox.wait_for_settled(usize::try_from(envelope).unwrap() + 1);
    }
    assert_eq!(receiver.connections(), 1);
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = Receiver::start(|_| OK);
    let location = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n",
        elsewhere.url()
    );
    let location: &'static str = location.leak();
    let receiver = Receiver::start(move |_| Answer::Bytes(location.as_bytes()));
    let rig = Rig::start(settings());
    rig.submit(&target(1, &receiver.url(), SECRET), 0);

    let outcome = rig.outbox.wait_for_settled(1)[0].outcome;
    assert!(matches!(outcome, Outcome::Retry { failure: AttemptFailure::HttpStatus(307), .. }));
    assert_eq!(elsewhere.connections(), 0);
}

#[test]
fn a_failed_notice_is_due_by_the_schedule_and_keeps_its_id() {
    let receiver = Receiver::start(|_| {
        Answer::Bytes(b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n")
    });
    let schedule = "5s,1h".parse().unwrap();
    let rig = Rig::start(Settings { schedule, ..settings() });
    let id = rig.submit(&target(1, &receiver.url(), SECRET), 0);

    let first = rig.outbox.wait_for_settled(1)[0].clone();
    let Outcome::Retry { failure: AttemptFailure::HttpStatus(500), due_at } = first.outcome else {
        panic!("{:?}", first.outcome)
    };
    let pause = due_at.since(NOW);
    assert!((Duration::from_secs(5)..=Duration::from_secs(6)).contains(&pause), "{pause:?}");

    rig.clock.advance(Duration::from_secs(6));
    let second = rig.outbox.wait_for_settled(2)[1].clone();
    assert_eq!(second.attempts, 2);
    let requests = receiver.requests();
    assert_eq!(requests[0].headers["webhook-id"], requests[1].headers["webhook-id"]);
    assert_eq!(requests[1].headers["webhook-timestamp"], "1767225606");
    assert_ne!(requests[0].headers["webhook-signature"], requests[1].headers["webhook-signature"]);

    rig.clock.advance(Duration::from_mins(72));
    let last = rig.outbox.wait_for_settled(3)[2].clone();
    assert_eq!(last.outcome, Outcome::Exhausted(AttemptFailure::HttpStatus(500)));
    assert!(rig.outbox.row(id).is_over);
}

#[test]
fn an_answer_that_does_not_come_is_a_timeout() {
    let receiver = Receiver::start(|_| Answer::Hang);
    let timeout = Duration::from_millis(150);
    let rig = Rig::start(Settings { timeout, ..settings() });
    rig.submit(&target(1, &receiver.url(), SECRET), 0);
    let outcome = rig.outbox.wait_for_settled(1)[0].outcome;
    assert!(matches!(outcome, Outcome::Retry { failure: AttemptFailure::Timeout, .. }));
}

#[test]
fn an_answer_without_end_counts_by_its_status() {
    let endless = Receiver::start(|_| {
        Answer::HangAfter(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\nand so on")
    });
    let long = Receiver::start(|_| {
        let body = vec![b'x'; 100_000];
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n".as_slice();
        Answer::HangAfter(Vec::leak([head, &body].concat()))
    });
    let rig = Rig::start(settings());
    rig.submit(&target(1, &endless.url(), SECRET), 0);
    rig.submit(&target(2, &long.url(), SECRET), 0);
    let settled = rig.outbox.wait_for_settled(2);
    assert!(settled.iter().all(|settled| settled.outcome == Outcome::Succeeded));
}

#[test]
fn a_hanging_target_does_not_delay_another() {
    let hanging = Receiver::start(|_| Answer::Hang);
    let well = Receiver::start(|_| OK);
    let rig = Rig::start(Settings { in_flight_max: 16, ..endless() });
    let (stuck, fine) = (target(1, &hanging.url(), SECRET), target(2, &well.url(), SECRET));
    for envelope in 0..100 {
        rig.submit(&stuck, envelope);
    }
    for envelope in 0..100 {
        rig.submit(&fine, envelope);
    }
    let settled = rig.outbox.wait_for_settled(100);
    assert!(settled.iter().all(|settled| settled.id.webhook_id == fine.webhook_id));
    assert!(hanging.connections() <= 8);
}

#[test]
fn what_is_due_in_the_database_is_found_claim_after_claim() {
    let receiver = Receiver::start(|_| OK);
    let outbox = Arc::new(MemoryOutbox::default());
    let target = target(1, &receiver.url(), SECRET);
    for envelope in 0..20 {
        outbox.insert(&delivery_to(Arc::clone(&target), envelope), false);
    }
    let sweep_every = Duration::from_hours(1);
    let rig = Rig::start_on(Settings { claim_max: 4, sweep_every, ..settings() }, outbox);
    rig.outbox.wait_for_settled(20);
}

/// The clock stands still, so that what is left to the end of a lease never comes.
#[test]
fn a_backlog_that_is_more_than_there_is_room_for_is_left_to_no_lease() {
    let receiver = Receiver::start(|_| OK);
    let outbox = Arc::new(MemoryOutbox::default());
    for number in 0..8 {
        let target = target(number, &receiver.url(), SECRET);
        for envelope in 0..60 {
            let envelope = u32::from(number) * 100 + envelope;
            outbox.insert(&delivery_to(Arc::clone(&target), envelope), false);
        }
    }
    let settings = Settings { claim_max: 16, queue_max: 64, in_flight_per_target: 1, ..settings() };
    let rig = Rig::start_on(settings, outbox);
    rig.outbox.wait_for_settled(480);
}

#[test]
fn what_a_dead_node_held_is_taken_over_when_its_lease_has_ended() {
    let receiver = Receiver::start(|_| OK);
    let outbox = Arc::new(MemoryOutbox::default());
    outbox.insert(&delivery_to(target(1, &receiver.url(), SECRET), 0), true);
    let rig = Rig::start_on(settings(), outbox);
    let claims = rig.outbox.wait_until(|state| (state.claims > 1).then_some(state.claims));
    assert!(receiver.requests().is_empty());

    rig.clock.advance(Duration::from_secs(45));
    rig.outbox.wait_until(|state| (state.claims > claims).then_some(()));
    rig.outbox.wait_for_settled(1);
}

#[test]
fn under_a_lapsed_lease_nothing_is_sent() {
    let receiver = Receiver::start(|_| OK);
    let rig = Rig::start(settings());
    let room = rig.dispatcher.capacity();
    let mut late = delivery_to(target(1, &receiver.url(), SECRET), 0);
    late.lease_until = NOW.plus(Duration::from_secs(14));
    rig.dispatcher.submit(vec![late]);
    rig.submit(&target(1, &receiver.url(), SECRET), 1);

    let settled = rig.outbox.wait_for_settled(1);
    assert_eq!(settled[0].id.envelope_id, delivery_to(target(1, "", SECRET), 1).meta.id);
    assert_eq!(receiver.requests().len(), 1);
    rig.dispatcher.stop();
    assert_eq!(rig.dispatcher.capacity(), room);
}

#[test]
fn a_changed_secret_is_noticed() {
    let receiver = Receiver::start(|_| OK);
    let rig = Rig::start(settings());
    for (place, secret) in [SECRET, OTHER_SECRET, SECRET].into_iter().enumerate() {
        rig.submit(&target(1, &receiver.url(), secret), u32::try_from(place).unwrap());
        rig.outbox.wait_for_settled(place + 1);
        assert!(is_signed_with(secret, &receiver.requests()[place]));
    }
}

#[test]
fn an_outcome_outlives_a_short_outage_of_the_database() {
    let receiver = Receiver::start(|_| OK);
    let sweep_every = Duration::from_hours(1);
    let rig = Rig::start(Settings { sweep_every, ..settings() });
    rig.outbox.wait_until(|state| (state.claims > 0).then_some(()));
    rig.outbox.fail(3);
    rig.submit(&target(1, &receiver.url(), SECRET), 0);
    assert_eq!(rig.outbox.wait_for_settled(1)[0].outcome, Outcome::Succeeded);
    assert_eq!(receiver.requests().len(), 1);
}
