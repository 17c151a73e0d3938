//! The dispatcher: starts and stops the threads that send, claim and settle, and takes what the send path hands over.

use std::{
    error::Error,
    io,
    rc::Rc,
    sync::{Arc, Mutex, mpsc},
    thread::{self, JoinHandle},
};

use awc::http::header::{HeaderValue, InvalidHeaderValue};
use rustls::ClientConfig;
use sealpost_domain::{
    Clock, LeaseToken, LeasedDelivery, Timestamp,
    ports::{Dispatch, EventSigner, Outbox},
};
use sealpost_wallet::{Keyring, WalletError};
use tokio::sync::mpsc::unbounded_channel;

use crate::{
    client::{Egress, tls_config},
    lane::{Context, Held, Lane},
    lanes::Lanes,
    names::{self, Names},
    postponed::ROWS_MAX,
    settings::Settings,
    settler::Settler,
    shared::{Running, Shared, lock},
    stats::Stats,
    sweeper::Sweeper,
};

/// Why a dispatcher did not start.
#[derive(Debug, thiserror::Error)]
pub enum DispatchError {
    /// The lease would end before an attempt and its outcome are through.
    #[error("the lease must be more than five seconds longer than the timeout")]
    LeaseTooShort,
    /// The random source failed.
    #[error("the random source failed")]
    Random(#[source] WalletError),
    /// A thread could not be started.
    #[error("a thread could not be started")]
    Thread(#[source] io::Error),
    /// TLS could not be set up, such as with an extra root that is no certificate.
    #[error("TLS could not be set up")]
    Tls(#[source] rustls::Error),
    /// The user agent cannot stand in a header.
    #[error("the user agent must be printable ASCII")]
    UserAgent(#[source] InvalidHeaderValue),
}

/// Delivers notices until it is stopped, which dropping it does too.
pub struct Dispatcher {
    lanes: Arc<Lanes>,
    shared: Arc<Shared>,
    clock: Arc<dyn Clock>,
    outbox: Arc<dyn Outbox>,
    settings: Arc<Settings>,
    threads: Mutex<Option<Threads>>,
}

struct Threads {
    lanes: Vec<JoinHandle<Vec<Held>>>,
    settler: JoinHandle<()>,
    sweeper: JoinHandle<()>,
}

/// What a dispatcher works with.
pub(crate) struct Around {
    pub(crate) outbox: Arc<dyn Outbox>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) signer: Option<Arc<dyn EventSigner>>,
    pub(crate) names: fn() -> Rc<dyn Names>,
}

/// What `start` is given, and what it makes of it for every thread.
struct Parts {
    settings: Arc<Settings>,
    around: Around,
    shared: Arc<Shared>,
    tls: Arc<ClientConfig>,
    user_agent: HeaderValue,
}

impl Dispatcher {
    /// Starts the threads; from now on what is due is sent. With a `signer`, every notice carries the service's own
    /// signature too.
    pub fn start(
        settings: Settings,
        outbox: Arc<dyn Outbox>,
        keyring: Arc<Keyring>,
        clock: Arc<dyn Clock>,
        signer: Option<Arc<dyn EventSigner>>,
    ) -> Result<Self, DispatchError> {
        let around = Around { outbox, keyring, clock, signer, names: names::system };
        Self::start_with(settings, around)
    }

    pub(crate) fn start_with(settings: Settings, around: Around) -> Result<Self, DispatchError> {
        if settings.lease <= settings.attempt_max() {
            return Err(DispatchError::LeaseTooShort);
        }
        let tls = tls_config(&settings.extra_roots).map_err(DispatchError::Tls)?;
        let user_agent =
            HeaderValue::from_str(&settings.user_agent).map_err(DispatchError::UserAgent)?;
        let start = sealpost_wallet::random().map_err(DispatchError::Random)?;
        let shared = Arc::new(Shared::new(&settings, u64::from_ne_bytes(start)));
        let settings = Arc::new(settings);
        let parts = Parts { settings, around, shared, tls, user_agent };
        parts.start().map_err(DispatchError::Thread)
    }

    /// Claims nothing more, lets requests that are under way finish within the drain time, writes their outcomes
    /// down, and gives back what is still held. Blocks until that is done; a second call only waits for the first.
    pub fn stop(&self) {
        let mut threads = lock(&self.threads);
        let Some(Threads { lanes, settler, sweeper }) = threads.take() else { return };
        self.shared.stop.say();
        join(sweeper);
        self.lanes.stop();
        let held: Vec<Held> = lanes.into_iter().filter_map(join).flatten().collect();
        join(settler);
        for some in held.chunks(ROWS_MAX) {
            if let Err(fault) = self.outbox.release(some, self.clock.now()) {
                let error: &(dyn Error + 'static) = &fault;
                tracing::warn!(error, "held deliveries wait for the end of their leases");
                return;
            }
        }
    }

    /// How it does.
    pub fn stats(&self) -> Stats {
        self.shared.counters.read(&self.shared.lanes)
    }

    /// How many deliveries are in memory.
    pub fn held(&self) -> usize {
        self.shared.room.taken()
    }

    /// Whether every thread is running: `false` once stopped, or where one broke down.
    pub fn is_alive(&self) -> bool {
        self.shared.is_whole() && !self.shared.stop.was_said()
    }

    /// Whether a thread has ended without being told to. It does not come back by itself, and the others take nothing
    /// more: who else shares the database takes over.
    pub fn is_broken(&self) -> bool {
        self.shared.is_broken()
    }
}

impl Dispatch for Dispatcher {
    fn capacity(&self) -> usize {
        if self.shared.is_broken() { 0 } else { self.shared.room.free() }
    }

    fn lease(&self) -> (LeaseToken, Timestamp) {
        (self.shared.tokens.issue(), self.clock.now().plus(self.settings.lease))
    }

    fn submit(&self, deliveries: Vec<LeasedDelivery>) {
        self.lanes.hand_over(deliveries);
    }
}

impl Drop for Dispatcher {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Parts {
    /// Where one thread fails to start, those that did start end by themselves: their inboxes are closed.
    fn start(self) -> io::Result<Dispatcher> {
        let (writings, written) = mpsc::channel();
        let mut inboxes = Vec::new();
        let mut lane_threads = Vec::new();
        for number in 0..self.settings.lanes() {
            let (orders, inbox) = unbounded_channel();
            let context = Context {
                number,
                settings: Arc::clone(&self.settings),
                keyring: Arc::clone(&self.around.keyring),
                signer: self.around.signer.clone(),
                clock: Arc::clone(&self.around.clock),
                shared: Arc::clone(&self.shared),
                inbox,
                writings: writings.clone(),
            };
            inboxes.push(orders);
            lane_threads.push(self.start_lane(number, context)?);
        }
        let lanes = Arc::new(Lanes::new(inboxes, Arc::clone(&self.shared)));
        let Self { settings, around: Around { outbox, clock, .. }, shared, .. } = self;
        let settler = Settler {
            inbox: written,
            outbox: Arc::clone(&outbox),
            failing_max: settings.failing_max,
            shared: Arc::clone(&shared),
        };
        let settler = start_thread("webhook-settler", &shared, move || settler.run())?;
        let sweeper = Sweeper::new(
            &settings,
            Arc::clone(&lanes),
            Arc::clone(&outbox),
            Arc::clone(&clock),
            Arc::clone(&shared),
        );
        let sweeper = start_thread("webhook-sweeper", &shared, move || sweeper.run())?;
        let threads = Mutex::new(Some(Threads { lanes: lane_threads, settler, sweeper }));
        Ok(Dispatcher { lanes, shared, clock, outbox, settings, threads })
    }

    fn start_lane(&self, number: usize, context: Context) -> io::Result<JoinHandle<Vec<Held>>> {
        let (policy, names) = (self.settings.policy, self.around.names);
        let timeout = self.settings.timeout;
        let connections_max = self.settings.in_flight_per_target.max(1);
        let (tls, user_agent) = (Arc::clone(&self.tls), self.user_agent.clone());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        start_thread(&format!("webhook-lane-{number}"), &self.shared, move || {
            let runtime = actix_rt::Runtime::from(runtime);
            let names = names();
            let egress = Egress { policy, names, tls, user_agent, timeout, connections_max };
            runtime.block_on(Lane::new(context, egress).run())
        })
    }
}

fn start_thread<T: Send + 'static>(
    name: &str,
    shared: &Arc<Shared>,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let running = Running::begin(shared);
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        let _running = running;
        work()
    })
}

fn join<T>(thread: JoinHandle<T>) -> Option<T> {
    let name = thread.thread().name().unwrap_or_default().to_owned();
    thread.join().inspect_err(|_| tracing::error!(name, "a dispatcher thread broke down")).ok()
}
