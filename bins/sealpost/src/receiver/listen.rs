//! `sealpost listen`: a webhook receiver on a developer's machine. It prints every request, and can forward valid
//! events.

use std::{env, io, sync::Arc};

use sealpost_node::SystemClock;
use sealpost_receiver::{KeySource, Listener, ListenerOptions, RequestObserver, secrets};
use sealpost_shell::{TemporaryWebhook, tolerate_closed_pipe};
use tokio::sync::mpsc;

use super::{
    keys,
    show::{Style, greet, show},
};
use crate::{cli::ListenArgs, fault::Fault, serve::signals::StopSignals};

/// Receives events until a signal arrives or standard output is closed.
pub(crate) fn run(args: ListenArgs) -> Result<(), Fault> {
    // Reads the keys already at the start, so that invalid keys are not first reported with the first event.
    if !args.register {
        keys::read(&args.keys)?;
    }
    actix_rt::System::new().block_on(async {
        let mut signals = StopSignals::listen()?;
        let ListenArgs { forward_to, forward_timeout, listen, keys, register, profile, json } =
            args;
        let (style, forward_timeout) = (Style::new(json), forward_timeout.0);
        let shown = forward_to.as_ref().map(ToString::to_string);
        let listener = Listener::bind(ListenerOptions { listen, forward_to, forward_timeout })?;
        let url = format!("http://{}/", listener.address());
        let webhook = if register {
            Some(TemporaryWebhook::register(&profile, env::var_os, &url).await?)
        } else {
            None
        };
        let greeted = greet(style, &url, shown.as_deref(), register);
        tolerate_closed_pipe(greeted).map_err(Fault::output)?;
        let (failed, mut failure) = mpsc::unbounded_channel();
        // Reads the keys again for each request, so that a secret can be added or rotated while the command runs.
        let secret = webhook.as_ref().map(TemporaryWebhook::secret);
        let keys: KeySource = Arc::new(move || match &secret {
            Some(secret) => Ok(secrets(secret, "the registered webhook")?),
            None => keys::read(&keys).map_err(|fault| fault.to_string().into()),
        });
        let listening = listener.start(keys, Arc::new(SystemClock), printer(style, failed))?;
        let ended = tokio::select! {
            () = signals.next() => Ok(()),
            Some(error) = failure.recv() => tolerate_closed_pipe(Err(error)).map_err(Fault::output),
        };
        if let Some(webhook) = webhook {
            webhook.remove().await?;
        }
        tokio::select! {
            () = listening.stop() => ended,
            () = signals.next() => Err(Fault::new("stopped at once")),
        }
    })
}

/// Returns a callback that prints each request, and passes an error of standard output to `failed`.
fn printer(style: Style, failed: mpsc::UnboundedSender<io::Error>) -> RequestObserver {
    Arc::new(move |handled| {
        if let Err(error) = show(style, handled) {
            // The command already ends if the receiver of the channel is closed.
            drop(failed.send(error));
        }
    })
}
