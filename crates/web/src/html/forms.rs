//! Tools for forms on pages: the submitted fields, the reason why the action of a form was not performed, and the route
//! of a form.

mod fields;
mod same_site;

use actix_web::{FromRequest, Handler, Responder, Route, web};
use futures_util::future::LocalBoxFuture;
use sealpost_service::new_form_id;

pub(crate) use fields::{Draft, Form};
pub(crate) use same_site::is_same_site;

use super::{
    page_response::{PageResponse, PageResult},
    rejection::Rejection,
};

/// The reason why the action of a form was not performed now.
pub(crate) enum FormRefusal {
    /// The response to send: an error page, or, if the form was sent before, the stored response to the first
    /// submission.
    Page(PageResponse),
    /// The form can be corrected and sent again: its page shows the reason.
    Rejected(Rejection),
}

impl FormRefusal {
    /// Rejects the form, because this field is invalid.
    pub(crate) fn field(field: &str, text: impl Into<String>) -> Self {
        Self::Rejected(Rejection::field(field, text))
    }
}

impl From<PageResponse> for FormRefusal {
    fn from(page: PageResponse) -> Self {
        Self::Page(page)
    }
}

impl From<Rejection> for FormRefusal {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

/// Returns the response to a form. If the form was rejected, `show` responds with its page, which has the content of
/// the form and the reason.
pub(crate) async fn respond(
    form: &Form,
    result: Result<PageResponse, FormRefusal>,
    show: impl AsyncFnOnce(Draft<'_>) -> PageResult,
) -> PageResult {
    match result {
        Ok(page) => Ok(page),
        Err(FormRefusal::Page(page)) => Err(page),
        Err(FormRefusal::Rejected(rejection)) => show(Draft::rejected(form, &rejection)).await,
    }
}

/// Returns a new id for a form on a page. If the random source fails, the id is empty, and the form is rejected when
/// the user sends it.
pub(crate) fn form_id() -> String {
    new_form_id().unwrap_or_default()
}

/// Returns the route of a form, whose handler runs to its end: see [`Detached`]. Forms that end sessions, tokens or
/// keys do not use this function, because [`sealpost_api::run_ending`] runs their work to its end. Their wait for a
/// slot ends with the connection.
pub(crate) fn post<H, Args>(handler: H) -> Route
where
    H: Handler<Args>,
    H::Output: Responder + 'static,
    H::Future: 'static,
    Args: FromRequest + 'static,
{
    web::post().to(Detached(handler))
}

/// The handler of a form, which runs to its end even if the browser closes the connection, for example after a second
/// click. Without this type, actix-web would drop the handler at that moment, possibly between the action and the
/// storage of its result.
#[derive(Clone)]
struct Detached<H>(H);

impl<H, Args> Handler<Args> for Detached<H>
where
    H: Handler<Args>,
    H::Output: 'static,
    H::Future: 'static,
{
    type Output = H::Output;
    type Future = LocalBoxFuture<'static, H::Output>;

    fn call(&self, args: Args) -> Self::Future {
        let work = actix_web::rt::spawn(self.0.call(args));
        Box::pin(async move {
            match work.await.map_err(tokio::task::JoinError::try_into_panic) {
                Ok(output) => output,
                Err(Ok(panic)) => std::panic::resume_unwind(panic),
                // The worker is stopping, and nothing waits for the response.
                Err(Err(_cancelled)) => std::future::pending().await,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn a_form_acts_after_its_browser_has_closed_the_connection() {
        let (acts, mut acted) = tokio::sync::mpsc::channel(1);
        let handler = Detached(move || {
            let acts = acts.clone();
            async move {
                tokio::task::yield_now().await;
                acts.send("done").await
            }
        });
        let response = handler.call(());
        drop((response, handler));
        assert_eq!(acted.recv().await, Some("done"));
    }
}
