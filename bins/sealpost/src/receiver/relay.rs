//! `sealpost listen --relay`: receives events over an outgoing connection to the service.

use std::{
    env,
    io::{self, Write as _},
    rc::Rc,
    sync::Arc,
};

use sealpost_domain::WebhookId;
use sealpost_node::SystemClock;
use sealpost_receiver::{HandledRequest, KeySource, ReceiverError, RequestHandler};
use sealpost_shell::{
    Client, Relay, RelayResponse, RelayState, RelayedRequest, ShellError, TemporaryWebhook,
    profile_client, tolerate_closed_pipe,
};
use tokio::sync::{mpsc, oneshot};

use super::{
    keys,
    show::{Place, Style, greet, printer},
    webhook,
};
use crate::{cli::ListenArgs, command_error::CommandError, serve::signals::StopSignals};

/// Receives events until a signal arrives, standard output is closed, or the service refuses the relay.
pub(super) async fn run(args: ListenArgs) -> Result<(), CommandError> {
    let (mut signals, mut repeated) = (StopSignals::listen()?, StopSignals::listen()?);
    check_forwarding(&args)?;
    let service = profile_client(&args.profile, env::var_os)?;
    let client = service.client.clone();
    let (webhook_id, temporary) = if let Some(webhook_id) = args.webhook {
        (webhook_id, None)
    } else {
        let temporary = webhook::register(&client, RELAY, &mut signals).await?;
        (temporary.webhook_id, Some(temporary))
    };
    let at_once = async {
        repeated.next().await;
        repeated.next().await;
    };
    let ended = tokio::select! {
        ended = receive(args, signals, &client, webhook_id, temporary.as_ref()) => ended,
        () = at_once => {
            let stopped = || CommandError::new("stopped at once");
            return Err(temporary.map_or_else(stopped, |left| webhook::left(left.webhook_id)));
        }
    };
    // Deletes the webhook also if the relay has failed.
    let removed = match temporary {
        Some(temporary) => webhook::remove(temporary).await,
        None => Ok(()),
    };
    service.store_session().await;
    ended?;
    removed
}

/// Fails if `--forward-to` is not a URL of this machine. Called before the webhook is registered, so that a wrong URL
/// leaves no webhook behind.
fn check_forwarding(args: &ListenArgs) -> Result<(), ReceiverError> {
    let forward_to = args.forward_to.clone().map(|url| (url, args.forward_timeout.0));
    let ignore = Arc::new(|_: &HandledRequest<'_>| {});
    let no_keys: KeySource = Arc::new(|| Ok(Vec::new()));
    RequestHandler::new(forward_to, no_keys, Arc::new(SystemClock), ignore).map(drop)
}

/// Receives the events of a webhook.
async fn receive(
    args: ListenArgs,
    mut signals: StopSignals,
    client: &Client,
    webhook_id: WebhookId,
    temporary: Option<&TemporaryWebhook>,
) -> Result<(), CommandError> {
    let style = Style::new(args.json);
    let shown = args.forward_to.as_ref().map(ToString::to_string);
    let greeted = greet(style, &Place::Relay(webhook_id), shown.as_deref(), temporary.is_some());
    tolerate_closed_pipe(greeted).map_err(CommandError::output)?;
    let (failed, mut failure) = mpsc::unbounded_channel();
    let handler = RequestHandler::new(
        args.forward_to.map(|url| (url, args.forward_timeout.0)),
        keys::source(temporary, args.keys),
        Arc::new(SystemClock),
        printer(style, failed),
    )?;
    let mut output = Ok(());
    let stop = async {
        tokio::select! {
            () = signals.next() => {}
            Some(error) = failure.recv() => output = tolerate_closed_pipe(Err(error)),
        }
    };
    let ended = relay(client, webhook_id, handler).observe(report).run_until(stop).await;
    ended.map_err(ShellError::from)?;
    output.map_err(CommandError::output)
}

/// Returns a relay that passes its requests to `handler`. A task of this thread handles the requests, because `handler`
/// cannot move to another thread.
fn relay(client: &Client, webhook_id: WebhookId, handler: RequestHandler) -> Relay {
    let (sender, mut arrived) = mpsc::channel::<(RelayedRequest, oneshot::Sender<_>)>(1);
    let handler = Rc::new(handler);
    actix_rt::spawn(async move {
        while let Some((request, respond)) = arrived.recv().await {
            let handler = Rc::clone(&handler);
            actix_rt::spawn(async move {
                // An error is ignored: it means that the command ends, and needs no response.
                drop(respond.send(handle(&handler, request).await));
            });
        }
    });
    client.relay(webhook_id, move |request| {
        let sender = sender.clone();
        async move {
            let (respond, response) = oneshot::channel();
            sender.send((request, respond)).await?;
            Ok(response.await?)
        }
    })
}

async fn handle(handler: &RequestHandler, request: RelayedRequest) -> RelayResponse {
    let headers = request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let response = handler.handle(headers, request.body).await;
    let body = Some(response.body).filter(|body| !body.is_empty());
    RelayResponse { status: response.status, retry_after: response.retry_after, body }
}

/// Reports an interruption of the relay's connection on standard error.
fn report(state: RelayState<'_>) {
    if let RelayState::Interrupted { error, pause } = state {
        let (fault, pause) = (CommandError::caused_by(error), pause.as_secs_f32());
        let line = format!("sealpost: {fault}; connecting again in {pause:.1} s\n");
        // A failed write cannot be reported.
        drop(io::stderr().write_all(line.as_bytes()));
    }
}

/// The URL of a webhook whose receiver connects to the service.
const RELAY: &str = "relay:";
