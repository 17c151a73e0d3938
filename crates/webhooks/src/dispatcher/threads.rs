//! Starts and joins the threads of a dispatcher: delivery workers, outcome writer, sweeper, target refresher, claimer
//! for relays and test sender.

use std::{
    io,
    rc::Rc,
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
};

use awc::http::header::HeaderValue;
use rustls::ClientConfig;
use sealpost_domain::{
    Clock,
    ports::{EventSigner, Outbox},
};
use sealpost_wallet::Keyring;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::{
    delivery_worker::{DeliveryWorker, WorkerContext},
    outcome_message::OutcomeMessage,
    outcome_writer::OutcomeWriter,
    relay_claimer::RelayClaimer,
    shared_state::{RunningThread, SharedState},
    sweeper::Sweeper,
    target_refresher::TargetRefresher,
    test_sender::{TestInbox, TestSender},
    worker_inboxes::{WorkerInboxes, WorkerMessage},
};
use crate::{
    address_guard::resolver::NameResolver,
    http::client::{ClientFactory, ConnectionPools},
    queue::release_batch::HeldDelivery,
    settings::Settings,
};

/// The database, keys, clock, signer and name resolver that a dispatcher uses. Tests replace them.
pub(crate) struct Dependencies {
    pub(crate) outbox: Arc<dyn Outbox>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) signer: Option<Arc<dyn EventSigner>>,
    pub(crate) new_resolver: fn() -> Rc<dyn NameResolver>,
}

/// Starts the threads of a dispatcher.
pub(super) struct ThreadStarter {
    pub(super) settings: Arc<Settings>,
    pub(super) dependencies: Dependencies,
    pub(super) shared: Arc<SharedState>,
    pub(super) tls: Arc<ClientConfig>,
    pub(super) user_agent: HeaderValue,
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
        for index in 0..self.settings.workers() {
            let (sender, inbox) = unbounded_channel();
            inboxes.push(sender);
            workers.push(self.start_worker(index, inbox, outcomes.clone())?);
        }
        let inboxes = Arc::new(WorkerInboxes::new(inboxes, Arc::clone(&self.shared)));
        let outbox = || Arc::clone(&self.dependencies.outbox);
        let settings = || Arc::clone(&self.settings);
        let shared = || Arc::clone(&self.shared);
        let writer = OutcomeWriter {
            settings: settings(),
            inbox: outcome_inbox,
            outbox: outbox(),
            shared: shared(),
        };
        let outcome_writer = self.spawn("webhook-outcome", move || writer.run())?;
        let clock = || Arc::clone(&self.dependencies.clock);
        let refresher = TargetRefresher {
            workers: Arc::clone(&inboxes),
            outbox: outbox(),
            clock: clock(),
            shared: shared(),
        };
        let target_refresher = self.spawn("webhook-targets", move || refresher.run())?;
        let claimer =
            RelayClaimer::new(settings(), Arc::clone(&inboxes), outbox(), clock(), shared());
        let relay_claimer = self.spawn("webhook-relays", move || claimer.run())?;
        let sweeper = Sweeper::new(settings(), Arc::clone(&inboxes), outbox(), clock(), shared());
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
        let Dependencies { keyring, clock, signer, .. } = &self.dependencies;
        let (keyring, clock, signer) = (Arc::clone(keyring), Arc::clone(clock), signer.clone());
        let in_flight_max = self.settings.bounds.tests_in_flight_max;
        let (inbox, tests) = TestInbox::new(in_flight_max);
        let clients = self.client_factory();
        let thread = self.spawn_with_runtime("webhook-test", move || {
            let clients = clients();
            TestSender { clients, keyring, signer, clock, in_flight_max }.run(tests)
        })?;
        Ok((thread, inbox))
    }

    fn start_worker(
        &self,
        index: usize,
        inbox: UnboundedReceiver<WorkerMessage>,
        outcomes: mpsc::Sender<OutcomeMessage>,
    ) -> io::Result<JoinHandle<Vec<HeldDelivery>>> {
        let Dependencies { keyring, clock, signer, .. } = &self.dependencies;
        let context = WorkerContext {
            index,
            settings: Arc::clone(&self.settings),
            keyring: Arc::clone(keyring),
            signer: signer.clone(),
            clock: Arc::clone(clock),
            shared: Arc::clone(&self.shared),
            inbox,
            outcomes,
        };
        let clients = self.client_factory();
        // Linux truncates thread names to 15 characters, which leaves two digits for the index.
        self.spawn_with_runtime(&format!("webhook-send-{index}"), move || {
            DeliveryWorker::new(context, clients()).run()
        })
    }

    /// Returns a function that creates a [`ClientFactory`]. A factory cannot move between threads, so the function must
    /// be called on the thread that uses the factory.
    fn client_factory(&self) -> impl FnOnce() -> ClientFactory + Send + use<> {
        let settings = Arc::clone(&self.settings);
        let new_resolver = self.dependencies.new_resolver;
        let (tls, user_agent) = (Arc::clone(&self.tls), self.user_agent.clone());
        let relays = Arc::clone(&self.shared.relays);
        move || ClientFactory {
            policy: settings.policy.clone(),
            resolver: new_resolver(),
            tls,
            user_agent,
            timeout: settings.timeout,
            bounds: settings.bounds,
            relays,
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
    /// waits until all outcomes are recorded. Returns the deliveries that are still leased. The caller must release
    /// their leases.
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
