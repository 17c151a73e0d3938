//! The open loop: requests at fixed times, so that the latency shows a server that falls behind. A request
//! waits if no connection is free, and the wait counts.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use super::{Connection, Load, RESPONSE_TIMEOUT, Tally, Window, turns};
use crate::poller::Poller;

pub(crate) fn run(
    load: &Load,
    mut connections: Vec<Connection>,
    window: Window,
    per_second: u32,
) -> Tally {
    let (mut poller, mut tally, mut turns) = (Poller::new(), Tally::new(window), turns(load));
    for (token, connection) in connections.iter().enumerate() {
        connection.watch(&poller, token);
    }
    // Connections are used in turn, since the server closes idle connections.
    let mut idle: VecDeque<usize> = (0..connections.len()).collect();
    let mut schedule =
        Schedule { started: Instant::now(), until: window.until, per_second, sent: 0 };
    loop {
        while let Some(due) = schedule.due(Instant::now())
            && let Some(token) = idle.pop_front()
        {
            let connection =
                connections.get_mut(token).expect("the token is the index of the connection");
            connection.send(turns.next().expect("the requests repeat without end"), due);
            schedule.sent += 1;
        }
        let is_over = schedule.next().is_none();
        if is_over && idle.len() == connections.len() {
            return tally.finish();
        }
        let started = Instant::now();
        let pause = if idle.is_empty() { RESPONSE_TIMEOUT } else { schedule.pause(started) };
        for token in poller.wait(pause) {
            let connection =
                connections.get_mut(token).expect("the token is the index of the connection");
            if let Some((response, since)) = connection.receive() {
                tally.note(&response, since, Instant::now());
                idle.push_back(token);
            }
        }
        assert!(started.elapsed() < RESPONSE_TIMEOUT, "the server does not respond");
    }
}

/// The times of the requests.
struct Schedule {
    started: Instant,
    until: Instant,
    per_second: u32,
    sent: u64,
}

impl Schedule {
    /// Returns the time of the next request, or `None` at the end.
    fn next(&self) -> Option<Instant> {
        let nanos = self.sent.saturating_mul(1_000_000_000) / u64::from(self.per_second);
        Some(self.started + Duration::from_nanos(nanos)).filter(|next| *next < self.until)
    }

    /// Returns the time of the next request if it has come.
    fn due(&self, now: Instant) -> Option<Instant> {
        self.next().filter(|next| *next <= now)
    }

    fn pause(&self, now: Instant) -> Duration {
        self.next().map_or(RESPONSE_TIMEOUT, |next| next.saturating_duration_since(now))
    }
}
