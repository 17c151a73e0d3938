//! The client, and the operations that concern no key or account, such as the liveness check of the service.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use zeroize::Zeroizing;

use crate::{
    error::ClientError,
    request::{ApiRequest, LOG},
    transport::Transport,
};

/// A client of one service, which acts as one API key. Clones share the connections and the session.
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) transport: Arc<Transport>,
}

impl Client {
    /// Returns the current session token or API token, to pass to [`ClientBuilder::token`](crate::ClientBuilder::token)
    /// later. `None` before the first login.
    pub async fn token(&self) -> Option<Zeroizing<String>> {
        self.transport.session.token.lock().await.clone()
    }

    /// Returns a file of the transparency log by its path, such as `tile/0/000` or `checkpoint`.
    pub async fn log_tile(&self, path: &str) -> Result<Vec<u8>, ClientError> {
        self.transport.bytes(&ApiRequest::get(format!("{LOG}{path}"))).await
    }

    /// Sends a request that needs no credentials, to check that the service is alive.
    pub async fn ping(&self) -> Result<Pong, ClientError> {
        self.transport.call(&ApiRequest::get("/v1/ping")).await
    }

    /// Returns the OpenAPI document of the service.
    pub async fn openapi_document(&self) -> Result<Value, ClientError> {
        self.transport.call(&ApiRequest::get("/openapi.json")).await
    }
}

/// The response of a running service.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Pong {
    /// Always `ok`.
    pub status: String,
}
