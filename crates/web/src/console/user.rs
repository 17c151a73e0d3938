//! The operator of a request, extracted from the session cookie.

use std::{net::IpAddr, str::FromStr};

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::{Method, StatusCode},
    web,
};
use askama::Template;
use sealpost_service::{Error, Operator, OperatorCall, OperatorError, SignedInOperator};

use super::{
    response::{ConsoleFrame, error_page, invalid_query, rejection_of},
    state::{ConsoleState, console_state},
};
use crate::html::{Flash, PageResponse, Rejection, forms::Draft};

/// An operator with a valid session. The operator can have any role.
pub(super) struct ConsoleUser {
    pub(super) state: web::Data<ConsoleState>,
    pub(super) operator: SignedInOperator,
    pub(super) token: String,
    /// The token that each form of this session must contain, as protection against forms of other sites.
    pub(super) form_token: String,
    pub(super) client_address: Option<IpAddr>,
    /// The result of the form that led to the page of this request.
    flash: Flash,
}

impl ConsoleUser {
    /// Runs a query as this operator, and returns its result. If the query fails, returns an error page as the error.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Operator) -> Result<T, OperatorError> + Send + 'static,
    ) -> Result<T, PageResponse> {
        let call = OperatorCall {
            operator: self.operator.clone(),
            client_address: self.client_address,
            reason: None,
        };
        let result = self.state.admin.api.sealpost.operate(call, query).await;
        result.map_err(|error| self.error(&error))
    }

    /// Returns the layout of a page. `current` is the path of the navigation link to mark as current.
    pub(super) fn frame<'a>(&'a self, current: &'a str) -> ConsoleFrame<'a> {
        let session = Some((&self.operator, self.form_token.as_str()));
        ConsoleFrame { site: &self.state.site, session, current, notice: self.flash.shown() }
    }

    /// Responds with a page.
    pub(super) fn show(&self, current: &str, title: &str, main: &impl Template) -> PageResponse {
        self.frame(current).respond(StatusCode::OK, title, main)
    }

    /// Responds with the page of a form. After a rejection, the response has the status and the headers of the
    /// rejection.
    pub(super) fn show_form(
        &self,
        current: &str,
        title: &str,
        draft: Draft<'_>,
        main: &impl Template,
    ) -> PageResponse {
        match draft.rejection() {
            None => self.show(current, title, main),
            Some(rejection) => self
                .frame(current)
                .respond(rejection.status, title, main)
                .with_headers_of(rejection),
        }
    }

    /// Returns the path of the base URL, with which every link starts.
    pub(super) fn base(&self) -> &str {
        &self.state.site.base_path
    }

    /// Responds with an error page.
    pub(super) fn error(&self, error: &Error) -> PageResponse {
        error_page(self.frame(""), &rejection_of(error))
    }

    /// Parses a parameter of the address, such as a cursor. Returns `None` if the parameter is empty. If its value is
    /// invalid, returns an error page as the error.
    pub(super) fn parameter<T: FromStr>(&self, text: &str) -> Result<Option<T>, PageResponse> {
        let given = Some(text).filter(|text| !text.is_empty());
        let parsed = given.map(str::parse::<T>).transpose();
        parsed.map_err(|_invalid| self.wrong_address())
    }

    /// Responds with an error page for an address with an invalid parameter.
    pub(super) fn wrong_address(&self) -> PageResponse {
        invalid_query(self.frame(""))
    }

    /// Responds with an error page with this status and text.
    pub(super) fn reject(&self, status: StatusCode, text: &str) -> PageResponse {
        error_page(self.frame(""), &Rejection::new(status, text))
    }
}

/// Redirects to the sign-in page. If the request is a form with an admin action, the page shows that nothing was done.
fn redirect_to_sign_in(state: &ConsoleState, request: &HttpRequest) -> PageResponse {
    let is_act = request.method() == Method::POST && !request.path().ends_with("/sign-out");
    let path = if is_act { "/console/sign-in?ended=1" } else { "/console/sign-in" };
    PageResponse::redirect(&state.site, path)
}

impl ConsoleUser {
    /// Returns the operator of a request. If the request has no valid session, returns a redirect to the sign-in page
    /// as the error.
    pub(super) fn signed_in(request: &HttpRequest) -> Result<Self, PageResponse> {
        let state = console_state(request)?;
        let access = &state.admin.access;
        // Deletes no cookie if the request has none. The browser may still have a session, because it does not send a
        // `SameSite=Strict` cookie if the user follows a link from another site.
        let token = state
            .session_cookie()
            .value_in(request)
            .ok_or_else(|| redirect_to_sign_in(&state, request))?;
        let session = access.operator_of(&token).zip(access.form_token(&token));
        let Some((operator, form_token)) = session else {
            let deletion = state.session_cookie().deletion();
            return Err(redirect_to_sign_in(&state, request).with_cookie(&deletion));
        };
        let client_address = state.admin.source(request).address;
        let flash = Flash::read(request).unwrap_or_default();
        Ok(Self { state, operator, token, form_token, client_address, flash })
    }
}

impl FromRequest for ConsoleUser {
    type Error = PageResponse;
    type Future = std::future::Ready<Result<Self, PageResponse>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        std::future::ready(Self::signed_in(request))
    }
}
