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
    /// The webhook of the tool `wait_for_message`. `None` until its first call. Locked during the registration, so that
    /// concurrent calls register only one webhook.
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
    /// Locked for writing during an activation, so that concurrent calls activate only one identity for an agent
    /// without an identity.
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
