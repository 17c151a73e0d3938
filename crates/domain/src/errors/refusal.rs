//! All reasons why the API refuses a request, with their error codes. The `api` crate maps the codes to HTTP statuses.

use std::time::Duration;

use super::{
    code::Code,
    detail::{self, AllowanceAdvice},
};
use crate::{CircuitReport, KeyStatus, Timestamp, TokenScope, UnmetThreshold, Window, id_kind};

/// The reason why the API refuses a request. `Display` writes the `detail` of the error response: what failed, and what
/// the caller can do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The admin action is not possible in the current state of the key, badge or other object. Contains the text of
    /// the error response.
    #[error("{0}")]
    ActionRefused(String),
    /// The service opens no new accounts, because sign-up is closed.
    #[error(
        "sign-up is closed: this service opens no new accounts; with a session token an existing account can activate further identities"
    )]
    ActivationClosed,
    /// The metric drift in the newest [assessment](crate::Assessment) of the API key exceeds its hard limit, so the key
    /// gets no badge.
    #[error("{}", detail::drift(_0))]
    BadgeDeniedDrift(UnmetThreshold),
    /// At least one metric in the newest [assessment](crate::Assessment) of the API key does not meet its badge
    /// threshold.
    #[error("{}", detail::thresholds(_0))]
    BadgeDeniedThresholds(Vec<UnmetThreshold>),
    /// The [attestations](crate::Attestation) (recorded results of checks) of the API key do not satisfy the compliance
    /// circuit (set of checks) of a jurisdiction.
    #[error(
        "the compliance circuit of {} did not pass; ask the operator to attest its required checks",
        _0.jurisdiction
    )]
    ComplianceCircuitFailed(CircuitReport),
    /// The envelope does not exist, or is addressed to another key. Callers cannot distinguish the two cases.
    #[error(
        "no envelope with this id is addressed to this API key; use the envelope_id of an event that your webhook received"
    )]
    EnvelopeNotFound,
    /// The API key has neither sent nor received the envelope.
    #[error(
        "this API key neither sent nor received a stored envelope with this id; use the envelope_id of your send or of an event that your webhook received"
    )]
    ExchangedEnvelopeNotFound,
    /// A governance decision of an operator blocks the caller's key, or the recipient's key if `field` is `to`.
    #[error("{}", detail::governance(*field))]
    GovernanceBlocked {
        /// `to` if the recipient's key is blocked; `None` if the caller's key is blocked.
        field: Option<&'static str>,
    },
    /// The handle belongs to another account, or to an unrevoked key.
    #[error(
        "this handle belongs to another account or to a key that is not revoked; choose another handle"
    )]
    HandleTaken,
    /// The `Idempotency-Key` was already used for a request with another body.
    #[error(
        "this Idempotency-Key was already used with a different body; use a new one for a new message"
    )]
    IdempotencyKeyReused,
    /// Only an operator can give this handle to a key.
    #[error("this handle is reserved for the operator of the service; choose another handle")]
    HandleReserved,
    /// The API token does not allow the request.
    #[error("{}", detail::insufficient_scope(needed))]
    InsufficientScope {
        /// The scopes that allow the request. Empty if only a session allows it.
        needed: &'static [TokenScope],
    },
    /// The request replies to an envelope that does not exist, or that the caller neither sent nor received. Callers
    /// cannot distinguish these cases.
    #[error(
        "reply_to names no stored envelope that this API key sent or received; use the envelope_id of such an envelope"
    )]
    ReplyNotFound,
    /// A field has the wrong type or an invalid value.
    #[error("{field} {problem}")]
    InvalidField {
        /// Name of the field.
        field: &'static str,
        /// The problem, as a clause that follows the name of the field in the error text.
        problem: String,
    },
    /// The body is not a JSON object.
    #[error("the body must be a JSON object, such as {{\"label\": \"Alice\"}}")]
    InvalidJson,
    /// The invite cannot be used. All causes have the same text, so callers learn nothing about the invites of others.
    #[error(
        "this invite does not exist, is used up, has expired or was revoked; ask the operator of the service for a new one"
    )]
    InviteInvalid,
    /// The request would open a new account, but contains no invite.
    #[error(
        "a new account needs an invite; ask the operator of the service for one, and send it as the member invite"
    )]
    InviteRequired,
    /// The caller's API key is not active, or the recipient's API key if `field` is `to`.
    #[error("{}", detail::inactive(*status, *field))]
    KeyInactive {
        /// The current status of the inactive key.
        status: KeyStatus,
        /// `to` if the recipient's key is not active; `None` if the caller's key is not active.
        field: Option<&'static str>,
    },
    /// No API key has the id or handle in the request.
    #[error("{}", detail::unknown_key(*field))]
    KeyNotFound {
        /// Name of the request field with the unknown id or handle, such as `to` for the recipient. `None` if the
        /// caller's own key does not exist.
        field: Option<&'static str>,
    },
    /// A required field is missing, null or empty.
    #[error("the required field {field} is missing or empty")]
    MissingField {
        /// Name of the field.
        field: &'static str,
    },
    /// A required field is missing, and the body has an unknown field with a similar name.
    #[error(
        "the required field {field} is missing; {given} is an unknown field, did you mean {field}?"
    )]
    MisspeltField {
        /// Name of the missing field.
        field: &'static str,
        /// Name of the unknown field, shortened if it is long.
        given: String,
    },
    /// An update of a webhook names nothing to change.
    #[error("the update changes nothing; give at least one of url, events, description and paused")]
    NothingToChange,
    /// The caller's key has used up the monthly messages of its plan.
    #[error("{}", detail::monthly_limit(*limit, advice))]
    MonthlyLimitExceeded {
        /// Number of messages per month in the plan.
        limit: u32,
        /// The advice to the caller on how to send more messages per month.
        advice: AllowanceAdvice,
        /// Time until the next UTC month begins.
        retry_after: Duration,
    },
    /// The message in the request is larger than the limit.
    #[error("the message is larger than {limit_bytes} bytes; shorten it or split it")]
    MessageTooLarge {
        /// Maximum size of a message in bytes.
        limit_bytes: usize,
    },
    /// The caller already has the maximum number of objects of one kind, such as webhooks.
    #[error("the limit of {limit} for {what} is reached; {way_out}")]
    QuotaExceeded {
        /// Maximum number of these objects.
        limit: u32,
        /// Name of the counted objects, as a plural noun phrase for the error text.
        what: &'static str,
        /// The remedy for the caller, as a clause of the error text.
        way_out: &'static str,
    },
    /// The account has reached a limit per minute that all its keys and sessions share: the limit of test events, or of
    /// replacements of the login secret (rotations and recoveries).
    #[error(
        "one account may do this {per_minute} times a minute; try again in {} s",
        detail::whole_seconds(*retry_after)
    )]
    AccountRateLimited {
        /// Maximum number of these requests per minute for one account.
        per_minute: u32,
        /// Time until the next minute.
        retry_after: Duration,
    },
    /// The caller's key has reached a rate limit of its plan.
    #[error("{}", detail::rate_limit(*window, *limit, *retry_after))]
    RateLimited {
        /// The time window of the limit: day, minute or second.
        window: Window,
        /// Maximum number of requests in the window. For the window of a second: maximum number of messages.
        limit: u32,
        /// Time until the same request can succeed.
        retry_after: Duration,
    },
    /// A raw DID was used in place of an API key or handle.
    #[error("{}", detail::raw_did(field))]
    RawDidRejected {
        /// Name of the field.
        field: &'static str,
    },
    /// The recipient's policy refuses messages from the sender. All reasons look the same, so that a sender does not
    /// learn whether it is blocked.
    #[error(
        "the recipient does not accept messages from this API key; ask the recipient to allow it"
    )]
    RecipientRefuses,
    /// The operator has the role `viewer`, which allows no changes, but the request changes data.
    #[error(
        "the role viewer may not act; use the credentials of an operator with the role operator"
    )]
    RoleInsufficient,
    /// The object named in an operator's request does not exist. Contains the kind of the object with the word `such`,
    /// for example `such API key`.
    #[error("there is no {0}; check the name")]
    SubjectNotFound(&'static str),
    /// The body is a JSON object, but has more values than the service reads.
    #[error("the body has more than {limit} JSON values; send fewer values in one request")]
    TooManyValues {
        /// Maximum number of values in the body: the members of all objects and the elements of all arrays, at any
        /// depth.
        limit: usize,
    },
    /// The API token does not exist or belongs to another account. Both cases look the same.
    #[error(
        "this account has no API token with this id; list its tokens with POST /v1/auth/tokens/list"
    )]
    TokenNotFound,
    /// Authentication failed. Contains the text of the error response.
    #[error("{0}")]
    Unauthorized(&'static str),
    /// The body of the request is not valid JSON.
    #[error(
        "the body is not valid JSON: {problem} at line {line}, column {column}; send a JSON object"
    )]
    MalformedJson {
        /// The line of the syntax error, counted from 1.
        line: usize,
        /// The position of the syntax error in its line, in bytes.
        column: usize,
        /// The description of the error by the JSON parser. Contains no part of the body, because the body may be
        /// confidential.
        problem: String,
    },
    /// The body has two members with the same name in one object.
    #[error("{field} is given twice in the body; send it once")]
    RepeatedField {
        /// Name of the member, shortened if it is long.
        field: String,
    },
    /// The body contains a JSON field unknown to the endpoint.
    #[error("{}", detail::unknown_field(field, *nearest, known))]
    UnknownField {
        /// Name of the unknown field, shortened if it is long.
        field: String,
        /// The accepted field with the most similar name. `None` if no name is similar.
        nearest: Option<&'static str>,
        /// All accepted fields.
        known: Vec<&'static str>,
    },
    /// The secret of the webhook cannot be replaced now: the maximum number of earlier secrets still sign its events.
    #[error(
        "{limit} replaced secrets of this webhook still sign its events; replace the secret again from {possible_at}, when the oldest of them ends"
    )]
    RetiringSecrets {
        /// Maximum number of replaced secrets that still sign events.
        limit: usize,
        /// Time from which the oldest replaced secret no longer signs.
        possible_at: Timestamp,
    },
    /// The caller's key has sent no stored envelope with this id. Callers cannot distinguish an unknown id from the id
    /// of another sender's envelope.
    #[error(
        "this API key sent no stored envelope with this id; use the envelope_id in the response to your send, and act as the API key that sent it"
    )]
    SentEnvelopeNotFound,
    /// The disk of the embedded database is almost full, so the service stores no new messages and identities.
    #[error(
        "the disk of the service is almost full, so it stores no messages and opens no identities until the operator frees space; nothing was stored; try again later"
    )]
    StorageFull,
    /// With the new envelope, the account would exceed its maximum number of stored bytes.
    #[error(
        "with this message the account would store more than {limit_bytes} bytes of sealed envelopes; wait until older envelopes are deleted, or ask the operator for more"
    )]
    StorageQuotaExceeded {
        /// Maximum number of bytes that the account may store.
        limit_bytes: u64,
    },
    /// The service cannot process the request at the moment. Nothing was stored, so the caller can retry.
    #[error("the service cannot process this request now and stored nothing; try again")]
    Unavailable,
    /// The webhook has no event with this id to send again: the event is not stored, belongs to another key, or is of a
    /// kind to which the webhook does not subscribe.
    #[error(
        "this API key has no stored event with this id, or the webhook does not name its kind in events; use an event of a kind that the webhook names"
    )]
    WebhookEventNotFound,
    /// The webhook does not exist, or belongs to another key. Callers cannot distinguish the two cases.
    #[error("this API key has no webhook with this id; list its webhooks with the action `list`")]
    WebhookNotFound,
    /// The request contains an id or a secret of the wrong kind, such as the id of a webhook in place of an API key.
    /// The error code is the same as for an unknown id.
    #[error("{given} is given instead of {}", detail::expected_id(*code, *field))]
    WrongId {
        /// The kind of the given text, as a noun phrase.
        given: &'static str,
        /// The error code that an unknown id in the same field would get.
        code: Code,
        /// Name of the request field. `None` if the refusal of an unknown id names no field.
        field: Option<&'static str>,
    },
}

