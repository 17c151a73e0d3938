//! One request of the API, before credentials are added.

use std::borrow::Cow;

use ring::rand::{SecureRandom as _, SystemRandom};
use serde::Serialize;

use crate::error::ClientError;

/// A request that can be sent several times.
#[derive(Clone)]
pub(crate) struct ApiRequest {
    pub(crate) path: Cow<'static, str>,
    pub(crate) query: Option<String>,
    /// The JSON body of a POST. `None` for a GET.
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) needs_credentials: bool,
    /// The random key of the upgrade to a WebSocket (RFC 6455). `None` for an ordinary request.
    pub(crate) websocket_key: Option<String>,
}

impl ApiRequest {
    pub(crate) fn get(path: impl Into<Cow<'static, str>>) -> Self {
        Self {
            path: path.into(),
            query: None,
            body: None,
            idempotency_key: None,
            needs_credentials: false,
            websocket_key: None,
        }
    }

    pub(crate) fn post(path: &'static str, body: &impl Serialize) -> Result<Self, ClientError> {
        let body = serde_json::to_vec(body).map_err(|source| ClientError::Build(source.into()))?;
        Ok(Self { body: Some(body), needs_credentials: true, ..Self::get(path) })
    }

    /// Makes the request carry neither a token nor an API key.
    pub(crate) fn without_credentials(self) -> Self {
        Self { needs_credentials: false, ..self }
    }
}

/// Creates an `Idempotency-Key` of 128 random bits.
pub(crate) fn random_idempotency_key() -> Result<String, ClientError> {
    let mut bytes = [0; 16];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_unspecified| ClientError::Build("the system has no random bytes".into()))?;
    Ok(hex::encode(bytes))
}

/// The path before the number of a status list.
pub(crate) const STATUS_LISTS: &str = "/v1/status/";
