//! Errors of a receiver.

use std::{io, net::SocketAddr};

use sealpost_webhooks::NoVerifyingKey;

/// Why a receiver cannot start, or why a key cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiverError {
    /// The address cannot be bound.
    #[error("{address} cannot be listened on; is it taken?")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The application's URL is the address of this receiver.
    #[error("the application's URL names the address that this receiver listens on")]
    ForwardsToItself,
    /// A document holds no usable public key.
    #[error("{name} is {fault}")]
    PublicKeys {
        /// The name of the document.
        name: String,
        /// The reason.
        fault: NoVerifyingKey,
    },
    /// A text is no webhook secret.
    #[error("{name} is no webhook secret: one is whsec_ and the padded base64 of 24 to 64 bytes")]
    Secret {
        /// The name of the secret, never the secret itself.
        name: String,
    },
    /// The HTTP server cannot start.
    #[error("notices cannot be received")]
    Serve(#[source] io::Error),
}