impl Refusal {
    /// Adds the URL of the sales contact, if this is a [`MonthlyLimitExceeded`](Self::MonthlyLimitExceeded) that
    /// advises the caller to ask the operator.
    pub fn name_sales_contact(&mut self, url: &str) {
        if let Self::MonthlyLimitExceeded { advice: AllowanceAdvice::Ask { contact }, .. } = self {
            *contact = Some(url.to_owned());
        }
    }

    /// Returns the refusal for `text`, which is not a well-formed id of the expected kind. If `text` starts with the
    /// prefix of another kind of id or secret, returns [`WrongId`](Self::WrongId). Otherwise returns `unknown`, the
    /// refusal of an unknown id.
    pub fn for_id(text: &str, unknown: Self) -> Self {
        let code = unknown.code();
        match id_kind(text) {
            Some(given) if !detail::expected_id(code, None).contains(given) => {
                let field = match unknown {
                    Self::KeyNotFound { field } => field,
                    Self::ReplyNotFound => Some("reply_to"),
                    _ => None,
                };
                Self::WrongId { given, code, field }
            }
            _ => unknown,
        }
    }

    /// Returns the error code for the response.
    pub const fn code(&self) -> Code {
        match self {
            Self::ActivationClosed | Self::InviteInvalid | Self::InviteRequired => {
                Code::ActivationRefused
            }
            Self::BadgeDeniedDrift(_) => Code::BadgeDeniedDrift,
            Self::BadgeDeniedThresholds(_) => Code::BadgeDeniedThresholds,
            Self::ComplianceCircuitFailed(_) => Code::ComplianceCircuitFailed,
            Self::EnvelopeNotFound
            | Self::ExchangedEnvelopeNotFound
            | Self::ReplyNotFound
            | Self::SentEnvelopeNotFound
            | Self::WebhookEventNotFound => Code::EnvelopeNotFound,
            Self::GovernanceBlocked { .. } => Code::GovernanceBlocked,
            Self::HandleTaken => Code::HandleTaken,
            Self::IdempotencyKeyReused => Code::IdempotencyKeyReused,
            Self::HandleReserved
            | Self::InvalidField { .. }
            | Self::RepeatedField { .. }
            | Self::UnknownField { .. } => Code::InvalidField,
            Self::InsufficientScope { .. } => Code::InsufficientScope,
            Self::InvalidJson | Self::MalformedJson { .. } | Self::TooManyValues { .. } => {
                Code::InvalidJson
            }
            Self::KeyInactive { .. } => Code::KeyInactive,
            Self::KeyNotFound { .. } => Code::KeyNotFound,
            Self::MessageTooLarge { .. } => Code::PayloadTooLarge,
            Self::MisspeltField { .. } | Self::MissingField { .. } | Self::NothingToChange => {
                Code::MissingField
            }
            Self::MonthlyLimitExceeded { .. } => Code::MonthlyLimitExceeded,
            Self::QuotaExceeded { .. }
            | Self::RetiringSecrets { .. }
            | Self::StorageQuotaExceeded { .. } => Code::QuotaExceeded,
            Self::AccountRateLimited { .. } | Self::RateLimited { .. } => Code::RateLimitExceeded,
            Self::RawDidRejected { .. } => Code::RawDidRejected,
            Self::RecipientRefuses => Code::RecipientRefuses,
            Self::ActionRefused(_) => Code::ActionRefused,
            Self::RoleInsufficient => Code::InsufficientRole,
            Self::SubjectNotFound(_) => Code::SubjectNotFound,
            Self::TokenNotFound => Code::TokenNotFound,
            Self::Unauthorized(_) => Code::Unauthorized,
            Self::StorageFull | Self::Unavailable => Code::ServiceUnavailable,
            Self::WebhookNotFound => Code::WebhookNotFound,
            Self::WrongId { code, .. } => *code,
        }
    }

