//! Receivers that do not answer: how little they cost others, and what becomes of what waits for them.

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
    outbox::{MemoryOutbox, NOW, delivery_to},
    receiver::{Answer, OK, Receiver},
    rig::{Rig, SECRET, endless, settings, target},
};
use crate::{Settings, Stats};

/// An outbox in which so many deliveries to the target are due.
fn backlog(target: &Arc<Target>, count: u32) -> Arc<MemoryOutbox> {
    let outbox = Arc::new(MemoryOutbox::default());
    for envelope in 0..count {
        outbox.insert(&delivery_to(Arc::clone(target), envelope), false);
    }
    outbox
}

/// A receiver that closes every connection until it is well.
fn ailing() -> (Receiver, Arc<AtomicBool>) {
    let is_well = Arc::new(AtomicBool::new(false));
    let well = Arc::clone(&is_well);
    let answer = move |_: &_| if well.load(Ordering::SeqCst) { OK } else { Answer::Close };
    (Receiver::start(answer), is_well)
}

/// Waits until the counts are as wanted; they are gathered every second.
fn wait_for_stats(rig: &Rig, wanted: impl Fn(&Stats) -> bool) -> Stats {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let stats = rig.dispatcher.stats();
        if wanted(&stats) {
            return stats;
        }
        assert!(Instant::now() < until, "{stats:?}");
        std::thread::yield_now();
    }
}

#[test]
fn a_hanging_receiver_with_ten_thousand_waiting_moves_nobody() {
    let (hanging, well) = (Receiver::start(|_| Answer::Hang), Receiver::start(|_| OK));
    let (stuck, fine) = (target(1, &hanging.url(), SECRET), target(2, &well.url(), SECRET));
    let rig = Rig::start_on(endless(), backlog(&stuck, 10_000));
    rig.outbox.wait_until(|state| (state.rows.values().any(|row| row.claimed > 0)).then_some(()));
    for envelope in 0..200 {
        rig.submit(&fine, 20_000 + envelope);
        rig.outbox.wait_for_settled(usize::try_from(envelope).unwrap() + 1);
    }
    // Not one of them has waited for an attempt at the other to end.
    let settled = rig.outbox.wait_for_settled(200);
    assert!(settled.iter().all(|settled| settled.id.webhook_id == fine.webhook_id));
    assert_eq!((hanging.requests().len(), well.requests().len()), (1, 200));
}

#[test]
fn a_hundred_hanging_receivers_leave_places_for_one_that_answers() {
    let (hanging, well) = (Receiver::start(|_| Answer::Hang), Receiver::start(|_| OK));
    let fine = target(1, &well.url(), SECRET);
    let rig = Rig::start(Settings { in_flight_max: 64, ..endless() });
    rig.submit(&fine, 0);
    rig.outbox.wait_for_settled(1);
    for number in 100..200 {
        let stuck = target(number, &hanging.url(), SECRET);
        rig.submit_all(&stuck, 0..10);
    }
    rig.submit_all(&fine, 1..100);
    let settled = rig.outbox.wait_for_settled(100);
    assert!(settled.iter().all(|settled| settled.id.webhook_id == fine.webhook_id));
    assert!(hanging.connections() <= 32, "{}", hanging.connections());
}

#[test]
fn a_receiver_that_begins_to_hang_holds_no_more_than_its_places() {
    let is_first = AtomicBool::new(true);
    let hanging =
        Receiver::start(
            move |_| {
                if is_first.swap(false, Ordering::SeqCst) { OK } else { Answer::Hang }
            },
        );
    let stuck = target(1, &hanging.url(), SECRET);
    let timeout = Duration::from_secs(2);
    let rig = Rig::start(Settings { timeout, ..settings() });
    rig.submit(&stuck, 0);
    rig.outbox.wait_for_settled(1);
    rig.submit_together(&stuck, 1..100);
    // Eight at once, and all the others are spared.
    rig.outbox.wait_for_settled(9);
    rig.outbox.wait_until(|state| state.rows.values().all(|row| row.held.is_none()).then_some(()));
    assert_eq!(hanging.requests().len(), 9);
}

