//! Errors of a receiver's configuration and start.

use std::{io, net::SocketAddr};

use actix_web::http::Uri;
use sealpost_webhooks::NoVerifyingKey;

/// The reason why a receiver cannot start, or why the keys for verification cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiverError {
    /// The operating system rejects the listening address, for example because another process uses it.
    #[error("cannot listen on {address}: free the address or choose another one")]
    Bind {
        /// The address that was rejected.
        address: SocketAddr,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The application URL does not lead to this machine.
    #[error("{0} is no URL of this machine: give one such as http://127.0.0.1:3000/hook")]
    ForwardsElsewhere(Uri),
    /// The application URL is the listening address of the receiver itself, so each request would be forwarded forever.
    #[error("the listener would forward to itself: choose another port for the application")]
    ForwardsToItself,
    /// A DID document has no public key for `v1a` signatures.
    #[error("{name} is {fault}")]
    PublicKeys {
        /// The name of the document, as the caller of `public_keys` gave it.
        name: String,
        /// The reason why the document has no usable key.
        fault: NoVerifyingKey,
    },
    /// A text is not a valid secret of a webhook.
    #[error(
        "{name} is not a webhook secret: expected whsec_ and the padded base64 of 24 to 64 bytes"
    )]
    Secret {
        /// The name of the secret, such as `secret 1 of FILE`. Does not contain the secret itself.
        name: String,
    },
    /// The HTTP server cannot start.
    #[error("the HTTP server of the listener cannot start")]
    Serve(#[source] io::Error),
}
