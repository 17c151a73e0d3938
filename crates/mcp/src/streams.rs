//! Serves the tools on a pair of streams, such as standard input and output.

use rmcp::{ServiceExt as _, transport::stdio_pipes};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{agent::Agent, http::ServeError};

/// Serves the program at the other end of standard input and output, until it closes standard input.
pub async fn serve_stdio(agent: Agent) -> Result<(), ServeError> {
    let (input, output) = stdio_pipes();
    serve_streams(agent, input, output).await
}

/// Serves the client whose messages arrive at `input`, one JSON object per line, until the end of `input`.
pub async fn serve_streams(
    agent: Agent,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), ServeError> {
    let serving = agent.serve((input, output)).await;
    let serving = serving.map_err(|error| ServeError::Protocol(Box::new(error)))?;
    serving.waiting().await.map(drop).map_err(|error| ServeError::Protocol(error.into()))
}
