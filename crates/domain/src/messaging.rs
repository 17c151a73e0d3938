//! Messages: sealed envelopes, their channels, recipients, and idempotency keys of sends.

mod context;
mod envelope;
mod receipt;
mod recipient_policy;
mod trace_parent;

pub use context::{ContextFault, MessageContext, MessageType, ThreadId};
pub use envelope::{Channel, Envelope, EnvelopeHash, EnvelopeMeta, Suite};
pub use receipt::{
    Fingerprint, IdempotencyKey, IdempotencyKeyFault, ReceiptFacts, ReceiptPolicy, ReceiptState,
    ReceiptView,
};
pub use recipient_policy::{AcceptPolicy, Recipient, RecipientFault, RecipientPolicy};
pub use trace_parent::{SPAN_TARGET, TraceParent};
