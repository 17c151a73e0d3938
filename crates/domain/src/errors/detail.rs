//! Builds the error texts of refused requests: what failed, with the value, and what the caller can do.

use std::time::Duration;

use super::code::Code;
use crate::{KeyStatus, TokenScope, UnmetThreshold, Window};

pub(super) fn drift(over: &UnmetThreshold) -> String {
    format!("{}, the hard limit; {NEW_ASSESSMENT}", unmet(over))
}

pub(super) fn thresholds(all: &[UnmetThreshold]) -> String {
    let each = all.iter().map(unmet).collect::<Vec<_>>().join(", ");
    if all.iter().all(|threshold| threshold.value.is_none()) {
        return format!(
            "this API key was never assessed: {each}; ask the operator for an assessment"
        );
    }
    format!("{each}; {NEW_ASSESSMENT}")
}

fn unmet(UnmetThreshold { metric, value, bound, must_be }: &UnmetThreshold) -> String {
    let metric = metric.as_str();
    match value {
        None => format!("{metric} must be {must_be} {bound}"),
        Some(value) => format!("{metric} is {value} and must be {must_be} {bound}"),
    }
}

pub(super) fn governance(field: Option<&str>) -> &'static str {
    match field {
        None => "governance blocks this API key; see /v1/did/status and contact the operator",
        Some(_) => "governance blocks the recipient; try again after the operator lifts the block",
    }
}

pub(super) fn insufficient_scope(needed: &[TokenScope]) -> String {
    if needed.is_empty() {
        return "an API token does not allow this request; use a session token of POST /v1/auth/login"
            .to_owned();
    }
    let names: Vec<_> = needed.iter().map(|scope| scope.as_str()).collect();
    format!(
        "this API token does not have the scope {}; create an API token with this scope, or use a session token",
        names.join(" or ")
    )
}

pub(super) fn inactive(status: KeyStatus, field: Option<&str>) -> &'static str {
    match (status, field) {
        (KeyStatus::Revoked, Some("to")) => {
            "the recipient's API key is permanently revoked; ask the recipient for a new one"
        }
        (KeyStatus::Rotating, Some("to")) => {
            "the recipient's API key is being rotated, a temporary state; try again shortly"
        }
        (_, Some("to")) => {
            "the recipient's API key is deactivated and cannot receive; ask the recipient to \
             contact the operator"
        }
        (KeyStatus::Revoked, _) => {
            "this API key is permanently revoked; activate a new one and register its webhooks again"
        }
        (KeyStatus::Rotating, _) => {
            "this API key is being rotated, a temporary state; try again shortly"
        }
        _ => "this API key is deactivated; ask the operator to reactivate it",
    }
}

pub(super) fn unknown_key(field: Option<&str>) -> &'static str {
    match field {
        None | Some("api_key_id") => {
            "no such API key; use the api_key_id that the activation returned"
        }
        Some("to") => {
            "no API key or handle has this name; ask the recipient for its API key or handle"
        }
        Some(_) => "no API key or handle has this name; ask its owner for the API key or handle",
    }
}

/// Returns the kind of id that the request should contain, as a noun phrase, for the error about an id of another kind.
/// `code` is the error code that an unknown id would get. `field` is the name of the request field, or `None` for the
/// id of the caller's own key.
pub(super) fn expected_id(code: Code, field: Option<&str>) -> &'static str {
    match (code, field) {
        (Code::EnvelopeNotFound, _) => "the id of an envelope (env_)",
        (Code::TokenNotFound, _) => "the id of an API token (tok_)",
        (Code::WebhookNotFound, _) => "the id of a webhook (wh_)",
        (_, None | Some("api_key_id")) => "an API key (ak_)",
        (_, Some(_)) => "an API key (ak_) or a handle",
    }
}

pub(super) fn unknown_field(
    field: &str,
    nearest: Option<&'static str>,
    known: &[&'static str],
) -> String {
    match nearest {
        Some(nearest) => format!("{field} is an unknown field; did you mean {nearest}?"),
        None if known.is_empty() => format!("{field} is an unknown field; this request takes none"),
        None => format!("{field} is an unknown field; this request takes {}", known.join(", ")),
    }
}

pub(super) fn raw_did(field: &str) -> &'static str {
    match field {
        "to" => {
            "a raw DID is not accepted as a recipient; use the recipient's API key (ak_...) or handle"
        }
        _ => {
            "a raw DID is not accepted here; use the API key (ak_...) or the handle of the identity"
        }
    }
}

pub(super) fn monthly_limit(limit: u32, advice: &AllowanceAdvice) -> String {
    let way_out = match advice {
        AllowanceAdvice::Ask { contact: None } => {
            "ask the operator of the service for a larger allowance".to_owned()
        }
        AllowanceAdvice::Ask { contact: Some(url) } => {
            format!("ask sales for a larger allowance ({url})")
        }
        AllowanceAdvice::Upgrade => "upgrade the plan".to_owned(),
    };
    let limit = count(limit, "message");
    format!(
        "the plan's limit of {limit} per month is reached; {way_out}, or wait for the next month"
    )
}

pub(super) fn rate_limit(window: Window, limit: u32, retry_after: Duration) -> String {
    let (noun, unit) = match window {
        Window::Day => ("request", "day"),
        Window::Minute => ("request", "minute"),
        Window::Second => ("message", "second"),
    };
    let wait_s = whole_seconds(retry_after);
    format!(
        "the plan's limit of {} per {unit} is reached; try again in {wait_s} s",
        count(limit, noun)
    )
}

fn count(number: u32, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Returns the duration in whole seconds, rounded up and at least 1, for the `Retry-After` header.
pub(super) const fn whole_seconds(span: Duration) -> u64 {
    let up = if span.subsec_nanos() > 0 { 1 } else { 0 };
    let seconds = span.as_secs().saturating_add(up);
    if seconds == 0 { 1 } else { seconds }
}

const NEW_ASSESSMENT: &str = "fix the cause, then ask the operator for a new assessment";

/// The advice in the error text to a caller who has used up the monthly messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowanceAdvice {
    /// Ask the operator of the service.
    Ask {
        /// The URL of the sales contact; `None` if the service names none.
        contact: Option<String>,
    },
    /// Upgrade the plan.
    Upgrade,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_rounded_up_to_whole_seconds() {
        assert_eq!(whole_seconds(Duration::ZERO), 1);
        assert_eq!(whole_seconds(Duration::from_millis(999)), 1);
        assert_eq!(whole_seconds(Duration::from_millis(1001)), 2);
        assert_eq!(whole_seconds(Duration::from_secs(35)), 35);
    }
}
