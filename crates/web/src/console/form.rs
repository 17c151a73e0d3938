//! Extractors of the console's forms. They reject forms that pages of other sites sent, so that no handler can omit
//! this check.

use actix_web::{
    FromRequest, HttpRequest,
    dev::{Payload, UrlEncoded},
    http::{StatusCode, header},
    web,
};
use futures_util::future::LocalBoxFuture;
use sealpost_service::{Operator, OperatorCall, OperatorError};
use subtle::ConstantTimeEq as _;

use super::{
    response::{ConsoleFrame, error_page, may_act, rejection},
    state::{ConsoleState, console_state},
    user::ConsoleUser,
};
use crate::dashboard::{
    forms::{Form, same_site::is_same_site},
    response::PageResponse,
};

/// A form without a session, such as the form to sign in.
pub(super) struct OpenForm {
    pub(super) state: web::Data<ConsoleState>,
    pub(super) form: Form,
}

/// A form that an operator with a valid session sent, in any role. The form contained the session's form token, which
/// protects against forms of other sites.
pub(super) struct SessionForm {
    pub(super) user: ConsoleUser,
    form: Form,
}

/// A form for an act (a change by an operator). The role of the operator allows acts, and the form contains a reason.
pub(super) struct ActForm {
    pub(super) user: ConsoleUser,
    pub(super) form: Form,
    reason: String,
}

impl ActForm {
    /// Performs the act. The audit trail records the operator, the client address and the reason.
    pub(super) async fn perform<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Operator) -> Result<T, OperatorError> + Send + 'static,
    ) -> Result<T, PageResponse> {
        let user = &self.user;
        let call = OperatorCall {
            operator: user.operator.clone(),
            client_address: user.client_address,
            reason: Some(self.reason.clone()),
        };
        let result = user.state.admin.api.sealpost.operate(call, act).await;
        result.map_err(|error| user.error(&error))
    }

    /// Returns the reason for the act.
    pub(super) fn reason(&self) -> &str {
        &self.reason
    }

    /// Redirects to `path`. Called after [`Self::perform`] succeeded.
    pub(super) fn done(&self, path: &str) -> PageResponse {
        PageResponse::redirect(&self.user.state.site, path)
    }

    /// Returns an error page for a form with an invalid field. `text` explains the fault.
    pub(super) fn invalid(&self, text: &str) -> PageResponse {
        self.user.reject(StatusCode::UNPROCESSABLE_ENTITY, text)
    }
}

impl FromRequest for OpenForm {
    type Error = PageResponse;
    type Future = LocalBoxFuture<'static, Result<Self, PageResponse>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let fields = UrlEncoded::new(request, payload);
        let request = request.clone();
        Box::pin(async move {
            let state = console_state(&request)?;
            let frame = ConsoleFrame { site: &state.site, session: None, current: "" };
            if !is_own_form(&state, &request) {
                return Err(error_page(frame, &rejection(StatusCode::FORBIDDEN, FOREIGN)));
            }
            let form = Form::read(fields, state.admin.api.body_timeout).await;
            let unreadable = || error_page(frame, &rejection(StatusCode::BAD_REQUEST, UNREADABLE));
            let form = form.ok_or_else(unreadable)?;
            Ok(Self { state, form })
        })
    }
}

impl FromRequest for SessionForm {
    type Error = PageResponse;
    type Future = LocalBoxFuture<'static, Result<Self, PageResponse>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let user = ConsoleUser::of(request);
        let open = OpenForm::from_request(request, payload);
        Box::pin(async move {
            let user = user?;
            let OpenForm { state: _, form } = open.await?;
            let (sent, own) = (form.text("form_token").as_bytes(), user.form_token.as_bytes());
            if sent.ct_eq(own).into() {
                Ok(Self { user, form })
            } else {
                Err(user.reject(StatusCode::FORBIDDEN, FOREIGN))
            }
        })
    }
}

impl FromRequest for ActForm {
    type Error = PageResponse;
    type Future = LocalBoxFuture<'static, Result<Self, PageResponse>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let session = SessionForm::from_request(request, payload);
        Box::pin(async move {
            let SessionForm { user, form } = session.await?;
            if !may_act(&user.operator) {
                return Err(user.reject(StatusCode::FORBIDDEN, VIEWER));
            }
            let reason = form.text("reason").to_owned();
            if !(1..=REASON_LEN_MAX).contains(&reason.chars().count()) {
                return Err(user.reject(StatusCode::UNPROCESSABLE_ENTITY, NO_REASON));
            }
            Ok(Self { user, form, reason })
        })
    }
}

/// Returns true if the form comes from a page of this console. Over HTTPS, compares the form's origin with the
/// configured URL.
///
/// Over plain HTTP, compares the origin with the header `Host`, because operators can reach the console through an SSH
/// tunnel with any port.
fn is_own_form(state: &ConsoleState, request: &HttpRequest) -> bool {
    if state.is_secure {
        return is_same_site(request.headers(), &state.site.base_url);
    }
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    is_same_site(request.headers(), &format!("http://{}", host.unwrap_or_default()))
}

const FOREIGN: &str =
    "The form was not sent from a page of your current session. Open the page again and repeat it.";
const UNREADABLE: &str = "The form was incomplete, too long, or arrived too slowly. Try again.";
const VIEWER: &str = "Your role is viewer, which may not change anything.";
const NO_REASON: &str = "Give a reason of 1 to 1,000 characters. It is in the audit trail.";
const REASON_LEN_MAX: usize = 1_000;
