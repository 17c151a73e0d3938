//! The signed-in user, extracted from the session cookie. Applies the rate limit, and calls the service as the owner of
//! the account.

use std::time::Instant;

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::{Method, header},
    web,
};
use futures_util::future::LocalBoxFuture;
use sealpost_api::{request_source, run_ending, session_and_account, verify_login_secret};
use sealpost_domain::{AccountId, Code, RequestSource};
use sealpost_service::{
    AccountSession, ConfirmationRefusal, Error, Owner, ProvenOwner, form_token,
};
use subtle::ConstantTimeEq as _;

use super::response::{Frame, FrameSession, web_state};
use crate::{
    html::{
        Flash, PageResponse, Rejection, SiteAddress,
        forms::{Form, FormRefusal, is_same_site},
    },
    state::WebState,
};

/// A user with a valid session at the start of the request. Each call of the service checks the session again.
pub(super) struct SignedInUser {
    pub(super) app: web::Data<WebState>,
    pub(super) token: String,
    pub(super) source: RequestSource,
    /// The token that each form of this session must contain, as protection against forms of other sites.
    pub(super) form_token: String,
    /// The result of the form that led to the page of this request.
    pub(super) flash: Flash,
    session: AccountSession,
    account: String,
    path: String,
    /// The path of the sign-in page if the session ends during the request.
    sign_in: String,
}

/// A user of a page or form that ends sessions, tokens, keys or the account. The rate limit of the dashboard does not
/// apply: an attacker with a stolen session could use it up, so that the owner could not end this session. Frequent
/// requests wait for one of a few slots instead.
pub(super) struct EndingUser(SignedInUser);

impl EndingUser {
    /// Runs `work`, which creates the response, to its end, even if the browser closes the connection. Over the limit
    /// of the session, waits for a slot first, and keeps the slot until the end of `work`.
    ///
    /// Called after the form was read, so that a client that sends slowly occupies no slot.
    pub(super) async fn run<T: 'static, Work>(
        self,
        work: impl FnOnce(SignedInUser) -> Work,
    ) -> Result<T, PageResponse>
    where
        Work: Future<Output = Result<T, PageResponse>> + 'static,
    {
        let Self(user) = self;
        let (app, session) = (user.app.clone(), user.session.token_hash());
        let done = run_ending(&app.api, session, work(user)).await;
        done.unwrap_or_else(|_lost| {
            Err(PageResponse::service_error(Frame::public(&app.site), &Error::Lost))
        })
    }
}

impl SignedInUser {
    /// Returns the user of a request, without a rate limit. If the session has ended, the error is a redirect to the
    /// sign-in page, which leads back to the requested page or to the page of the form.
    async fn signed_in(request: &HttpRequest) -> Result<Self, PageResponse> {
        let app = web_state(request)?;
        let sign_in = sign_in_path(&app, request);
        let to_sign_in = || PageResponse::redirect_to_sign_in(&app, &sign_in);
        let token = app.session_cookie().value_in(request);
        // Deletes no cookie if the request has none. The browser may still have a session, because it does not send a
        // `SameSite=Lax` cookie with a form of another site.
        let token = token.ok_or_else(|| PageResponse::redirect(&app.site, &sign_in))?;
        let form_token = form_token(&token).ok_or_else(to_sign_in)?;
        let source = request_source(&app.api, request);
        let session = match app.api.sealpost.owner(&token, source.clone()).await {
            Ok(owner) => *owner.session(),
            Err(error) => match error.refusal() {
                Some(refusal) if refusal.code() == Code::Unauthorized => return Err(to_sign_in()),
                _ => return Err(PageResponse::service_error(Frame::public(&app.site), &error)),
            },
        };
        let flash = Flash::read(request).unwrap_or_default();
        let (account, path) = (session.account_id().to_string(), request.path().to_owned());
        Ok(Self { app, token, source, form_token, flash, session, account, path, sign_in })
    }

