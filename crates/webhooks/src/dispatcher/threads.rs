//! Starts and joins the threads of a dispatcher: delivery workers, outcome writer, sweeper, target refresher, claimer
//! for relays and test sender.

use std::{
    io,
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
};

use rustls::ClientConfig;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::{
    delivery_worker::{DeliveryWorker, WorkerContext},
    outcome_writer::{OutcomeMessage, OutcomeWriter},
    relay_claimer::RelayClaimer,
    shared_state::{RunningThread, SharedState},
    sweeper::Sweeper,
    target_refresher::TargetRefresher,
    test_sender::{TestInbox, TestSender},
    worker_inboxes::{WorkerInboxes, WorkerMessage},
};
use crate::{
    http::client::{ClientFactory, ConnectionPools},
    queue::release_batch::HeldDelivery,
};

/// Starts the threads of a dispatcher.
pub(super) struct ThreadStarter {
    pub(super) shared: Arc<SharedState>,
    pub(super) tls: Arc<ClientConfig>,
}

/// The running threads of a dispatcher, to be joined at the shutdown.
pub(super) struct Threads {
    workers: Vec<JoinHandle<Vec<HeldDelivery>>>,
    outcome_writer: JoinHandle<()>,
    sweeper: JoinHandle<()>,
    target_refresher: JoinHandle<()>,
    relay_claimer: JoinHandle<()>,
    test_sender: JoinHandle<()>,
}

impl ThreadStarter {
    /// Starts all threads. If a thread fails to start, the caller must raise the shutdown signal, which ends the
    /// threads that already run.
    pub(super) fn start(&self) -> io::Result<(Threads, Arc<WorkerInboxes>, TestInbox)> {
        let (outcomes, outcome_inbox) = mpsc::channel();
        let mut inboxes = Vec::new();
        let mut workers = Vec::new();
        for index in 0..self.shared.settings.workers() {
            let (sender, inbox) = unbounded_channel();
            inboxes.push(sender);
            workers.push(self.start_worker(index, inbox, outcomes.clone())?);
        }
        let inboxes = Arc::new(WorkerInboxes::new(inboxes, Arc::clone(&self.shared)));
        let shared = || Arc::clone(&self.shared);
        let writer = OutcomeWriter { inbox: outcome_inbox, shared: shared() };
        let outcome_writer = self.spawn("webhook-outcome", move || writer.run())?;
        let refresher = TargetRefresher { workers: Arc::clone(&inboxes), shared: shared() };
        let target_refresher = self.spawn("webhook-targets", move || refresher.run())?;
        let claimer = RelayClaimer::new(Arc::clone(&inboxes), shared());
        let relay_claimer = self.spawn("webhook-relays", move || claimer.run())?;
        let sweeper = Sweeper::new(Arc::clone(&inboxes), shared());
        let (test_sender, tests) = self.start_test_sender()?;
        // Starts the sweeper last. While another thread is not running, the sweeper claims nothing.
        let sweeper = self.spawn("webhook-sweeper", move || sweeper.run())?;
        let threads = Threads {
            workers,
            outcome_writer,
            sweeper,
            target_refresher,
            relay_claimer,
            test_sender,
        };
        Ok((threads, inboxes, tests))
    }

    fn start_test_sender(&self) -> io::Result<(JoinHandle<()>, TestInbox)> {
        let (inbox, tests) = TestInbox::new();
        let (clients, shared) = (self.client_factory(), Arc::clone(&self.shared));
        let thread = self.spawn_with_runtime("webhook-test", move || {
            TestSender { clients: clients(), shared }.run(tests)
        })?;
        Ok((thread, inbox))
    }

    fn start_worker(
        &self,
        index: usize,
        inbox: UnboundedReceiver<WorkerMessage>,
        outcomes: mpsc::Sender<OutcomeMessage>,
    ) -> io::Result<JoinHandle<Vec<HeldDelivery>>> {
        let context = WorkerContext { index, shared: Arc::clone(&self.shared), inbox, outcomes };
        let clients = self.client_factory();
        // Linux truncates thread names to 15 characters, which leaves two digits for the index.
        self.spawn_with_runtime(&format!("webhook-send-{index}"), move || {
            DeliveryWorker::new(context, clients()).run()
        })
    }

    /// Returns a function that creates a [`ClientFactory`]. A factory cannot move between threads, so the function must
    /// be called on the thread that uses the factory.
    fn client_factory(&self) -> impl FnOnce() -> ClientFactory + Send + use<> {
        let (shared, tls) = (Arc::clone(&self.shared), Arc::clone(&self.tls));
        move || ClientFactory {
            policy: shared.settings.policy.clone(),
            resolver: (shared.new_resolver)(),
            tls,
            timeout: shared.settings.timeout,
            relays: Arc::clone(&shared.relays),
            pools: ConnectionPools::default(),
        }
    }

    /// Starts a thread that runs a future on its own single-threaded runtime.
    fn spawn_with_runtime<F: Future>(
        &self,
        name: &str,
        work: impl FnOnce() -> F + Send + 'static,
    ) -> io::Result<JoinHandle<F::Output>>
    where
        F::Output: Send + 'static,
    {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        self.spawn(name, move || actix_rt::Runtime::from(runtime).block_on(async { work().await }))
    }

    fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<JoinHandle<T>> {
        let running = RunningThread::start(&self.shared);
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            let _running = running;
            work()
        })
    }
}

impl Threads {
    /// Waits until the [sweeper](super::sweeper), which leases due deliveries, has ended. Then stops the workers, and
    /// waits until all outcomes are recorded. Returns the remaining deliveries, whose leases the caller must release.
    pub(super) fn join(self, inboxes: &WorkerInboxes) -> Vec<HeldDelivery> {
        join(self.sweeper);
        join(self.target_refresher);
        join(self.relay_claimer);
        inboxes.stop();
        let held = self.workers.into_iter().filter_map(join).flatten().collect();
        join(self.outcome_writer);
        join(self.test_sender);
        held
    }
}

fn join<T>(thread: JoinHandle<T>) -> Option<T> {
    let name = thread.thread().name().unwrap_or_default().to_owned();
    thread.join().inspect_err(|_| tracing::error!(name, "a dispatcher thread panicked")).ok()
}
