//! The operations by topic, each with the bodies of its requests and responses. Members that a newer service adds to a
//! response are ignored.

mod account;
mod api_tokens;
mod badges;
mod deliveries;
mod identities;
mod mailbox;
mod sending;
mod webhooks;

use sealpost_domain::ReceiptState;
use serde::{Deserialize as _, Deserializer};

pub use account::*;
pub use api_tokens::*;
pub use badges::*;
pub use deliveries::*;
pub use identities::*;
pub use mailbox::*;
pub use sending::*;
pub use webhooks::*;

/// Parses the state of an envelope. A state that is newer than this client is read as [`ReceiptState::Sent`], because
/// the envelope is stored.
fn state<'de, S: From<ReceiptState>, D: Deserializer<'de>>(deserializer: D) -> Result<S, D::Error> {
    let name = String::deserialize(deserializer)?;
    Ok(ReceiptState::from_name(&name).unwrap_or(ReceiptState::Sent).into())
}
