//! Messages: sealed envelopes, their channels, recipients, and idempotency keys of sends.

mod channel;
mod context;
mod envelope;
mod idempotency;
mod receipt;
mod recipient;
mod recipient_policy;
mod trace_parent;

pub use channel::Channel;
pub use context::{ContextFault, ContextView, MessageContext, MessageType, ThreadId};
pub use envelope::{Envelope, EnvelopeHash, EnvelopeMeta, Suite};
pub use idempotency::{Fingerprint, IdempotencyKey, IdempotencyKeyFault};
pub use receipt::{ReceiptFacts, ReceiptPolicy, ReceiptState, ReceiptView};
pub use recipient::{Recipient, RecipientFault};
pub use recipient_policy::{AcceptPolicy, RecipientPolicy};
pub use trace_parent::{SPAN_TARGET, TraceParent};
