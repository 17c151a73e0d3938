//! A thread that repeats some work, with a pause before each repetition.

use std::{
    io,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use parking_lot::{Condvar, Mutex};

/// A thread that waits before each repetition of its work. The thread runs until it is stopped or dropped.
pub struct PeriodicThread {
    stop: Arc<StopSignal>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The signal that ends a periodic thread.
#[derive(Default)]
pub struct StopSignal {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl PeriodicThread {
    /// Starts the thread. The thread waits for `first_pause` before the first call of `work`, and for `pause` before
    /// each further call. Long work should return early if the signal is set.
    pub fn start(
        name: &str,
        [first_pause, pause]: [Duration; 2],
        mut work: impl FnMut(&StopSignal) + Send + 'static,
    ) -> io::Result<Self> {
        let stop = Arc::<StopSignal>::default();
        let received = Arc::clone(&stop);
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
            let mut is_stopped = received.wait(first_pause);
            while !is_stopped {
                work(&received);
                is_stopped = received.wait(pause);
            }
        })?;
        Ok(Self { stop, thread: Mutex::new(Some(thread)) })
    }

    /// Returns false if the thread has panicked. Returns true if the thread runs, or was signalled to stop.
    pub fn is_alive(&self) -> bool {
        *self.stop.is_set.lock()
            || self.thread.lock().as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Signals the thread to stop, without waiting for its end.
    pub fn begin_stop(&self) {
        self.stop.set();
    }

    /// Stops the thread, and waits until a running call of its work ends.
    pub fn stop(&self) {
        self.begin_stop();
        let running = self.thread.lock().take();
        let Some(thread) = running else { return };
        let name = thread.thread().name().unwrap_or_default().to_owned();
        if thread.join().is_err() {
            tracing::error!(thread = name, "a thread of the node panicked");
        }
    }
}

impl Drop for PeriodicThread {
    fn drop(&mut self) {
        self.begin_stop();
    }
}

impl StopSignal {
    /// Ends the thread after the running call of its work.
    pub fn set(&self) {
        *self.is_set.lock() = true;
        self.changed.notify_all();
    }

    /// Waits for `span`, or until the signal is set. Returns true if the signal is set.
    pub(crate) fn wait(&self, span: Duration) -> bool {
        let mut is_set = self.is_set.lock();
        self.changed.wait_while_for(&mut is_set, |is_set| !*is_set, span);
        *is_set
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_thread_works_until_it_is_stopped_or_ends_itself() {
        let (done, turns) = channel();
        let thread = PeriodicThread::start("test", [Duration::from_millis(1); 2], move |stop| {
            if done.send(()).is_err() {
                stop.set();
            }
        });
        let thread = thread.unwrap();
        assert_eq!((turns.recv(), turns.recv()), (Ok(()), Ok(())));
        assert!(thread.is_alive());
        thread.stop();
        thread.stop();
        assert!(thread.is_alive(), "a stopped thread counts as alive");
        while turns.try_recv().is_ok() {}
        assert!(turns.recv().is_err(), "the thread has ended");

        let (done, turns) = channel();
        let ends = PeriodicThread::start("test", [Duration::ZERO; 2], move |stop| {
            assert_eq!(done.send(()), Ok(()));
            stop.set();
        });
        assert_eq!((turns.recv(), turns.recv().is_err()), (Ok(()), true));
        ends.unwrap().stop();
    }

    #[test]
    fn a_dropped_thread_ends() {
        let (done, turns) = channel::<()>();
        let work = move |_: &StopSignal| drop(done.clone());
        drop(PeriodicThread::start("test", [Duration::from_hours(1); 2], work).unwrap());
        assert!(turns.recv().is_err());
    }
}
