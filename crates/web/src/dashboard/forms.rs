//! Reads submitted forms, and rejects forms that pages of other sites sent.

mod rejection;
mod same_site;

use actix_web::{
    FromRequest, HttpRequest,
    dev::{Payload, UrlEncoded},
};
use futures_util::future::LocalBoxFuture;

pub(super) use rejection::Rejection;

use super::response::{PageResponse, web_state};

/// The fields of a submitted form. Extraction fails if a page of another site sent the form, or if the form exceeds 16
/// KiB.
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// Returns a field without surrounding white space. A missing field is empty.
    pub(super) fn text(&self, name: &str) -> &str {
        let field = self.0.iter().find(|(field, _)| field == name);
        field.map_or("", |(_, value)| value.trim())
    }

    /// Returns the values of all fields with this name, such as checked boxes.
    pub(super) fn all(&self, name: &str) -> Vec<String> {
        let fields = self.0.iter().filter(|(field, _)| field == name);
        fields.map(|(_, value)| value.trim().to_owned()).collect()
    }
}

impl FromRequest for Form {
    type Error = PageResponse;
    type Future = LocalBoxFuture<'static, Result<Self, PageResponse>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let request = request.clone();
        let fields = UrlEncoded::new(&request, payload).limit(FORM_LEN_MAX);
        Box::pin(async move {
            let app = web_state(&request)?;
            let site = &app.site;
            if !same_site::is_same_site(request.headers(), &app.api.base_url) {
                return Err(PageResponse::foreign_form(site));
            }
            match tokio::time::timeout(app.api.body_timeout, fields).await {
                Ok(Ok(fields)) => Ok(Self(fields)),
                Ok(Err(_)) | Err(_) => Err(PageResponse::unreadable_form(site)),
            }
        })
    }
}

const FORM_LEN_MAX: usize = 16 * 1024;
