//! Tests of API keys and their states, revocation, encryption channels, the issuer key and the key-encryption key.

mod channels;
mod issuer;
mod kek_providers;
mod kek_rotation;
mod revocation;
mod states;
mod stored_did;
mod withdrawn_keys;
mod wrapped_secrets;
