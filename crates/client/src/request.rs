//! One request of the API, before credentials are added.

use std::{borrow::Cow, fmt};

use ring::rand::{SecureRandom as _, SystemRandom};
use sealpost_domain::AccountId;
use serde::Serialize;
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use crate::error::ClientError;

/// A request of the API. The value can be sent several times, for retries.
#[derive(Clone)]
pub(crate) struct ApiRequest {
    pub(crate) path: Cow<'static, str>,
    pub(crate) query: Option<String>,
    /// The JSON body of a POST. `None` for a GET.
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) idempotency_key: Option<String>,
    /// False for a request that carries neither a token nor an API key.
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
}

/// Creates an `Idempotency-Key` of 128 random bits.
pub(crate) fn random_idempotency_key() -> Result<String, ClientError> {
    let mut bytes = [0; 16];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_unspecified| ClientError::Build("the system has no random bytes".into()))?;
    Ok(hex::encode(bytes))
}

/// The path before the name of a file of the transparency log.
pub(crate) const LOG: &str = "/log/";
/// The path of the WebSocket that receives events.
pub(crate) const RELAY: &str = "/v1/webhooks/relay";
/// The path before the number of a list of revoked badges.
pub(crate) const STATUS_LISTS: &str = "/v1/status/";

/// An account and its login secret. The client logs in when it needs a session, and again when the session ends.
#[derive(Clone)]
pub struct Login {
    /// Id of the account.
    pub account_id: AccountId,
    /// The login secret of the account. Debug output omits it.
    pub login_secret: Zeroizing<String>,
}

impl Login {
    /// Creates the credentials of an account.
    pub fn new(account_id: AccountId, login_secret: impl Into<String>) -> Self {
        Self { account_id, login_secret: Zeroizing::new(login_secret.into()) }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("account_id", &self.account_id).finish_non_exhaustive()
    }
}

/// The current token, and the credentials for a new login.
pub(crate) struct SessionCache {
    pub(crate) login: Option<Login>,
    /// The current token. Locked during a login, so that several requests whose token was rejected log in only once.
    pub(crate) token: Mutex<Option<Token>>,
}

pub(crate) type Token = Zeroizing<String>;

impl SessionCache {
    pub(crate) fn new(login: Option<Login>, token: Option<Token>) -> Self {
        Self { login, token: Mutex::new(token) }
    }

    /// Removes a rejected token, unless another request has already replaced this token. Returns true if the client has
    /// credentials to log in again.
    pub(crate) async fn reject(&self, token: &Token) -> bool {
        if self.login.is_none() {
            return false;
        }
        let mut current = self.token.lock().await;
        if current.as_ref() == Some(token) {
            *current = None;
        }
        true
    }
}
