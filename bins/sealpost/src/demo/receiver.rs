//! A receiver of notices, as small as one can be.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sealpost_node::SystemClock;
use sealpost_receiver::{
    HandledRequest, HeaderList, KeySource, Listener, ListenerOptions, RequestObserver,
    RunningListener, secrets,
};
use tokio::sync::mpsc;

use crate::fault::Fault;

/// Where notices arrive.
pub(super) struct Receiver {
    pub(super) url: String,
    notices: mpsc::UnboundedReceiver<Notice>,
    /// The secret to verify with, once there is one.
    secret: Arc<Mutex<String>>,
    _listening: RunningListener,
}

/// One notice as it came.
pub(super) struct Notice {
    pub(super) headers: HeaderList,
    pub(super) body: Vec<u8>,
}

impl Receiver {
    /// Listens on a free loopback port.
    pub(super) fn start() -> Result<Self, Fault> {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = Listener::bind(ListenerOptions::new(listen))?;
        let url = format!("http://{}/", listener.address());
        let secret = Arc::<Mutex<String>>::default();
        let known = Arc::clone(&secret);
        let keys: KeySource = Arc::new(move || {
            let text = known.lock().unwrap_or_else(PoisonError::into_inner);
            secrets(&text, "the demo").map_err(Into::into)
        });
        let (inbox, notices) = mpsc::unbounded_channel();
        let observer: RequestObserver = Arc::new(move |handled: &HandledRequest<'_>| {
            let notice = Notice { headers: handled.headers.clone(), body: handled.body.to_owned() };
            // The demo may be over already.
            inbox.send(notice).ok();
        });
        let listening = listener.start(keys, Arc::new(SystemClock), observer)?;
        Ok(Self { url, notices, secret, _listening: listening })
    }

    /// Verifies notices with this secret from now on.
    pub(super) fn verify_with(&self, secret: &str) {
        secret.clone_into(&mut self.secret.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The next notice, or a failure where none comes in time.
    pub(super) async fn next(&mut self, within: Duration) -> Result<Notice, Fault> {
        let notice = tokio::time::timeout(within, self.notices.recv()).await.ok().flatten();
        notice.ok_or_else(|| Fault::new("no notice came in time"))
    }
}
