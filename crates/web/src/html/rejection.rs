//! The rejection of a submitted form: the error text for its page, and the status and headers of the response.

use actix_web::{ResponseError as _, http::StatusCode};
use sealpost_api::{Problem, status_and_title};
use sealpost_domain::Refusal;

/// The reason for a rejected form or request. `field` is the id of the field that caused the rejection; `None` if no
/// single field did. `retry_after_s` is the value of the header `Retry-After`; `None` without this header.
pub(crate) struct Rejection {
    pub(crate) text: String,
    pub(crate) field: Option<String>,
    pub(crate) status: StatusCode,
    pub(crate) retry_after_s: Option<u64>,
}

impl Rejection {
    /// Rejects a request, without a field that caused the rejection.
    pub(crate) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { text: text.into(), field: None, status, retry_after_s: None }
    }

    /// Rejects a form with 422, because one of its fields is invalid.
    pub(crate) fn field(field: &str, text: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, text).at(field)
    }

    /// Replaces the id of the field that caused the rejection. Some fields have another id on the page than in the API.
    pub(crate) fn at(self, field: &str) -> Self {
        Self { field: Some(field.to_owned()), ..self }
    }
}

impl From<&Problem> for Rejection {
    fn from(problem: &Problem) -> Self {
        Self {
            text: sentence(&problem.to_string()),
            field: problem.field().map(str::to_owned),
            status: problem.status_code(),
            retry_after_s: problem.retry_after_s(),
        }
    }
}

impl From<&Refusal> for Rejection {
    fn from(refusal: &Refusal) -> Self {
        Self {
            text: sentence(&refusal.to_string()),
            field: refusal.field().map(str::to_owned),
            status: status_and_title(refusal.code()).0,
            retry_after_s: refusal.retry_after_s(),
        }
    }
}

/// Converts an error text of the API into a sentence. Such texts begin with a lower-case letter and have no full stop.
fn sentence(text: &str) -> String {
    if let Some(rest) = text.strip_prefix("url ") {
        return sentence(&format!("URL {rest}"));
    }
    for state in ["disabled", "paused"] {
        if let Some(rest) = text.strip_prefix(&format!("webhook_id names a {state} webhook")) {
            return sentence(&format!("the webhook is {state}{rest}"));
        }
    }
    let mut symbols = text.chars();
    let first = symbols.next().map(|symbol| symbol.to_uppercase().to_string());
    let end = if text.ends_with('.') { "" } else { "." };
    format!("{}{}{end}", first.unwrap_or_default(), symbols.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_has_the_status_and_retry_after_of_the_api() {
        let seen = |refusal: &Refusal| {
            let Rejection { status, retry_after_s, text, .. } = Rejection::from(refusal);
            assert_eq!(text, sentence(&refusal.to_string()));
            (status.as_u16(), retry_after_s)
        };
        assert_eq!(seen(&Refusal::Unavailable), (503, Some(1)));
        assert_eq!(seen(&Refusal::HandleTaken), (409, None));
        assert_eq!(seen(&Refusal::Unauthorized("wrong")), (401, None));
    }

    #[test]
    fn error_texts_become_sentences() {
        assert_eq!(sentence("the handle is taken"), "The handle is taken.");
        assert_eq!(sentence("url must be https"), "URL must be https.");
        assert_eq!(sentence("Wait."), "Wait.");
        assert_eq!(
            sentence("webhook_id names a paused webhook; resume it first"),
            "The webhook is paused; resume it first."
        );
    }
}
