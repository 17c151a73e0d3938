//! The identity that the tools act as, and the place where a new identity is stored.

use std::{error::Error, sync::Arc};

use sealpost_client::{Activated, Client, WebhookId};
use tokio::sync::{Mutex, RwLock};

use crate::output::ReceivedView;

/// The reason why an identity cannot be stored.
pub type StoreError = Box<dyn Error + Send + Sync>;

/// Stores an identity that an agent activated, with its secrets. Results of tools never contain these secrets.
pub trait IdentityStore: Send + Sync {
    /// Fails if an identity cannot be stored, for example because another process has stored one. Called before an
    /// activation, because the secrets of a new account would otherwise be lost.
    fn check(&self) -> Result<(), StoreError>;

    /// Stores the identity and the secrets of its new account.
    fn store(&self, activated: &Activated) -> Result<(), StoreError>;
}

/// The identity that the tools act as.
pub(crate) struct ActingIdentity {
    pub(crate) client: Client,
    /// The webhook from which the tool `wait_for_message` receives events over a connection to the service. `None`
    /// until the first call of the tool. Locked during the registration, so that concurrent calls register only one
    /// webhook.
    pub(crate) relay: Mutex<Option<WebhookId>>,
    /// Messages that `wait_for_message` has confirmed to the service, but that no client has received, because the
    /// calls were cancelled. The next call returns one of them.
    pub(crate) unreturned: Mutex<Vec<ReceivedView>>,
}

impl ActingIdentity {
    pub(crate) fn new(client: Client) -> Self {
        Self { client, relay: Mutex::default(), unreturned: Mutex::default() }
    }
}

/// The acting identity, with the service URL and the store for an identity that the agent activates.
pub(crate) struct Identities {
    pub(crate) url: String,
    /// Locked for writing during an activation. If an agent without an identity activates two at the same time, the
    /// second call waits, and adds its identity to the account of the first.
    pub(crate) acting: RwLock<Option<Arc<ActingIdentity>>>,
    pub(crate) store: Box<dyn IdentityStore>,
}

impl Identities {
    pub(crate) async fn acting(&self) -> Option<Arc<ActingIdentity>> {
        self.acting.read().await.clone()
    }
}
