//! The ports for relays: webhooks whose receivers have no public address. A receiver opens a connection to the service.
//! The service sends on this connection the requests that it would otherwise send to a URL.

use std::net::IpAddr;

use crate::{AccountId, LeaseToken, Timestamp, TokenHash, WebhookId};

/// The connections of receivers to this node. Deliveries reach a receiver only through the node that holds its
/// connection.
pub trait Relays: Send + Sync {
    /// Adds a connection, which then gets deliveries of its webhook. Returns `false` if the node is stopping.
    fn attach(
        &self,
        id: RelayConnectionId,
        webhook_id: WebhookId,
        account_id: AccountId,
        link: RelayLink,
    ) -> bool;

    /// Removes a connection. The unanswered deliveries of the connection are sent again. Their numbers of attempts do
    /// not change.
    fn detach(&self, id: RelayConnectionId);

    /// Ends the attempt whose delivery a receiver has answered. Returns `false` for an answer to an unknown delivery,
    /// for example one that has timed out.
    fn answer(&self, id: RelayConnectionId, answer: RelayAnswer) -> bool;

    /// Asks a connection to close. The connection is removed when it has closed.
    fn close(&self, id: RelayConnectionId, end: RelayEnd);

    /// Asks all connections to close, and refuses new ones.
    fn stop(&self);

    /// Returns whether a receiver of this webhook is connected to this node.
    fn is_connected(&self, webhook_id: &WebhookId) -> bool;

    /// Returns the number of unanswered deliveries on a connection. `None` if this node does not have the connection.
    fn unanswered(&self, id: RelayConnectionId) -> Option<usize>;

    /// Selects a connection to close, so that the account `newcomer` can open one: a connection of the account with the
    /// most connections. `None` if `newcomer` would then have more connections than that account.
    fn yielding(&self, newcomer: &AccountId) -> Option<RelayConnectionId>;

    /// Returns the connections of this node.
    fn ids(&self) -> Vec<RelayConnectionId>;

    /// Returns the number of connections.
    fn len(&self) -> usize;

    /// Returns whether this node has no connection.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The sending side of one connection: sends a message to the receiver. Never blocks.
pub type RelayLink = Box<dyn Fn(RelayMessage) + Send + Sync>;

/// A message of the service on a connection.
#[derive(Debug)]
pub enum RelayMessage {
    /// Closes the connection, and sends the reason to the receiver.
    Close(RelayEnd),
    /// Sends a delivery. Boxed to keep the enum small: a channel allocates memory for many values even if the
    /// connection is idle.
    Delivery(Box<RelayFrame>),
}

/// Identifies a relay connection within the whole service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelayConnectionId(pub i64);

/// A delivery, as it is sent to the receiver: the request that a webhook with a URL would get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayFrame {
    /// Number of the delivery, which the answer must repeat. Unique within the connection.
    pub delivery: u64,
    /// Names and values of the headers.
    pub headers: Vec<(String, String)>,
    /// The body, byte for byte as it was signed.
    pub body: String,
}

/// The answer of a receiver to a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayAnswer {
    /// Number of the delivery.
    pub delivery: u64,
    /// HTTP status that the receiver would respond with. `None` if the answer has no valid status.
    pub status: Option<u16>,
    /// Value of the header `Retry-After`.
    pub retry_after: Option<String>,
    /// Body of the response, for the log of attempts.
    pub body: Option<String>,
}

/// The reason why the service closes a relay connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayEnd {
    /// The node was silent for so long that another node has deleted the rows of its connections.
    Forgotten,
    /// The key of the webhook is not active.
    KeyInactive,
    /// The node stops.
    Stopping,
    /// The session or the API token of the connection has ended.
    TokenEnded,
    /// The webhook has another URL now.
    UrlChanged,
    /// The webhook was deleted.
    WebhookDeleted,
    /// The webhook is disabled.
    WebhookDisabled,
    /// The webhook is paused.
    WebhookPaused,
    /// An account with fewer connections opened one, and the node had reached its limit of connections.
    Yielded,
}

impl RelayEnd {
    /// Returns the reason as text for the receiver.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Forgotten => "the server was silent for too long; connect again",
            Self::KeyInactive => "the API key is not active",
            Self::Stopping => "the server stops; connect again",
            Self::TokenEnded => "the session or API token has ended",
            Self::UrlChanged => "the webhook has another url",
            Self::WebhookDeleted => "the webhook was deleted",
            Self::WebhookDisabled => "the webhook is disabled",
            Self::WebhookPaused => "the webhook is paused",
            Self::Yielded => "the server needs the connection for another account; connect again",
        }
    }
}

/// The database row of an open relay connection.
#[derive(Debug, Clone, Copy)]
pub struct RelayConnection {
    /// Id of the connection.
    pub id: RelayConnectionId,
    /// The node that holds the connection.
    pub node: LeaseToken,
    /// The webhook whose deliveries the connection gets.
    pub webhook_id: WebhookId,
    /// Hash of the session token or API token that opened the connection.
    pub token: TokenHash,
    /// Time at which the connection was opened.
    pub connected_at: Timestamp,
    /// IP address of the receiver, if known.
    pub client_address: Option<IpAddr>,
}

/// An open relay connection, as the owner of the webhook sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRelay {
    /// Id of the connection.
    pub id: RelayConnectionId,
    /// Time at which the connection was opened.
    pub connected_at: Timestamp,
    /// IP address of the receiver, if known.
    pub client_address: Option<String>,
}