    /// Returns the badge thresholds not met by the key. `None` if the refusal has another reason.
    pub fn unmet(&self) -> Option<&[UnmetThreshold]> {
        match self {
            Self::BadgeDeniedDrift(over) => Some(std::slice::from_ref(over)),
            Self::BadgeDeniedThresholds(unmet) => Some(unmet),
            _ => None,
        }
    }

    /// Returns the report of the failed compliance circuit. `None` if the refusal has another reason.
    pub const fn circuit(&self) -> Option<&CircuitReport> {
        match self {
            Self::ComplianceCircuitFailed(report) => Some(report),
            _ => None,
        }
    }

    /// Returns the name of the request field that caused the refusal. `None` if no single field caused it.
    pub const fn field(&self) -> Option<&str> {
        match self {
            Self::GovernanceBlocked { field }
            | Self::KeyInactive { field, .. }
            | Self::KeyNotFound { field }
            | Self::WrongId { field, .. } => *field,
            Self::HandleReserved | Self::HandleTaken => Some("handle"),
            Self::InvalidField { field, .. }
            | Self::MisspeltField { field, .. }
            | Self::MissingField { field }
            | Self::RawDidRejected { field } => Some(field),
            Self::InviteInvalid | Self::InviteRequired => Some("invite"),
            Self::MessageTooLarge { .. } => Some("message"),
            Self::RecipientRefuses => Some("to"),
            Self::NothingToChange => Some("url"),
            Self::ReplyNotFound => Some("reply_to"),
            Self::RepeatedField { field } | Self::UnknownField { field, .. } => {
                Some(field.as_str())
            }
            _ => None,
        }
    }

