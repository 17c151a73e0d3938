//! The document of an export: the account with everything that is stored about it.

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, ApiKeyId, Assessment, AssessmentId, AssessmentMetrics, Attestation, AttestationId,
    CheckName, SessionDetails, Timestamp, ports::DailyCount,
};
use serde::Serialize;

use crate::{
    account::activity::ActivityView,
    acts::{policy::PolicyView, tokens::ApiTokenView},
    envelopes::list_sent::SentView,
    operator::lists::KeyDetails,
};

/// Everything that is stored about an account. Contains no messages and no secrets.
#[derive(JsonSchema, Serialize)]
pub struct AccountExport {
    /// The account, its sessions and its API tokens.
    #[serde(flatten)]
    pub account: ExportedAccount,
    /// The API keys, newest first, including revoked ones.
    pub keys: Vec<ExportedKey>,
    /// The activity of the account, newest first.
    pub activity: Vec<ActivityView>,
    /// The envelopes that the keys sent and that have not expired: newest first for each key.
    pub envelopes: Vec<ExportedEnvelope>,
}

/// An account, with its sessions and API tokens.
#[derive(JsonSchema, Serialize)]
pub struct ExportedAccount {
    /// Id of the account.
    pub account_id: AccountId,
    /// Start of the export.
    pub exported_at: Timestamp,
    /// Time at which the account was created.
    pub created_at: Timestamp,
    /// The partner of the account, assigned by an operator; null without one.
    pub partner: Option<String>,
    /// The sessions that have not expired, latest expiry first; at most 10,000.
    pub sessions: Vec<ExportedSession>,
    /// The API tokens that have not expired, oldest first.
    pub api_tokens: Vec<ApiTokenView>,
}

/// A session, without its token.
#[derive(JsonSchema, Serialize)]
pub struct ExportedSession {
    /// Name of the session on the dashboard and in the activity.
    pub name: String,
    /// Time of the login.
    pub started_at: Timestamp,
    /// Start of the hour of the last use; null before the first known use.
    pub last_used_at: Option<Timestamp>,
    /// Time at which the session expires.
    pub expires_at: Timestamp,
    /// Address of the client that logged in.
    pub client_address: Option<String>,
    /// User agent of the client that logged in.
    pub user_agent: Option<String>,
}

/// An API key with its usage, webhooks, policy, daily counts, assessments and attestations.
#[derive(JsonSchema, Serialize)]
pub struct ExportedKey {
    /// The key, its usage, governance, webhooks and badges.
    #[serde(flatten)]
    pub details: KeyDetails,
    /// The policy of the key as a recipient.
    pub policy: PolicyView,
    /// The daily counts, oldest first. Days without messages are missing, and so are the last minutes.
    pub daily_counts: Vec<ExportedDay>,
    /// The assessments of the key, newest first; at most 10,000.
    pub assessments: Vec<ExportedAssessment>,
    /// The attestations of the key, newest first; at most 10,000.
    pub attestations: Vec<ExportedAttestation>,
}

/// The counts of a key on one day.
#[derive(JsonSchema, Serialize)]
pub struct ExportedDay {
    /// Start of the day (UTC).
    pub day: Timestamp,
    /// Number of envelopes sent by the key.
    pub sent: u64,
    /// Number of envelopes sent to the key.
    pub received: u64,
    /// Number of events delivered to the webhooks of the key.
    pub delivered: u64,
}

/// An assessment (measured scores of a key), without the name of the assessor.
#[derive(JsonSchema, Serialize)]
pub struct ExportedAssessment {
    /// Id of the assessment.
    pub assessment_id: AssessmentId,
    /// The scores.
    #[serde(flatten)]
    pub metrics: AssessmentMetrics,
    /// The reason that the assessor gave.
    pub reason: String,
    /// Time of the assessment.
    pub at: Timestamp,
}

/// An attestation (recorded result of a check of a key), without the name of the attester.
#[derive(JsonSchema, Serialize)]
pub struct ExportedAttestation {
    /// Id of the attestation.
    pub attestation_id: AttestationId,
    /// Name of the check.
    pub check: CheckName,
    /// True if the key failed the check.
    pub failed: bool,
    /// End of the validity, exclusive; null if the attestation does not expire.
    pub valid_until: Option<Timestamp>,
    /// The reason that the attester gave.
    pub reason: String,
    /// Time of the attestation.
    pub at: Timestamp,
}

/// A sent envelope, without its message.
#[derive(JsonSchema, Serialize)]
pub struct ExportedEnvelope {
    /// The key that sent the envelope.
    pub sender: ApiKeyId,
    /// The envelope and its state.
    #[serde(flatten)]
    pub sent: SentView,
}

impl From<&SessionDetails> for ExportedSession {
    fn from(details: &SessionDetails) -> Self {
        let SessionDetails { session, started_at, last_used_at, source } = details;
        Self {
            name: session.token.short_name(),
            started_at: *started_at,
            last_used_at: *last_used_at,
            expires_at: session.expires_at,
            client_address: source.address.map(|address| address.to_string()),
            user_agent: source.user_agent.as_ref().map(ToString::to_string),
        }
    }
}

impl From<&DailyCount> for ExportedDay {
    fn from(counts: &DailyCount) -> Self {
        let DailyCount { day, sent, received, delivered } = *counts;
        Self { day, sent, received, delivered }
    }
}

impl From<Assessment> for ExportedAssessment {
    fn from(assessment: Assessment) -> Self {
        let Assessment { id, metrics, reason, at, .. } = assessment;
        Self { assessment_id: id, metrics, reason, at }
    }
}

impl From<Attestation> for ExportedAttestation {
    fn from(attestation: Attestation) -> Self {
        let Attestation { id, check, failed, valid_until, reason, at, .. } = attestation;
        Self { attestation_id: id, check, failed, valid_until, reason, at }
    }
}
