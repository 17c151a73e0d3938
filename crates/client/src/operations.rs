//! The operations by topic, each with the bodies of its requests and responses. Members and names that a newer service
//! adds are ignored.

mod account;
mod api_tokens;
mod badges;
mod deliveries;
mod identities;
mod mailbox;
mod sending;
mod webhooks;

pub use account::*;
pub use api_tokens::*;
pub use badges::*;
pub use deliveries::*;
pub use identities::*;
pub use mailbox::*;
pub use sending::*;
pub use webhooks::*;
