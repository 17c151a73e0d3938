//! Tests of receivers that do not respond: their deliveries are deferred, and deliveries to other receivers are not
//! delayed.

use std::{
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use sealpost_domain::{Outcome, Target, Timestamp};

use super::{
    fixture::{Fixture, SECRET, endless, settings, target},
    memory_outbox::{MemoryOutbox, NOW, delivery_to},
    test_receiver::{OK, Receiver, Reply},
};
use crate::{Settings, Stats};

/// Returns an outbox with `count` due deliveries to the target.
fn backlog(target: &Arc<Target>, count: u32) -> Arc<MemoryOutbox> {
    let outbox = Arc::new(MemoryOutbox::default());
    for envelope in 0..count {
        outbox.insert(&delivery_to(Arc::clone(target), envelope), false);
    }
    outbox
}

/// Returns a receiver, and a flag. Until the flag is set, the receiver closes every connection without a response.
fn unresponsive() -> (Receiver, Arc<AtomicBool>) {
    let is_responsive = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_responsive);
    let reply = move |_: &_| if flag.load(Ordering::SeqCst) { OK } else { Reply::Close };
    (Receiver::start(reply), is_responsive)
}

/// Waits until `wanted` accepts the statistics, which workers update every second.
fn wait_for_stats(fixture: &Fixture, wanted: impl Fn(&Stats) -> bool) -> Stats {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let stats = fixture.dispatcher.stats();
        if wanted(&stats) {
            return stats;
        }
        assert!(Instant::now() < until, "{stats:?}");
        std::thread::yield_now();
    }
}

#[test]
fn a_hanging_receiver_with_a_backlog_does_not_delay_others() {
    let (hanging, well) = (Receiver::start(|_| Reply::Hang), Receiver::start(|_| OK));
    let (stuck, fine) = (target(1, &hanging.url(), SECRET), target(2, &well.url(), SECRET));
    let fixture = Fixture::start_on(endless(), backlog(&stuck, 10_000));
    fixture
        .outbox
        .wait_until(|state| (state.rows.values().any(|row| row.claimed > 0)).then_some(()));
    for envelope in 0..200 {
        fixture.submit(&fine, 20_000 + envelope);
        fixture.outbox.wait_for_results(usize::try_from(envelope).unwrap() + 1);
    }
    // No delivery waited for an attempt at the other receiver to end.
    let results = fixture.outbox.wait_for_results(200);
    assert!(results.iter().all(|results| results.id.webhook_id == fine.webhook_id));
    assert_eq!((hanging.requests().len(), well.requests().len()), (1, 200));
}

#[test]
fn a_hundred_hanging_receivers_leave_slots_for_a_responsive_one() {
    let (hanging, well) = (Receiver::start(|_| Reply::Hang), Receiver::start(|_| OK));
    let fine = target(1, &well.url(), SECRET);
    let fixture = Fixture::start(Settings { in_flight_max: 64, ..endless() });
    fixture.submit(&fine, 0);
    fixture.outbox.wait_for_results(1);
    for number in 100..200 {
        let stuck = target(number, &hanging.url(), SECRET);
        fixture.submit_all(&stuck, 0..10);
    }
    fixture.submit_all(&fine, 1..100);
    let results = fixture.outbox.wait_for_results(100);
    assert!(results.iter().all(|results| results.id.webhook_id == fine.webhook_id));
    assert!(hanging.connections() <= 32, "{}", hanging.connections());
}

#[test]
fn a_receiver_that_begins_to_hang_keeps_its_bound_in_flight() {
    let is_first = AtomicBool::new(true);
    let hanging =
        Receiver::start(
            move |_| {
                if is_first.swap(false, Ordering::SeqCst) { OK } else { Reply::Hang }
            },
        );
    let stuck = target(1, &hanging.url(), SECRET);
    let timeout = Duration::from_secs(2);
    let fixture = Fixture::start(Settings { timeout, ..settings() });
    fixture.submit(&stuck, 0);
    fixture.outbox.wait_for_results(1);
    fixture.submit_all(&stuck, 1..100);
    // Eight requests start at once. When they get no response in time, all other deliveries are deferred.
    fixture.outbox.wait_for_results(9);
    fixture
        .outbox
        .wait_until(|state| state.rows.values().all(|row| row.held.is_none()).then_some(()));
    assert_eq!(hanging.requests().len(), 9);
}