#[test]
fn what_waits_for_a_silent_receiver_is_postponed_and_no_attempt_is_counted() {
    let (receiver, is_well) = ailing();
    let target = target(1, &receiver.url(), SECRET);
    let rig = Rig::start(settings());
    for envelope in 0..5 {
        rig.submit(&target, envelope);
        let settled = rig.outbox.wait_for_settled(usize::try_from(envelope).unwrap() + 1);
        assert!(matches!(settled[0].outcome, Outcome::Retry { .. }));
    }
    let ids = rig.submit_all(&target, 5..25);
    let due = rig.outbox.wait_until(|state| {
        let rows: Vec<_> = ids.iter().map(|id| &state.rows[id]).collect();
        let is_back = rows.iter().all(|row| row.held.is_none() && row.released == 1);
        is_back.then(|| rows.iter().map(|row| row.due_at).collect::<Vec<Timestamp>>())
    });
    let after = |seconds| NOW.plus(Duration::from_secs(seconds));
    assert_eq!(due[0], after(5), "the probe");
    // Should no answer wake them: spread over half a minute, and gathered within 5 s.
    let rest = due[1..].iter().all(|due| (after(40)..=after(75)).contains(due));
    assert!(rest, "{due:?}");
    assert!(ids.iter().all(|id| rig.outbox.row(*id).delivery.attempts == 0));
    assert_eq!(receiver.requests().len(), 5);
    let stats = wait_for_stats(&rig, |stats| stats.open_breakers == 1 && stats.in_flight == 0);
    assert_eq!((stats.postponed, stats.retries, stats.queued), (20, 5, 0));
    assert!(stats.attempts.contains(&("protocol", 5)));

    // The probe's answer brings all of them, and no retry sooner than the schedule has it.
    is_well.store(true, Ordering::SeqCst);
    rig.clock.advance(Duration::from_secs(5));
    rig.outbox.wait_until(|state| ids.iter().all(|id| state.rows[id].is_over).then_some(()));
    wait_for_stats(&rig, |stats| stats.open_breakers == 0);
    let failed =
        (0..5).map(|envelope| rig.outbox.row(delivery_to(Arc::clone(&target), envelope).id()));
    for row in failed {
        assert_eq!((row.expedited, row.delivery.attempts >= 1), (0, true));
    }
    rig.clock.advance(Duration::from_secs(1));
    // Five that failed, and all of them in the end.
    rig.outbox.wait_for_settled(5 + 25);
    let stats = wait_for_stats(&rig, |stats| stats.attempts.contains(&("succeeded", 25)));
    assert!(stats.attempts.contains(&("protocol", 5)));
}

#[test]
fn one_probe_at_a_time_is_sent_and_after_longer_and_longer_pauses() {
    let (receiver, _) = ailing();
    let rig = Rig::start_on(settings(), backlog(&target(1, &receiver.url(), SECRET), 300));
    rig.outbox.wait_for_settled(5);
    for (probes, pause_s) in [(1, 5), (2, 10), (3, 20)] {
        // Nothing is under way, and nothing comes of asking again.
        let claims = rig.outbox.wait_until(|state| {
            state.rows.values().all(|row| row.held.is_none()).then_some(state.claims)
        });
        rig.outbox.wait_until(|state| (state.claims > claims + 5).then_some(()));
        assert_eq!(receiver.requests().len(), 4 + probes);
        rig.clock.advance(Duration::from_secs(pause_s));
        rig.outbox.wait_for_settled(5 + probes);
    }
}

/// No retry is due for an hour, so that each probe is one of what waits.
#[test]
fn each_probe_in_vain_brings_another_of_what_waits() {
    let (receiver, _) = ailing();
    let target = target(1, &receiver.url(), SECRET);
    let schedule = "1h,1h".parse().unwrap();
    let rig = Rig::start(Settings { schedule, ..settings() });
    rig.submit_all(&target, 0..5);
    rig.outbox.wait_for_settled(5);
    let ids = rig.submit_all(&target, 5..15);
    rig.outbox.wait_until(|state| ids.iter().all(|id| state.rows[id].released == 1).then_some(()));
    for (probes, pause_s) in [(1, 5), (2, 10), (3, 20)] {
        rig.clock.advance(Duration::from_secs(pause_s));
        rig.outbox.wait_for_settled(5 + probes);
    }
    assert_eq!(receiver.requests().len(), 5 + 3);
}

#[test]
fn a_postponed_backlog_is_left_alone() {
    let refusing = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let target = target(1, &format!("http://{refusing}/"), SECRET);
    let rig = Rig::start_on(settings(), backlog(&target, 10_000));
    let claims = rig.outbox.wait_until(|state| {
        let is_away = state.rows.values().all(|row| row.held.is_none() && row.due_at > NOW);
        is_away.then_some(state.claims)
    });
    rig.outbox.wait_until(|state| (state.claims > claims + 20).then_some(()));
    let (claimed, attempted) = rig.outbox.wait_until(|state| {
        let attempted = state.rows.values().filter(|row| row.delivery.attempts > 0).count();
        Some((state.rows.values().map(|row| row.claimed).sum::<usize>(), attempted))
    });
    assert_eq!((claimed, attempted), (10_000, 5), "each was looked at once");
    // The probe, and the five whose retries are due.
    rig.clock.advance(Duration::from_secs(6));
    rig.outbox.wait_for_settled(6);
    let claims = rig.outbox.wait_until(|state| Some(state.claims));
    rig.outbox.wait_until(|state| (state.claims > claims + 20).then_some(()));
    let claimed = rig
        .outbox
        .wait_until(|state| Some(state.rows.values().map(|row| row.claimed).sum::<usize>()));
    assert!(claimed <= 10_000 + 6, "{claimed}");
}

#[test]
fn an_error_is_an_answer_and_opens_no_breaker() {
    let failing =
        Receiver::start(|_| Answer::Bytes(b"HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n"));
    let target = target(1, &failing.url(), SECRET);
    let rig = Rig::start(settings());
    rig.submit_all(&target, 0..50);
    rig.outbox.wait_for_settled(50);
    assert_eq!((failing.requests().len(), rig.dispatcher.stats().postponed), (50, 0));
}
