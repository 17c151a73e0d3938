//! Accounts and their identities. An identity is an API key with a DID and secret keys, and may have a handle.

pub(crate) mod account;
pub(crate) mod api_token;
pub(crate) mod did;
pub(crate) mod handle;
pub(crate) mod id;
pub(crate) mod id_kind;
pub(crate) mod key;
pub(crate) mod reserved_handles;
pub(crate) mod secret;
