//! Who is signed in, and how a page asks the service on their behalf.

use std::sync::Arc;

use actix_web::{FromRequest, HttpRequest, dev::Payload, web};
use futures_util::future::{Ready, ready};
use sealpost_domain::Code;
use sealpost_service::{Error, Owner, Sealpost, form_token};

use super::{cookie, form::Form, page::Page};
use crate::http::App;

/// A browser that shows a session token; whether its session is live is seen with the first question.
pub(super) struct SignedIn {
    pub(super) app: web::Data<App>,
    pub(super) token: String,
    /// What every form of this session carries.
    pub(super) form_token: String,
}

impl SignedIn {
    /// Asks the service, where it may block.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Owner<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Page> {
        let token = self.token.clone();
        self.ask_service(move |sealpost| question(&sealpost.owner(&token)?)).await
    }

    /// The same for what the API does with a session token.
    pub(super) async fn ask_service<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Sealpost) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Page> {
        let sealpost = Arc::clone(&self.app.sealpost);
        let answer =
            web::block(move || question(&sealpost)).await.map_err(|_lost| Page::broken())?;
        answer.map_err(|error| self.explain(&error))
    }

    /// Lets a form act only with the token of this session's own pages.
    pub(super) fn check(&self, form: &Form) -> Result<(), Page> {
        if form.text("form_token") == self.form_token { Ok(()) } else { Err(Page::forged()) }
    }

    fn explain(&self, error: &Error) -> Page {
        match error.refusal() {
            Some(refusal) if refusal.code() == Code::Unauthorized => Page::to_sign_in(&self.app),
            _ => Page::of(error),
        }
    }
}

impl FromRequest for SignedIn {
    type Error = Page;
    type Future = Ready<Result<Self, Page>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let Some(app) = request.app_data::<web::Data<App>>() else {
            return ready(Err(Page::broken()));
        };
        let shown = cookie::token_of(app, request)
            .and_then(|token| form_token(&token).map(|form_token| (token, form_token)));
        ready(match shown {
            Some((token, form_token)) => Ok(Self { app: app.clone(), token, form_token }),
            None => Err(Page::to_sign_in(app)),
        })
    }
}
