//! A mutex that is granted in the order of arrival, with a timeout.
//!
//! The connection pool is not fair: a thread that returns a connection and immediately takes it again wins over waiting
//! threads. With a single connection, a busy batch writer would starve all other writers.

use std::{
    collections::VecDeque,
    sync::Arc,
    thread::{self, Thread},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// A mutex that threads lock in the order of arrival. At most one [`Guard`] exists at a time.
#[derive(Debug, Default)]
pub(crate) struct FairMutex {
    queue: Mutex<WaitQueue>,
}

#[derive(Debug, Default)]
struct WaitQueue {
    locked: bool,
    /// Queue number of the thread that owns the mutex but has not yet woken up. `None` if no thread is about to wake
    /// up.
    granted: Option<u64>,
    waiting: VecDeque<(u64, Thread)>,
    next: u64,
}

/// Keeps a [`FairMutex`] locked. Dropping the guard passes the mutex to the thread that has waited longest.
#[derive(Debug)]
pub(crate) struct Guard(Arc<FairMutex>);

impl FairMutex {
    /// Locks the mutex. Returns `None` if the mutex is not free within `timeout`.
    pub(crate) fn lock(self: &Arc<Self>, timeout: Duration) -> Option<Guard> {
        let until = Instant::now() + timeout;
        let number = {
            let mut queue = self.queue.lock();
            if !queue.locked {
                queue.locked = true;
                return Some(Guard(Arc::clone(self)));
            }
            let number = queue.next;
            queue.next += 1;
            queue.waiting.push_back((number, thread::current()));
            number
        };
        loop {
            let left = until.saturating_duration_since(Instant::now());
            thread::park_timeout(left);
            let mut queue = self.queue.lock();
            if queue.granted == Some(number) {
                queue.granted = None;
                return Some(Guard(Arc::clone(self)));
            }
            if left.is_zero() {
                queue.waiting.retain(|(other, _)| *other != number);
                return None;
            }
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut queue = self.0.queue.lock();
        match queue.waiting.pop_front() {
            Some((number, thread)) => {
                queue.granted = Some(number);
                thread.unpark();
            }
            None => queue.locked = false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn threads_get_the_mutex_in_the_order_of_arrival() {
        let mutex = Arc::new(FairMutex::default());
        let guard = mutex.lock(LONG).unwrap();
        let (order, seen) = mpsc::channel();
        thread::scope(|scope| {
            for number in 0..8 {
                let (mutex, order) = (Arc::clone(&mutex), order.clone());
                let waiting = Arc::clone(&mutex);
                scope.spawn(move || {
                    let _guard = mutex.lock(LONG).unwrap();
                    order.send(number).unwrap();
                });
                while waiting.queue.lock().waiting.len() != number + 1 {
                    thread::yield_now();
                }
            }
            drop(guard);
        });
        drop(order);
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(mutex.lock(Duration::ZERO).is_some());
    }

    #[test]
    fn a_waiter_that_times_out_is_skipped() {
        let mutex = Arc::new(FairMutex::default());
        let guard = mutex.lock(LONG).unwrap();
        assert!(mutex.lock(Duration::from_millis(5)).is_none());
        drop(guard);
        assert!(mutex.lock(Duration::ZERO).is_some());
    }
}
