//! The queue before a resource that one may use at a time, first come, first served.
//!
//! A pool of one does not queue fairly: who gives the connection back and asks at once for it again wins over those
//! who were asleep, so that a busy committer would starve every other writer.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, Thread},
    time::{Duration, Instant},
};

/// Lets one pass at a time, in the order of asking.
#[derive(Debug, Default)]
pub(crate) struct Gate(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    taken: bool,
    /// Whom the one who left last has let in, until that one wakes up.
    called: Option<u64>,
    waiting: VecDeque<(u64, Thread)>,
    next: u64,
}

/// The right to be past the gate; whoever waits longest gets it when this is dropped.
#[derive(Debug)]
pub(crate) struct Pass(Arc<Gate>);

impl Gate {
    /// Waits for its turn; `None` where it does not come within `patience`.
    pub(crate) fn enter(self: &Arc<Self>, patience: Duration) -> Option<Pass> {
        let until = Instant::now() + patience;
        let number = {
            let mut queue = self.queue();
            if !queue.taken {
                queue.taken = true;
                return Some(Pass(Arc::clone(self)));
            }
            let number = queue.next;
            queue.next += 1;
            queue.waiting.push_back((number, thread::current()));
            number
        };
        loop {
            let left = until.saturating_duration_since(Instant::now());
            thread::park_timeout(left);
            let mut queue = self.queue();
            if queue.called == Some(number) {
                queue.called = None;
                return Some(Pass(Arc::clone(self)));
            }
            if left.is_zero() {
                queue.waiting.retain(|(other, _)| *other != number);
                return None;
            }
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        match queue.waiting.pop_front() {
            Some((number, thread)) => {
                queue.called = Some(number);
                thread.unpark();
            }
            None => queue.taken = false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn who_came_first_goes_first() {
        let gate = Arc::new(Gate::default());
        let pass = gate.enter(LONG).unwrap();
        let (order, seen) = mpsc::channel();
        thread::scope(|scope| {
            for number in 0..8 {
                let (entered, order) = (Arc::clone(&gate), order.clone());
                scope.spawn(move || {
                    let _pass = entered.enter(LONG).unwrap();
                    order.send(number).unwrap();
                });
                while gate.queue().waiting.len() != number + 1 {
                    thread::yield_now();
                }
            }
            drop(pass);
        });
        drop(order);
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(gate.enter(Duration::ZERO).is_some());
    }

    #[test]
    fn who_gives_up_is_passed_over() {
        let gate = Arc::new(Gate::default());
        let pass = gate.enter(LONG).unwrap();
        assert!(gate.enter(Duration::from_millis(5)).is_none());
        drop(pass);
        assert!(gate.enter(Duration::ZERO).is_some());
    }
}
