//! What Sealpost is about: identities and their keys, envelopes and their notices, plans, governance, every
//! refusal that a caller can meet, and the ports through which the use cases reach a database and a dispatcher.
//!
//! Pure: no I/O, no async, no clock and no randomness of its own. Every other crate may know this one; it
//! knows none of them.

mod account;
mod assessment;
mod attempt;
mod audit;
mod badge;
mod channel;
mod circuit;
mod code;
mod delivery;
mod did;
mod envelope;
mod event;
mod governance;
mod handle;
mod health;
mod id;
mod idempotency;
mod issuer;
mod key;
mod label;
mod plan;
pub mod ports;
mod recipient;
mod refusal;
mod score;
mod secret;
mod time;
mod usage;
mod webhook;

pub use account::{Account, Session};
pub use assessment::{
    Assessment, AssessmentMetric, AssessmentMetrics, BadgeDenial, Threshold, UnmetThreshold,
    check_thresholds,
};
pub use attempt::{Attempt, AttemptNumber, AttemptOutcome, PendingDelivery};
pub use audit::{AdminAction, AuditEntry, AuditHash};
pub use badge::{Badge, BadgeStatus, Revocation, StatusPosition};
pub use channel::Channel;
pub use circuit::{
    Attestation, CheckName, CheckNameFault, CheckReport, CheckStatus, Circuit, CircuitReport,
    Circuits, ComplianceCheck, Jurisdiction,
};
pub use delivery::{
    AttemptFailure, AttemptResult, DeliveryId, LeaseToken, LeasedDelivery, Outcome,
    ReceiverResponse,
};
pub use did::Did;
pub use envelope::{Envelope, EnvelopeHash, EnvelopeMeta, Suite};
pub use event::{Encryption, EnvelopeReceived, EventKind, Metadata};
pub use governance::{
    GovernanceDecision, GovernanceKind, GovernanceReason, GovernanceStanding, GovernanceStatus,
    GovernanceSubject, PartnerFault, PartnerId,
};
pub use handle::{Handle, HandleFault};
pub use health::{AttemptSummary, DisabledReason, HealthReport, WebhookHealth};
pub use id::{
    AccountId, ApiKeyId, AssessmentId, AttestationId, BadgeId, ChannelId, DecisionId, EnvelopeId,
    IdFault, IssuerKeyId, RequestId, WebhookId,
};
pub use idempotency::{Fingerprint, IdempotencyKey, IdempotencyKeyFault};
pub use issuer::IssuerKey;
pub use key::{ApiKey, IllegalTransition, KeyEvent, KeyStatus};
pub use label::{Label, LabelFault};
pub use plan::{EnterpriseTerms, Plan};
pub use recipient::{Recipient, RecipientFault};
pub use refusal::{Code, Refusal, Window};
pub use score::{Score, ScoreFault};
pub use secret::{TokenHash, Wrapped};
pub use time::{Clock, TimeFault, Timestamp};
pub use usage::{Usage, WindowUse};
pub use webhook::{LastFailure, RetiringSecret, Target, Webhook, WebhookStatus};
