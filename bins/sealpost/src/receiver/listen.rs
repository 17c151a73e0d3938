//! `sealpost listen`: a webhook receiver on a developer's machine. The command prints every request, and can forward
//! valid events. Requests arrive at a loopback address, or over a relay (an outgoing connection to the service).

use std::{env, sync::Arc};

use sealpost_node::SystemClock;
use sealpost_receiver::{Listener, ListenerOptions};
use sealpost_shell::{profile_client, tolerate_closed_pipe};
use tokio::sync::mpsc;

use super::{
    keys, relay,
    show::{Place, Style, greet, printer},
    webhook,
};
use crate::{cli::ListenArgs, command_error::CommandError, serve::signals::StopSignals};

/// Receives events until a signal arrives or standard output is closed.
pub(crate) fn run(args: ListenArgs) -> Result<(), CommandError> {
    // Reads the keys at the start, so that invalid keys fail the command at once and not at the first event.
    let is_registered = args.register || (args.relay && args.webhook.is_none());
    if !is_registered {
        keys::read(&args.keys)?;
    }
    let system = actix_rt::System::new();
    if args.relay { system.block_on(relay::run(args)) } else { system.block_on(receive(args)) }
}

/// Receives events at a loopback address.
async fn receive(args: ListenArgs) -> Result<(), CommandError> {
    let mut signals = StopSignals::listen()?;
    let ListenArgs { forward_to, forward_timeout, listen, keys, register, profile, json, .. } =
        args;
    let (style, forward_timeout) = (Style::new(json), forward_timeout.0);
    let shown = forward_to.as_ref().map(ToString::to_string);
    let listener = Listener::bind(ListenerOptions { listen, forward_to, forward_timeout })?;
    let url = format!("http://{}/", listener.address());
    let registered = if register {
        let service = profile_client(&profile, env::var_os)?;
        Some((webhook::register(&service.client, &url, &mut signals).await?, service))
    } else {
        None
    };
    let (failed, mut failure) = mpsc::unbounded_channel();
    let keys = keys::source(registered.as_ref().map(|(temporary, _service)| temporary), keys);
    let greeted = greet(style, &Place::Url(url), shown.as_deref(), register);
    let started = tolerate_closed_pipe(greeted)
        .map_err(CommandError::output)
        .and_then(|()| Ok(listener.start(keys, Arc::new(SystemClock), printer(style, failed))?));
    let mut ended = Ok(());
    if started.is_ok() {
        tokio::select! {
            () = signals.next() => {}
            Some(error) = failure.recv() => {
                ended = tolerate_closed_pipe(Err(error)).map_err(CommandError::output);
            }
        }
    }
    // Deletes the webhook also if the listener has not started.
    if let Some((temporary, service)) = registered {
        webhook::remove(temporary).await?;
        service.store_session().await;
    }
    let listening = started?;
    tokio::select! {
        () = listening.stop() => ended,
        () = signals.next() => Err(CommandError::new("stopped at once")),
    }
}
