//! What a use case can fail with.

use sealpost_domain::{Refusal, ports::StoreError};
use sealpost_wallet::WalletError;

/// A refusal that the caller can understand, or a fault of the service.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The batch that this request was part of may have been stored, or may not; its cause is logged where it happened.
    #[error("nobody knows whether the batch was stored")]
    InDoubt,
    /// A thread of the service ended before it answered.
    #[error("a part of the service has stopped")]
    Lost,
    /// The look-up that this request was part of failed; its cause is logged where it happened.
    #[error("the look-up failed")]
    NotRead,
    /// The batch that this request was part of could not be stored; its cause is logged where it happened.
    #[error("the batch could not be stored")]
    NotStored,
    /// The caller can do something about it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
    /// Keys or envelopes do not decrypt.
    #[error("the wallet failed")]
    Wallet(#[from] WalletError),
}

impl Error {
    /// What to tell the caller: `None` is an internal error, about which there is nothing to tell.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            // Others filled every channel that was begun; a new version of the key-encryption keys reaches every node
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