    /// Returns the owner of the account, for calls of the service. The errors are those of [`ask`](Self::ask).
    pub(super) async fn owner(&self) -> Result<Owner<'_>, PageResponse> {
        let owner = self.app.api.sealpost.owner(&self.token, self.source.clone()).await;
        owner.map_err(|error| self.error_response(&error))
    }

    /// Calls the service as the owner of the account. If the session has ended, the error is a redirect to the sign-in
    /// page. Any other error is an error page.
    pub(super) async fn ask<T>(
        &self,
        question: impl AsyncFnOnce(&Owner<'_>) -> Result<T, Error>,
    ) -> Result<T, PageResponse> {
        let result = question(&self.owner().await?).await;
        result.map_err(|error| self.error_response(&error))
    }

    /// Returns the reason of a refused action, for the page of its form. If the service failed instead, fails with the
    /// error page.
    pub(super) fn rejection(&self, error: &Error) -> Result<Rejection, PageResponse> {
        let refusal = error.refusal().map(Rejection::from);
        refusal.ok_or_else(|| PageResponse::service_error(self.frame(), error))
    }

    /// Returns true if a form must ask for the login secret, because the user has not entered the secret within the
    /// last five minutes.
    pub(super) async fn needs_secret(&self) -> Result<bool, PageResponse> {
        Ok(!self.ask(async |owner| owner.is_confirmed().await).await?)
    }

    /// Rejects the form if its login secret is missing or wrong. Does not check the secret if the user entered it
    /// within the last five minutes.
    ///
    /// A wrong secret counts as a failed login of the client address.
    pub(super) async fn confirm(
        &self,
        request: &HttpRequest,
        form: &Form,
    ) -> Result<ProvenOwner, FormRefusal> {
        let secret = Some(form.text("login_secret")).filter(|text| !text.is_empty());
        if let Some(secret) = secret
            && self.needs_secret().await?
        {
            self.verify_secret(request, secret, ATTEMPTED, NOTHING_DONE).await?;
        }
        let owner = self.owner().await?;
        owner.confirm(secret.map(str::to_owned)).await.map_err(|fault| {
            let text = match fault {
                ConfirmationRefusal::Failed(error) => return self.error_response(&error).into(),
                ConfirmationRefusal::Missing => "Give the login secret. Nothing was done.",
                ConfirmationRefusal::Wrong => NOTHING_DONE,
            };
            FormRefusal::field("login_secret", text)
        })
    }

    /// Verifies a login secret. A wrong secret counts as a failed login of the client address. The activity log then
    /// shows `attempted`, the attempted action, and the rejection has the text `wrong`.
    pub(super) async fn verify_secret(
        &self,
        request: &HttpRequest,
        secret: &str,
        attempted: &'static str,
        wrong: &str,
    ) -> Result<(), Rejection> {
        let api = &self.app.api;
        let verified = verify_login_secret(api, request, &self.session, secret, attempted).await;
        verified.map_err(|problem| match problem.code() {
            Code::Unauthorized => Rejection::field("login_secret", wrong),
            _ => Rejection::from(&problem),
        })
    }

    /// Returns the public address of the service.
    pub(super) fn site(&self) -> &SiteAddress {
        &self.app.site
    }

    /// Returns the path of the base URL, with which every link starts.
    pub(super) fn base(&self) -> &str {
        &self.site().base_path
    }

    /// Returns the layout for the pages of this user.
    pub(super) fn frame(&self) -> Frame<'_> {
        let Self { form_token, account, path, .. } = self;
        let session = FrameSession { form_token, account, path };
        Frame { site: self.site(), session: Some(session), notice: self.flash.shown() }
    }

    /// Returns the account of this user.
    pub(super) fn account_id(&self) -> AccountId {
        self.session.account_id()
    }

    /// Rejects a form without the form token of this session.
    pub(super) fn check(&self, form: &Form) -> Result<(), PageResponse> {
        let (sent, own) = (form.text("form_token").as_bytes(), self.form_token.as_bytes());
        if sent.ct_eq(own).into() { Ok(()) } else { Err(PageResponse::foreign_form(self.frame())) }
    }

    /// Counts the request against the rate limit of the dashboard. Returns an error page if the session or the account
    /// has reached its limit.
    fn admit(&self, method: &Method) -> Result<(), PageResponse> {
        let keys = session_and_account(self.session.token_hash(), self.session.account_id());
        let cost = if *method == Method::GET { 1 } else { FORM_COST };
        let admitted = self.app.dashboard.admit(keys, cost, Instant::now());
        admitted.map_err(|retry_after| PageResponse::too_many_requests(self.frame(), retry_after))
    }

    /// Returns the page for an error of the service. Redirects to the sign-in page if the session has ended.
    pub(super) fn error_response(&self, error: &Error) -> PageResponse {
        match error.refusal() {
            Some(refusal) if refusal.code() == Code::Unauthorized => {
                PageResponse::redirect_to_sign_in(&self.app, &self.sign_in)
            }
            _ => PageResponse::service_error(self.frame(), error),
        }
    }
}

/// Returns the path of the sign-in page for a request whose session has ended. After the sign-in, the browser returns
/// to the requested page, or to the page of the form if the request was a form. For a form, the sign-in page also shows
/// that nothing was done.
fn sign_in_path(app: &WebState, request: &HttpRequest) -> String {
    let is_form = request.method() == Method::POST
        && request.path() != "/dashboard/sign-out"
        && is_same_site(request.headers(), &app.api.settings.base_url);
    let next = match request.uri().path_and_query() {
        _ if is_form => {
            let page = request.headers().get(header::REFERER).and_then(|page| page.to_str().ok());
            page.and_then(|page| page.strip_prefix(&*app.site.base_url)).unwrap_or_default()
        }
        Some(path) if request.method() == Method::GET => path.as_str(),
        _ => "",
    };
    let next = if next == "/dashboard" { "" } else { next };
    let Ok(encoded) = askama::filters::urlencode_strict(next);
    match next {
        _ if is_form => format!("/dashboard/sign-in?ended=1&next={encoded}"),
        "" => "/dashboard/sign-in".to_owned(),
        _ => format!("/dashboard/sign-in?next={encoded}"),
    }
}

impl FromRequest for SignedInUser {
    type Error = PageResponse;
    type Future = LocalBoxFuture<'static, Result<Self, PageResponse>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let user = Self::signed_in(&request).await?;
            user.admit(request.method())?;
            Ok(user)
        })
    }
}

impl FromRequest for EndingUser {
    type Error = PageResponse;
    type Future = LocalBoxFuture<'static, Result<Self, PageResponse>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move { SignedInUser::signed_in(&request).await.map(Self) })
    }
}

/// The number of pages that one form counts as in the rate limit. A form costs more than a page, because it may sync
/// the disk, resolve a host name, or start thousands of deliveries.
const FORM_COST: u32 = 4;
/// The name of the attempted action in the activity log after a wrong secret.
const ATTEMPTED: &str = "confirmation on the dashboard";
const NOTHING_DONE: &str = "The login secret is wrong. Nothing was done.";
