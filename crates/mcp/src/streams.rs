//! Serves the tools on a pair of streams, such as standard input and output.

use std::pin::pin;

use rmcp::{ServiceExt as _, transport::stdio_pipes};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{agent::Agent, http::ServeError};

/// Serves the program at the other end of standard input and output, until this program closes standard input or `stop`
/// is ready.
pub async fn serve_stdio(agent: Agent, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
    let (input, output) = stdio_pipes();
    serve_streams(agent, input, output, stop).await
}

/// Serves the client whose messages arrive at `input`, one JSON object per line. At the end of `input`, waits a few
/// seconds for the running calls, and then cancels them. If `stop` is ready first, cancels the running calls at once,
/// and waits for their results.
pub async fn serve_streams(
    agent: Agent,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let mut stop = pin!(stop);
    let serving = tokio::select! {
        serving = agent.serve((input, output)) => serving,
        () = stop.as_mut() => return Ok(()),
    };
    let serving = serving.map_err(|error| ServeError::Protocol(Box::new(error)))?;
    let stopping = serving.cancellation_token();
    let mut ended = pin!(serving.waiting());
    let ended = tokio::select! {
        ended = ended.as_mut() => ended,
        () = stop => {
            stopping.cancel();
            ended.await
        }
    };
    ended.map(drop).map_err(|error| ServeError::Protocol(error.into()))
}