#[test]
fn deliveries_to_an_unresponsive_receiver_are_deferred_without_an_attempt() {
    let (receiver, is_responsive) = unresponsive();
    let target = target(1, &receiver.url(), SECRET);
    let fixture = Fixture::start(settings());
    for envelope in 0..5 {
        fixture.submit(&target, envelope);
        let results = fixture.outbox.wait_for_results(usize::try_from(envelope).unwrap() + 1);
        assert!(matches!(results[0].outcome, Outcome::Retry { .. }));
    }
    let ids = fixture.submit_all(&target, 5..25);
    let due = fixture.outbox.wait_until(|state| {
        let rows: Vec<_> = ids.iter().map(|id| &state.rows[id]).collect();
        let is_back = rows.iter().all(|row| row.held.is_none() && row.released == 1);
        is_back.then(|| rows.iter().map(|row| row.due_at).collect::<Vec<Timestamp>>())
    });
    let after = |seconds| NOW.plus(Duration::from_secs(seconds));
    assert_eq!(due[0], after(5), "the probe");
    // Without a response, the other deliveries are due within half a minute, from 40 s on. Each batch has the due time
    // of its latest delivery, up to 5 s later.
    let rest = due[1..].iter().all(|due| (after(40)..=after(75)).contains(due));
    assert!(rest, "{due:?}");
    assert!(ids.iter().all(|id| fixture.outbox.row(*id).delivery.attempts == 0));
    assert_eq!(receiver.requests().len(), 5);
    let stats = wait_for_stats(&fixture, |stats| stats.open_breakers == 1 && stats.in_flight == 0);
    assert_eq!((stats.deferred, stats.retries, stats.queued), (20, 5, 0));
    assert!(stats.attempts.contains(&("protocol", 5)));

    // The response to the probe expedites all deferred deliveries, and no retry.
    is_responsive.store(true, Ordering::SeqCst);
    fixture.clock.advance(Duration::from_secs(5));
    fixture.outbox.wait_until(|state| ids.iter().all(|id| state.rows[id].is_over).then_some(()));
    wait_for_stats(&fixture, |stats| stats.open_breakers == 0);
    let failed =
        (0..5).map(|envelope| fixture.outbox.row(delivery_to(Arc::clone(&target), envelope).id()));
    for row in failed {
        assert_eq!((row.expedited, row.delivery.attempts >= 1), (0, true));
    }
    fixture.clock.advance(Duration::from_secs(1));
    // The five first attempts failed. In the end, all 25 deliveries succeed.
    fixture.outbox.wait_for_results(5 + 25);
    let stats = wait_for_stats(&fixture, |stats| stats.attempts.contains(&("succeeded", 25)));
    assert!(stats.attempts.contains(&("protocol", 5)));
}

#[test]
fn one_probe_at_a_time_is_sent_with_growing_pauses() {
    let (receiver, _) = unresponsive();
    let fixture = Fixture::start_on(settings(), backlog(&target(1, &receiver.url(), SECRET), 300));
    fixture.outbox.wait_for_results(5);
    for (probes, pause_s) in [(1, 5), (2, 10), (3, 20)] {
        // Waits until no request is in flight and further claims find no due delivery.
        let claims = fixture.outbox.wait_until(|state| {
            state.rows.values().all(|row| row.held.is_none()).then_some(state.claims)
        });
        fixture.outbox.wait_until(|state| (state.claims > claims + 5).then_some(()));
        assert_eq!(receiver.requests().len(), 4 + probes);
        fixture.clock.advance(Duration::from_secs(pause_s));
        fixture.outbox.wait_for_results(5 + probes);
    }
}

/// Retries of failed attempts are due only after an hour. Each probe of the circuit breaker is therefore a deferred
/// delivery.
#[test]
fn a_failed_probe_is_followed_by_another_deferred_delivery() {
    let (receiver, _) = unresponsive();
    let target = target(1, &receiver.url(), SECRET);
    let schedule = "1h,1h".parse().unwrap();
    let fixture = Fixture::start(Settings { schedule, ..settings() });
    fixture.submit_all(&target, 0..5);
    fixture.outbox.wait_for_results(5);
    let ids = fixture.submit_all(&target, 5..15);
    fixture
        .outbox
        .wait_until(|state| ids.iter().all(|id| state.rows[id].released == 1).then_some(()));
    for (probes, pause_s) in [(1, 5), (2, 10), (3, 20)] {
        fixture.clock.advance(Duration::from_secs(pause_s));
        fixture.outbox.wait_for_results(5 + probes);
    }
    assert_eq!(receiver.requests().len(), 5 + 3);
}

#[test]
fn a_deferred_backlog_is_not_claimed_again() {
    let refusing = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let target = target(1, &format!("http://{refusing}/"), SECRET);
    let fixture = Fixture::start_on(settings(), backlog(&target, 10_000));
    let claims = fixture.outbox.wait_until(|state| {
        let is_deferred = state.rows.values().all(|row| row.held.is_none() && row.due_at > NOW);
        is_deferred.then_some(state.claims)
    });
    fixture.outbox.wait_until(|state| (state.claims > claims + 20).then_some(()));
    let (claimed, attempted) = fixture.outbox.wait_until(|state| {
        let attempted = state.rows.values().filter(|row| row.delivery.attempts > 0).count();
        Some((state.rows.values().map(|row| row.claimed).sum::<usize>(), attempted))
    });
    assert_eq!((claimed, attempted), (10_000, 5), "each was claimed once");
    // After six seconds, the probe and the five retries are due.
    fixture.clock.advance(Duration::from_secs(6));
    fixture.outbox.wait_for_results(6);
    let claims = fixture.outbox.wait_until(|state| Some(state.claims));
    fixture.outbox.wait_until(|state| (state.claims > claims + 20).then_some(()));
    let claimed = fixture
        .outbox
        .wait_until(|state| Some(state.rows.values().map(|row| row.claimed).sum::<usize>()));
    assert!(claimed <= 10_000 + 6, "{claimed}");
}

#[test]
fn an_error_status_is_a_response_and_opens_no_breaker() {
    let failing =
        Receiver::start(|_| Reply::Bytes(b"HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n"));
    let target = target(1, &failing.url(), SECRET);
    let fixture = Fixture::start(settings());
    fixture.submit_all(&target, 0..50);
    fixture.outbox.wait_for_results(50);
    assert_eq!((failing.requests().len(), fixture.dispatcher.stats().deferred), (50, 0));
}
