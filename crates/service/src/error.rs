//! Errors of the use cases.

use sealpost_domain::{Refusal, ports::StoreError};
use sealpost_wallet::WalletError;

/// A refusal that the caller can act on, or a fault of the service.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The commit has no known result: the batch may be stored. The log has the cause.
    #[error("the commit has no known result: the request may be stored")]
    InDoubt,
    /// A thread of the service ended before it sent a response.
    #[error("a thread of the service ended without a response: restart the process")]
    Lost,
    /// The database look-up failed. The log has the cause.
    #[error("the database look-up failed")]
    NotRead,
    /// The batch of this request was not stored. The log has the cause.
    #[error("the batch of this request was not stored")]
    NotStored,
    /// The request is refused; the caller can act on the reason.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database failed.
    #[error("the database failed")]
    Store(#[from] StoreError),
    /// Decryption of keys or envelopes failed.
    #[error("the wallet failed")]
    Wallet(#[from] WalletError),
}

impl Error {
    /// Returns whether the request may be stored although it failed.
    pub fn is_in_doubt(&self) -> bool {
        matches!(self, Self::InDoubt | Self::Store(StoreError::InDoubt(_)))
    }

    /// The refusal for the caller; `None` for an internal error, which has no detail for callers.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            // Each of these errors is temporary: a retry begins another channel, or the key-encryption key arrives
            // within seconds.
            Self::Store(StoreError::Contended(_) | StoreError::Unavailable(_))
            | Self::Wallet(WalletError::ChannelExhausted | WalletError::UnknownKekVersion { .. }) => {
                Some(&Refusal::Unavailable)
            }
            Self::InDoubt
            | Self::Lost
            | Self::NotRead
            | Self::NotStored
            | Self::Store(_)
            | Self::Wallet(_) => None,
        }
    }
}
