//! Who is signed in, how often they may ask, and how a page asks the service on their behalf.

use actix_web::{FromRequest, HttpRequest, dev::Payload, http::Method, web};
use futures_util::future::LocalBoxFuture;
use sealpost_domain::Code;
use sealpost_service::{Error, Owner, form_token};
use subtle::ConstantTimeEq as _;

use super::{
    cookie,
    form::Form,
    frame::Frame,
    page::{Page, app_of},
};
use crate::{pages::Place, state::WebState};

/// A browser with a session that was live when it asked; each question to the service looks again.
pub(super) struct SignedIn {
    pub(super) app: web::Data<WebState>,
    pub(super) token: String,
    /// What every form of this session carries.
    pub(super) form_token: String,
}

impl SignedIn {
    /// Asks the service as the owner of the account.
    pub(super) async fn ask<T>(
        &self,
        question: impl AsyncFnOnce(&Owner<'_>) -> Result<T, Error>,
    ) -> Result<T, Page> {
        let asked = async { question(&self.app.api.sealpost.owner(&self.token).await?).await };
        asked.await.map_err(|error| self.explain(&error))
    }

    /// Where the pages are.
    pub(super) fn place(&self) -> &Place {
        self.app.docs.place()
    }

    /// What each link begins with.
    pub(super) fn base(&self) -> &str {
        &self.place().base_path
    }

    /// What stands around this browser's pages.
    pub(super) fn frame(&self) -> Frame<'_> {
        Frame::signed_in(self.place(), &self.form_token)
    }

    /// Lets an account use the dashboard as often as it may: counted by account, because whoever has the login secret
    /// can have any number of sessions.
    async fn admit(&self, method: &Method) -> Result<(), Page> {
        let account = self.ask(async |owner| Ok(owner.account_id())).await?;
        let cost = if *method == Method::GET { 1 } else { COST_OF_A_FORM };
        let admitted = self.app.dashboard.admit(account, cost, self.app.api.clock.now());
        admitted.map_err(|retry_after| Page::throttled(self.place(), retry_after))
    }

    /// Lets a form act only with the token of this session's own pages.
    pub(super) fn check(&self, form: &Form) -> Result<(), Page> {
        let (sent, own) = (form.text("form_token").as_bytes(), self.form_token.as_bytes());
        if sent.ct_eq(own).into() { Ok(()) } else { Err(Page::forged(self.place())) }
    }

    fn explain(&self, error: &Error) -> Page {
        match error.refusal() {
            Some(refusal) if refusal.code() == Code::Unauthorized => Page::to_sign_in(&self.app),
            _ => Page::of(self.place(), error),
        }
    }
}

impl FromRequest for SignedIn {
    type Error = Page;
    type Future = LocalBoxFuture<'static, Result<Self, Page>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let app = app_of(&request)?;
            let shown = cookie::token_of(&app, &request)
                .and_then(|token| form_token(&token).map(|form_token| (token, form_token)));
            let (token, form_token) = shown.ok_or_else(|| Page::to_sign_in(&app))?;
            let who = Self { app, token, form_token };
            who.admit(request.method()).await?;
            Ok(who)
        })
    }
}

/// What a form does costs more than to look: a transaction that waits for the disk, a look-up of a name, or thousands of
/// notices.
const COST_OF_A_FORM: u32 = 4;
