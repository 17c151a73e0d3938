//! Ed25519 signatures, the DIDs of their keys, and the credentials that the service signs.

mod credential;
pub(crate) mod did;
mod issuer;
pub(crate) mod signature;
mod status_list;

pub use credential::verify_credential;
pub use did::public_key_of;
pub use issuer::{IssuerPublicKey, IssuerSecret};
pub use status_list::encode_status_list;
