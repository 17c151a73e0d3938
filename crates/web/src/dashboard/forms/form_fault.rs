//! The reason why the action of a form was not performed, and the response to such a form.

use super::{draft::Draft, fields::Form, rejection::Rejection};
use crate::dashboard::response::{PageResponse, PageResult};

/// The reason why the action of a form was not performed now.
pub(crate) enum FormFault {
    /// The response to send: an error page, or, if the form was sent before, the stored response to the first
    /// submission.
    Page(PageResponse),
    /// The form can be corrected and sent again: its page shows the reason.
    Rejected(Rejection),
}

impl FormFault {
    /// Rejects the form, because this field is invalid.
    pub(crate) fn field(field: &str, text: impl Into<String>) -> Self {
        Self::Rejected(Rejection::field(field, text))
    }
}

impl From<PageResponse> for FormFault {
    fn from(page: PageResponse) -> Self {
        Self::Page(page)
    }
}

impl From<Rejection> for FormFault {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

/// Returns the response to a form. If the form was rejected, `show` responds with its page, which has the content of
/// the form and the reason.
pub(crate) async fn respond(
    form: &Form,
    result: Result<PageResponse, FormFault>,
    show: impl AsyncFnOnce(Draft<'_>) -> PageResult,
) -> PageResult {
    match result {
        Ok(page) => Ok(page),
        Err(FormFault::Page(page)) => Err(page),
        Err(FormFault::Rejected(rejection)) => show(Draft::rejected(form, &rejection)).await,
    }
}
