//! Sends: sealed envelopes, the channels that they use, recipients and idempotency keys.

mod channel;
mod envelope;
mod idempotency;
mod recipient;

pub use channel::Channel;
pub use envelope::{Envelope, EnvelopeHash, EnvelopeMeta, Suite};
pub use idempotency::{Fingerprint, IdempotencyKey, IdempotencyKeyFault};
pub use recipient::{Recipient, RecipientFault};
