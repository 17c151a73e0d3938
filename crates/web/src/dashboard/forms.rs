//! Reads submitted forms, and rejects forms that pages of other sites sent.

mod draft;
mod fields;
mod form_fault;
mod rejection;
pub(crate) mod same_site;
mod single_use;

use actix_web::{
    FromRequest, HttpRequest,
    dev::{Payload, UrlEncoded},
};
use futures_util::future::LocalBoxFuture;

pub(crate) use draft::Draft;
pub(crate) use fields::Form;
pub(crate) use form_fault::{FormFault, respond};
pub(crate) use rejection::Rejection;
pub(super) use single_use::SingleUse;
pub(crate) use single_use::{RESULT_WAIT, first_result, form_id, store_result};

use super::response::{Frame, PageResponse, web_state};

impl FromRequest for Form {
    type Error = PageResponse;
    type Future = LocalBoxFuture<'static, Result<Self, PageResponse>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let request = request.clone();
        let fields = UrlEncoded::new(&request, payload);
        Box::pin(async move {
            let app = web_state(&request)?;
            let frame = Frame::public(&app.site);
            if !same_site::is_same_site(request.headers(), &app.api.settings.base_url) {
                return Err(PageResponse::foreign_form(frame));
            }
            let form = Self::read(fields, app.api.settings.body_timeout).await;
            form.ok_or_else(|| PageResponse::unreadable_form(frame))
        })
    }
}
