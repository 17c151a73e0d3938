//! A webhook receiver for the demo. Verifies each event with the webhook's secret, and keeps the event for inspection.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use sealpost_node::SystemClock;
use sealpost_receiver::{
    HandledRequest, HeaderList, KeySource, Listener, ListenerOptions, RequestObserver,
    RunningListener, secrets,
};
use tokio::sync::mpsc;

use crate::command_error::CommandError;

/// A running webhook receiver on a loopback port.
pub(super) struct Receiver {
    pub(super) url: String,
    events: mpsc::UnboundedReceiver<ReceivedEvent>,
    /// The signing secret of the webhook. Empty until the response to the registration, which contains the secret.
    secret: Arc<Mutex<String>>,
    _listening: RunningListener,
}

/// An event as the receiver got it: the headers and the body of the request.
pub(super) struct ReceivedEvent {
    pub(super) headers: HeaderList,
    pub(super) body: Vec<u8>,
}

impl Receiver {
    /// Listens on a free loopback port.
    pub(super) fn start() -> Result<Self, CommandError> {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = Listener::bind(ListenerOptions::new(listen))?;
        let url = format!("http://{}/", listener.address());
        let secret = Arc::<Mutex<String>>::default();
        let known = Arc::clone(&secret);
        let keys: KeySource = Arc::new(move || {
            let text = known.lock();
            secrets(&text, "the demo").map_err(Into::into)
        });
        let (inbox, events) = mpsc::unbounded_channel();
        let observer: RequestObserver = Arc::new(move |handled: &HandledRequest<'_>| {
            let (headers, body) = (handled.headers.clone(), handled.body.to_owned());
            // Ignores an error: sending fails only if the demo has ended and needs no further events.
            inbox.send(ReceivedEvent { headers, body }).ok();
        });
        let listening = listener.start(keys, Arc::new(SystemClock), observer)?;
        Ok(Self { url, events, secret, _listening: listening })
    }

    /// Sets the secret that verifies all later events.
    pub(super) fn verify_with(&self, secret: &str) {
        secret.clone_into(&mut self.secret.lock());
    }

    /// Waits for the next event. Fails if no event arrives within the time `within`.
    pub(super) async fn next(&mut self, within: Duration) -> Result<ReceivedEvent, CommandError> {
        let event = tokio::time::timeout(within, self.events.recv()).await.ok().flatten();
        event.ok_or_else(|| CommandError::new(format!(
                "no event arrived within {within:?}: see the warnings above, or run the demo again on an idle machine"
            )))
    }
}
