//! A thread that repeats some work, with a pause before each repetition.

use std::{
    io,
    ops::ControlFlow,
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread::{self, JoinHandle},
    time::Duration,
};

use parking_lot::Mutex;

/// A thread that waits for a fixed time before each repetition of its work. The thread runs until it is stopped or
/// dropped, or until the work returns [`ControlFlow::Break`].
pub struct PeriodicThread(Mutex<Option<(Sender<()>, JoinHandle<()>)>>);

impl PeriodicThread {
    /// Starts the thread. The thread waits for `period` before each call of `work`, and ends when `work` returns
    /// `Break`.
    pub fn start(
        name: &str,
        period: Duration,
        mut work: impl FnMut() -> ControlFlow<()> + Send + 'static,
    ) -> io::Result<Self> {
        let (stop, stopped) = channel();
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
            while stopped.recv_timeout(period) == Err(RecvTimeoutError::Timeout)
                && work().is_continue()
            {}
        })?;
        Ok(Self(Mutex::new(Some((stop, thread)))))
    }

    /// Stops the thread, and waits until a running call of `work` ends.
    pub fn stop(&self) {
        let running = self.0.lock().take();
        let Some((stop, thread)) = running else { return };
        drop(stop);
        let name = thread.thread().name().unwrap_or_default().to_owned();
        if thread.join().is_err() {
            tracing::error!(thread = name, "a thread of the node panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_works_until_it_is_stopped_or_ends_itself() {
        let (done, turns) = channel();
        let thread = PeriodicThread::start("test", Duration::from_millis(1), move || {
            let is_heard = done.send(()).is_ok();
            if is_heard { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let thread = thread.unwrap();
        assert_eq!((turns.recv(), turns.recv()), (Ok(()), Ok(())));
        thread.stop();
        thread.stop();
        while turns.try_recv().is_ok() {}
        assert!(turns.recv().is_err(), "the thread has ended");

        let (done, turns) = channel();
        let ends = PeriodicThread::start("test", Duration::ZERO, move || {
            assert_eq!(done.send(()), Ok(()));
            ControlFlow::Break(())
        });
        assert_eq!((turns.recv(), turns.recv().is_err()), (Ok(()), true));
        ends.unwrap().stop();
    }
}
