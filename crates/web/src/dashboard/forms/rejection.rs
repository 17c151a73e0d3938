//! Why a form was not carried out: what its page says to people, and the head of the answer to programs.

use actix_web::{ResponseError as _, http::StatusCode};
use sealpost_api::Problem;
use sealpost_domain::Refusal;

/// A refusal, as a page says it.
pub(super) struct Refused {
    pub(super) text: String,
    pub(super) status: StatusCode,
    pub(super) retry_after_s: Option<u64>,
}

impl Refused {
    /// Something that was filled in cannot be right.
    pub(super) fn field(text: impl Into<String>) -> Self {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Self { text: text.into(), status, retry_after_s: None }
    }
}

/// What the API would have said.
impl From<&Problem> for Refused {
    fn from(problem: &Problem) -> Self {
        Self {
            text: problem.to_string(),
            status: problem.status_code(),
            retry_after_s: problem.retry_after_s(),
        }
    }
}

impl From<&Refusal> for Refused {
    fn from(refusal: &Refusal) -> Self {
        Self {
            text: refusal.to_string(),
            status: Problem::status_of(refusal.code()),
            retry_after_s: refusal.retry_after_s(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_refuses_with_the_status_and_the_wait_of_the_api() {
        let seen = |refusal: &Refusal| {
            let Refused { status, retry_after_s, text } = Refused::from(refusal);
            assert_eq!(text, refusal.to_string());
            (status.as_u16(), retry_after_s)
        };
        assert_eq!(seen(&Refusal::Unavailable), (503, Some(1)));
        assert_eq!(seen(&Refusal::HandleTaken), (409, None));
        assert_eq!(seen(&Refusal::Unauthorized("wrong")), (401, None));
    }
}
