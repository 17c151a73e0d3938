//! What a form sends: bounded, from a page of ours, and with the token of the session that it acts for.

use actix_web::{
    FromRequest, HttpRequest,
    dev::{Payload, UrlEncoded},
};
use futures_util::future::LocalBoxFuture;

use super::{
    page::{Page, app_of},
    same_site,
};

/// The fields of a form that one of our pages sent.
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// A field without the white space around it; empty where there is none.
    pub(super) fn text(&self, name: &str) -> &str {
        let field = self.0.iter().find(|(field, _)| field == name);
        field.map_or("", |(_, value)| value.trim())
    }
}

impl FromRequest for Form {
    type Error = Page;
    type Future = LocalBoxFuture<'static, Result<Self, Page>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let request = request.clone();
        let fields = UrlEncoded::new(&request, payload).limit(FORM_LEN_MAX);
        Box::pin(async move {
            let app = app_of(&request)?;
            let place = app.docs.place();
            if !same_site::is_ours(request.headers(), &app.api.base_url) {
                return Err(Page::forged(place));
            }
            match tokio::time::timeout(app.api.body_timeout, fields).await {
                Ok(Ok(fields)) => Ok(Self(fields)),
                Ok(Err(_)) | Err(_) => Err(Page::unreadable(place)),
            }
        })
    }
}

/// Forms are short texts.
const FORM_LEN_MAX: usize = 16 * 1024;
