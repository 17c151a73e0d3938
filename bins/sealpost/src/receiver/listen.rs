//! `sealpost listen`: a receiver on a developer's machine. It prints every request that it gets.

use std::sync::Arc;

use sealpost_node::SystemClock;
use sealpost_receiver::{KeySource, Listener, ListenerOptions, ReceiverError, RequestObserver};
use tokio::sync::Notify;

use super::{
    keys,
    show::{Style, greet, show},
};
use crate::{cli::ListenArgs, fault::Fault, serve::Signals};

/// Receives until told to stop, or until nobody reads what it prints.
pub(crate) fn run(args: ListenArgs) -> Result<(), Fault> {
    // A mistake is said now and not at the first notice.
    keys::read(&args.keys)?;
    actix_rt::System::new().block_on(async {
        let mut signals = Signals::listen()?;
        let ListenArgs { forward_to, forward_timeout, listen, keys, json } = args;
        let style = Style::new(json);
        let shown = forward_to.as_ref().map(ToString::to_string);
        let listener = Listener::bind(ListenerOptions { listen, forward_to, forward_timeout })?;
        greet(style, &format!("http://{}/", listener.address()), shown.as_deref())
            .map_err(|error| Fault::caused("standard output is closed", error))?;
        let unread = Arc::new(Notify::new());
        // Read anew for each, so that a secret may be put there or rotated while this runs.
        let keys: KeySource =
            Arc::new(move || keys::read(&keys).map_err(|fault| fault.to_string().into()));
        let listening = listener.start(keys, Arc::new(SystemClock), printer(style, &unread))?;
        let ended = tokio::select! {
            () = signals.next() => Ok(()),
            () = unread.notified() => Err(Fault::new("standard output is closed")),
        };
        tokio::select! {
            () = listening.stop() => ended,
            () = signals.next() => Err(Fault::new("stopped at once")),
        }
    })
}

/// Prints each request, and notifies `unread` when nobody reads what is printed.
fn printer(style: Style, unread: &Arc<Notify>) -> RequestObserver {
    let unread = Arc::clone(unread);
    Arc::new(move |handled| {
        if show(style, handled).is_err() {
            unread.notify_one();
        }
    })
}

impl From<ReceiverError> for Fault {
    fn from(error: ReceiverError) -> Self {
        match error {
            ReceiverError::ForwardsToItself => {
                Self::usage("--forward-to names the address that this listens on")
            }
            other => Self::of(&other),
        }
    }
}