    /// Returns the value of the `Retry-After` header in seconds. `None` if it is unknown when the same request could
    /// succeed.
    pub const fn retry_after_s(&self) -> Option<u64> {
        match self {
            Self::AccountRateLimited { retry_after, .. }
            | Self::MonthlyLimitExceeded { retry_after, .. }
            | Self::RateLimited { retry_after, .. } => Some(detail::whole_seconds(*retry_after)),
            Self::StorageFull => Some(60),
            Self::Unavailable | Self::KeyInactive { status: KeyStatus::Rotating, .. } => Some(1),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AssessmentMetrics, BadgeRefusal, check_thresholds};

    #[test]
    fn a_denied_badge_names_each_unmet_threshold_with_value_and_limit() {
        let denied = |found: Option<[&str; 4]>| {
            let metrics = found.map(|found| {
                let [clarity, coherence, confidence, drift] = found.map(|it| it.parse().unwrap());
                AssessmentMetrics { clarity, coherence, confidence, drift }
            });
            match check_thresholds(metrics.as_ref()).unwrap_err() {
                BadgeRefusal::Drift(over) => Refusal::BadgeDeniedDrift(over).to_string(),
                BadgeRefusal::Thresholds(unmet) => {
                    Refusal::BadgeDeniedThresholds(unmet).to_string()
                }
            }
        };
        assert_eq!(
            denied(Some(["0.1", "1", "1", "0.31"])),
            "drift is 0.31 and must be <= 0.3, the hard limit; fix the cause, then ask the operator for a new assessment"
        );
        assert_eq!(
            denied(Some(["0.7499", "0.7", "0.85", "0.2"])),
            "clarity is 0.7499 and must be >= 0.75, confidence is 0.85 and must be >= 0.9, drift is 0.2 and must \
             be <= 0.1; fix the cause, then ask the operator for a new assessment"
        );
        assert_eq!(
            denied(None),
            "this API key was never assessed: clarity must be >= 0.75, coherence must be >= 0.7, confidence must be \
             >= 0.9, drift must be <= 0.1; ask the operator for an assessment"
        );
    }

    #[test]
    fn a_rotating_key_allows_a_retry_and_a_revoked_key_does_not() {
        let refusal = |status| Refusal::KeyInactive { status, field: None };
        assert!(refusal(KeyStatus::Rotating).retry_after_s().is_some());
        assert!(refusal(KeyStatus::Revoked).retry_after_s().is_none());
    }

    #[test]
    fn an_id_of_another_kind_is_named_and_keeps_the_code_of_an_unknown_id() {
        let wrong = Refusal::for_id("wh_01h455vb4pex5vsknk084sn02q", Refusal::EnvelopeNotFound);
        assert_eq!(wrong.code(), Code::EnvelopeNotFound);
        assert_eq!(
            wrong.to_string(),
            "the id of a webhook (wh_) is given instead of the id of an envelope (env_)"
        );
        let unknown = Refusal::KeyNotFound { field: Some("to") };
        let wrong = Refusal::for_id("acct_01h455vb4pex5vsknk084sn02q", unknown.clone());
        assert_eq!((wrong.code(), wrong.field()), (Code::KeyNotFound, Some("to")));
        assert_eq!(
            wrong.to_string(),
            "the id of an account (acct_) is given instead of an API key (ak_) or a handle"
        );
        for text in ["ak_short", "b", ""] {
            assert_eq!(Refusal::for_id(text, unknown.clone()), unknown, "{text}");
        }
    }

    #[test]
    fn details_use_singular_and_plural() {
        let wait = Duration::from_secs(35);
        let monthly = |limit| {
            let advice = AllowanceAdvice::Upgrade;
            Refusal::MonthlyLimitExceeded { limit, advice, retry_after: wait }.to_string()
        };
        assert_eq!(
            monthly(1),
            "the plan's limit of 1 message per month is reached; upgrade the plan, or wait for the next month"
        );
        assert_eq!(
            monthly(1000),
            "the plan's limit of 1000 messages per month is reached; upgrade the plan, or wait for the next month"
        );
        let rate =
            |window, limit| Refusal::RateLimited { window, limit, retry_after: wait }.to_string();
        assert_eq!(
            rate(Window::Day, 1),
            "the plan's limit of 1 request per day is reached; try again in 35 s"
        );
        assert_eq!(
            rate(Window::Second, 10),
            "the plan's limit of 10 messages per second is reached; try again in 35 s"
        );
    }
}
