//! Domain types of Sealpost: identities, API keys, envelopes, webhooks, plans, governance decisions and badges. Also
//! defines all refusals of the API, the values that the database takes and returns, and the traits between crates.
//!
//! This crate does no I/O, has no async code, and reads neither a clock nor a source of randomness. It depends on no
//! other crate of the workspace. `examples/states.rs` shows its use.

mod activity;
mod badges;
mod deceptive_text;
mod errors;
mod governance;
mod identity;
mod messaging;
mod named_enum;
mod plans;
pub mod ports;
mod time;
mod webhooks;

pub use activity::{Activity, ActivityActor, ActivityKind, RequestSource, UserAgent};
pub use badges::{
    Assessment, AssessmentMetric, AssessmentMetrics, Attestation, Badge, BadgeDenial, BadgeStatus,
    CheckName, CheckNameFault, CheckReport, CheckStatus, Circuit, CircuitReport, Circuits,
    ComplianceCheck, Jurisdiction, Revocation, Score, ScoreFault, StatusPosition, Threshold,
    UnmetThreshold, check_thresholds, unmet_thresholds,
};
pub use deceptive_text::{TextFault, refuse_deceptive};
pub use errors::{AllowanceAdvice, Code, Refusal, with_causes};
pub use governance::{
    AdminAction, AuditEntry, AuditHash, GovernanceDecision, GovernanceKind, GovernanceReason,
    GovernanceStanding, GovernanceStatus, GovernanceSubject, PartnerFault, PartnerId,
};
pub use identity::{
    Account, AccountId, AccountSecrets, ActivityId, ApiKey, ApiKeyId, ApiToken, ApiTokenId,
    AssessmentId, AttestationId, BadgeId, ChannelId, DecisionId, Did, EnvelopeId, Handle,
    HandleFault, IdFault, IllegalTransition, Invite, InviteId, InviteStatus, IssuerKey,
    IssuerKeyId, KeyEvent, KeyStatus, Label, OwnEventId, OwnedKey, RequestId, ReservedHandles,
    ReservedHandlesFault, Session, SessionDetails, TokenHash, TokenScope, TokenScopes, WebhookId,
    Wrapped, id_kind,
};
pub use messaging::{
    AcceptPolicy, Channel, ContextFault, Envelope, EnvelopeHash, EnvelopeMeta, Fingerprint,
    IdempotencyKey, IdempotencyKeyFault, MessageContext, MessageType, ReceiptFacts, ReceiptPolicy,
    ReceiptState, ReceiptView, Recipient, RecipientFault, RecipientPolicy, SPAN_TARGET, Suite,
    ThreadId, TraceParent,
};
pub use plans::{EnterpriseTerms, Plan, Usage, Window, WindowUse};
pub use time::{Clock, TimeFault, Timestamp};
pub use webhooks::{
    Attempt, AttemptFailure, AttemptNumber, AttemptOutcome, AttemptResult, AttemptSummary,
    AttemptTiming, BounceReason, DeliveryId, Description, DisabledReason, DisablingCause,
    Encryption, EnvelopeBounced, EnvelopeReceived, Event, EventBody, EventDetails, EventId,
    EventKind, EventMetadata, EventsVersion, FailingCause, HealthChange, HealthReport,
    IdentityRotated, IdentityRotation, IncidentKind, LastFailure, LeaseToken, LeasedDelivery,
    Metadata, NewEvent, Outcome, PendingDelivery, RELAY_URL, ReachedThreshold, ReceivedEnvelope,
    ReceiverResponse, RetiringSecret, RotationReason, StoredEvent, Target, TestEvent, TestResult,
    ThresholdWindow, UnopenedEnvelope, UsageThreshold, Webhook, WebhookDisabled, WebhookFailing,
    WebhookHealth, WebhookIncident, WebhookStatus, WebhookTest,
};
