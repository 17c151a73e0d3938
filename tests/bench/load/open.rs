//! The open loop: requests at their times, so that a server that falls behind is seen to. A request that finds no free
//! connection waits for one, and its waiting counts.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use super::{Connection, Load, PATIENCE, Tally, Window, turns};
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
    // In turn, or the server would close those that rest for long.
    let mut idle: VecDeque<usize> = (0..connections.len()).collect();
    let mut schedule = Schedule { begun: Instant::now(), until: window.until, per_second, sent: 0 };
    loop {
        while let Some(due) = schedule.due(Instant::now())
            && let Some(token) = idle.pop_front()
        {
            let connection = connections.get_mut(token).expect("its token is its place");
            connection.send(turns.next().expect("turns have no end"), due);
            schedule.sent += 1;
        }
        let is_over = schedule.next().is_none();
        if is_over && idle.len() == connections.len() {
            return tally.finish();
        }
        let begun = Instant::now();
        let pause = if idle.is_empty() { PATIENCE } else { schedule.pause(begun) };
        for token in poller.wait(pause) {
            let connection = connections.get_mut(token).expect("its token is its place");
            if let Some((answer, since)) = connection.receive() {
                tally.note(&answer, since, Instant::now());
                idle.push_back(token);
            }
        }
        assert!(begun.elapsed() < PATIENCE, "the server does not answer");
    }
}

/// When which request is to be sent.
struct Schedule {
    begun: Instant,
    until: Instant,
    per_second: u32,
    sent: u64,
}

impl Schedule {
    /// The time of the next request; `None` when there is no more.
    fn next(&self) -> Option<Instant> {
        let nanos = self.sent.saturating_mul(1_000_000_000) / u64::from(self.per_second);
        Some(self.begun + Duration::from_nanos(nanos)).filter(|next| *next < self.until)
    }

    /// The time of the next request, where it has come.
    fn due(&self, now: Instant) -> Option<Instant> {
        self.next().filter(|next| *next <= now)
    }

    fn pause(&self, now: Instant) -> Duration {
        self.next().map_or(PATIENCE, |next| next.saturating_duration_since(now))
    }
}
