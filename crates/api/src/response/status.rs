//! The HTTP status and the title of each error code.

use actix_web::http::StatusCode;
use sealpost_domain::Code;

/// Returns the HTTP status and the title of an error code, as in the error tables of the API contract.
pub fn status_and_title(code: Code) -> (StatusCode, &'static str) {
    use {Code as C, StatusCode as S};
    match code {
        C::InvalidField => (S::BAD_REQUEST, "A field has an unacceptable value"),
        C::InvalidHttp => (S::BAD_REQUEST, "The request is not valid HTTP/1.1"),
        C::InvalidJson => (S::BAD_REQUEST, "The body is not a JSON object"),
        C::MissingField => (S::BAD_REQUEST, "A required field is missing"),
        C::RawDidRejected => (S::BAD_REQUEST, "A raw DID is not accepted"),
        C::Unauthorized => (S::UNAUTHORIZED, "Missing or invalid credentials"),
        C::InsufficientRole => (S::FORBIDDEN, "The role of the operator is not sufficient"),
        C::ActivationRefused => (S::FORBIDDEN, "No account can be opened"),
        C::GovernanceBlocked => (S::FORBIDDEN, "Governance prevents execution"),
        C::KeyInactive => (S::FORBIDDEN, "The API key is not active"),
        C::QuotaExceeded => (S::FORBIDDEN, "A cap is reached"),
        C::RecipientRefuses => (S::FORBIDDEN, "The recipient does not accept the message"),
        C::InsufficientScope => (S::FORBIDDEN, "The API token does not allow this"),
        C::TokenNotFound => (S::NOT_FOUND, "No such API token"),
        C::EnvelopeNotFound => (S::NOT_FOUND, "No such envelope"),
        C::KeyNotFound => (S::NOT_FOUND, "No such API key"),
        C::SubjectNotFound => (S::NOT_FOUND, "The subject of the act does not exist"),
        C::NotFound => (S::NOT_FOUND, "No such path"),
        C::WebhookNotFound => (S::NOT_FOUND, "No such webhook"),
        C::MethodNotAllowed => (S::METHOD_NOT_ALLOWED, "Method not allowed"),
        C::RequestTimeout => (S::REQUEST_TIMEOUT, "The request took too long"),
        C::ActionRefused => (S::CONFLICT, "The present state forbids the act"),
        C::HandleTaken => (S::CONFLICT, "The handle is taken"),
        C::PayloadTooLarge => (S::PAYLOAD_TOO_LARGE, "The body or the message is too large"),
        C::UnsupportedMediaType => (S::UNSUPPORTED_MEDIA_TYPE, "The content type is not JSON"),
        C::UpgradeRequired => (S::UPGRADE_REQUIRED, "The path needs a WebSocket"),
        C::HeadersTooLarge => {
            (S::REQUEST_HEADER_FIELDS_TOO_LARGE, "The head of the request is too large")
        }
        C::BadgeDeniedDrift => (S::UNPROCESSABLE_ENTITY, "Drift exceeds the hard limit"),
        C::BadgeDeniedThresholds => (S::UNPROCESSABLE_ENTITY, "A purity threshold is unmet"),
        C::ComplianceCircuitFailed => {
            (S::UNPROCESSABLE_ENTITY, "The compliance circuit does not hold")
        }
        C::IdempotencyKeyReused => (S::UNPROCESSABLE_ENTITY, "The Idempotency-Key was used before"),
        C::MonthlyLimitExceeded => (S::TOO_MANY_REQUESTS, "The monthly allowance is used up"),
        C::RateLimitExceeded => (S::TOO_MANY_REQUESTS, "A rate limit is reached"),
        C::InternalError => (S::INTERNAL_SERVER_ERROR, "Unexpected server error"),
        C::ServiceUnavailable => (S::SERVICE_UNAVAILABLE, "The service is not available"),
    }
}
