//! The error type of the service.

use sealpost_domain::{Refusal, ports::StoreError};
use sealpost_storage::Abort;
use sealpost_wallet::WalletError;

use crate::transparency::kept::KeptError;

/// A refusal that the caller can act on, or a failure of the service.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database did not confirm the commit, so the request may have been stored. The service logs the cause.
    #[error("the commit has no known result: the request may be stored")]
    InDoubt,
    /// A thread of the service ended before it sent a response.
    #[error("a thread of the service ended without a response: restart the process")]
    Lost,
    /// A database look-up failed. The service logs the cause.
    #[error("the database look-up failed")]
    NotRead,
    /// The batch (the common transaction of several requests) that contained this request was not stored. The service
    /// logs the cause.
    #[error("the batch of this request was not stored")]
    NotStored,
    /// The service refused the request. The refusal names the reason and a remedy.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database failed.
    #[error("the database failed")]
    Store(#[from] StoreError),
    /// The decryption of keys or envelopes failed.
    #[error("the wallet failed")]
    Wallet(#[from] WalletError),
}

impl From<Abort> for Error {
    fn from(abort: Abort) -> Self {
        match abort {
            Abort::Refused(refusal) => refusal.into(),
            Abort::Store(error) => error.into(),
        }
    }
}

impl Error {
    /// Returns true if the request may have been stored although it failed.
    pub fn is_in_doubt(&self) -> bool {
        matches!(self, Self::InDoubt | Self::Store(StoreError::InDoubt(_)))
    }

    /// Returns the refusal for the caller. Returns `None` for an internal error, about which callers get no detail.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            // These errors are temporary, so a retry can succeed. After `ChannelExhausted`, the retry uses a new
            // channel. After `UnknownKekVersion`, the node loads the new key-encryption key within seconds.
            Self::Store(StoreError::Contended(_) | StoreError::Unavailable(_))
            | Self::Wallet(WalletError::ChannelExhausted | WalletError::UnknownKekVersion { .. }) => {
                Some(&Refusal::Unavailable)
            }
            // `KeptError` means that the transparency log lacks entries of the checkpoint file, for example after a
            // restore, or that the file cannot be read. Requests that extend the log fail until an operator has fixed
            // this.
            Self::Store(StoreError::Refused(cause)) if cause.is::<KeptError>() => {
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
