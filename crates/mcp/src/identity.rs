//! The identity that the tools act as, and the place where a new identity is stored.

use std::{error::Error, sync::Arc};

use sealpost_client::{Activated, Client, WebhookId};
use tokio::sync::{Mutex, RwLock};

/// The reason why an identity cannot be stored.
pub type StoreError = Box<dyn Error + Send + Sync>;

/// Stores an identity that an agent activated, with its secrets, which no result of a tool contains.
pub trait IdentityStore: Send + Sync {
    /// Stores the identity and the secrets of its new account.
    fn store(&self, activated: &Activated) -> Result<(), StoreError>;
}

/// The identity that the tools act as.
pub(crate) struct ActingIdentity {
    pub(crate) client: Client,
    /// The webhook of `wait_for_message`, once it is known. Locked while it is registered, so that there is one.
    pub(crate) relay: Mutex<Option<WebhookId>>,
}

impl ActingIdentity {
    pub(crate) fn new(client: Client) -> Self {
        Self { client, relay: Mutex::new(None) }
    }
}

/// The acting identity, and the means to activate one.
pub(crate) struct Identities {
    pub(crate) url: String,
    /// Locked for writing during an activation, so that an agent without identity activates one.
    pub(crate) acting: RwLock<Option<Arc<ActingIdentity>>>,
    pub(crate) store: Box<dyn IdentityStore>,
}

impl Identities {
    pub(crate) fn new(url: String, client: Option<Client>, store: Box<dyn IdentityStore>) -> Self {
        let acting = client.map(|client| Arc::new(ActingIdentity::new(client)));
        Self { url, acting: RwLock::new(acting), store }
    }

    pub(crate) async fn acting(&self) -> Option<Arc<ActingIdentity>> {
        self.acting.read().await.clone()
    }
}
