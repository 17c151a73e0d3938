//! The token of the client: a given API token, or a session that the client opens when it needs one.

use tokio::sync::Mutex;
use zeroize::Zeroizing;

use crate::credentials::Login;

/// The current token, and the credentials for a new login.
pub(crate) struct SessionCache {
    pub(crate) login: Option<Login>,
    /// Locked during a login, so that requests that share a rejected token log in once.
    pub(crate) token: Mutex<Option<Token>>,
}

pub(crate) type Token = Zeroizing<String>;

impl SessionCache {
    pub(crate) fn new(login: Option<Login>, token: Option<Token>) -> Self {
        Self { login, token: Mutex::new(token) }
    }

    /// Removes a rejected token, unless another request has replaced it. Returns true if the client has credentials to
    /// log in again.
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
