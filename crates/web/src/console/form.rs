//! Extractors of the console's forms. Each extractor rejects a form that a page of another site sent, so that no
//! handler can omit this check.

use actix_web::{
    FromRequest, HttpRequest,
    dev::{Payload, UrlEncoded},
    http::{StatusCode, header},
    web,
};
use futures_util::future::LocalBoxFuture;
use sealpost_service::{Error, Operator, OperatorCall, OperatorError, SentForm, check_reason};
use subtle::ConstantTimeEq as _;

use super::{
    response::{ConsoleFrame, error_page, may_act},
    state::{ConsoleState, console_state},
    user::ConsoleUser,
};
use crate::html::{
    Flash, PageResponse, PageResult, RESULT_WAIT, Rejection, first_result,
    forms::{Draft, Form, FormRefusal, is_same_site, respond},
    store_result,
};

/// A form that needs no session, such as the form to sign in.
pub(super) struct OpenForm {
    pub(super) state: web::Data<ConsoleState>,
    pub(super) form: Form,
}

/// A form that an operator in any role sent with a valid session. The form contains the CSRF token of this session.
pub(super) struct SessionForm {
    pub(super) user: ConsoleUser,
    form: Form,
}

/// A form with an admin action, which changes data. Rejects an operator whose role allows no changes.
pub(super) struct ActForm {
    pub(super) user: ConsoleUser,
    pub(super) form: Form,
}

impl ActForm {
    /// Performs the admin action. The audit trail records the operator, the client address and the reason.
    ///
    /// The error is the response to the form:
    /// - If the service refuses the action, the form's page with the text of the refusal.
    /// - If the service fails, an error page.
    /// - If the form was sent before, the stored response to the first submission.
    pub(super) async fn perform<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Operator) -> Result<T, OperatorError> + Send + 'static,
    ) -> Result<T, FormRefusal> {
        let user = &self.user;
        let call = OperatorCall {
            operator: user.operator.clone(),
            client_address: user.client_address,
            reason: Some(self.reason()?),
        };
        let sealpost = &user.state.admin.api.sealpost;
        let form = self.sent_form()?;
        let failed = |error: Error| FormRefusal::Page(user.error(&error));
        if !sealpost.accounts.use_form(&form).await.map_err(failed)? {
            return Err(FormRefusal::Page(self.repetition(&form).await));
        }
        let error = match sealpost.operate(call, act).await {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let Some(refusal) = error.refusal() else { return Err(failed(error)) };
        sealpost.accounts.release_form(&form).await.map_err(failed)?;
        Err(FormRefusal::Rejected(Rejection::from(refusal)))
    }

    fn sent_form(&self) -> Result<SentForm, FormRefusal> {
        let form = SentForm::parse(self.form.text("form_id"));
        form.ok_or_else(|| FormRefusal::Page(self.user.reject(StatusCode::FORBIDDEN, FOREIGN)))
    }

    /// Returns the response to a form that was sent before: the stored redirect of the first submission. If no result
    /// is stored, returns an error page.
    async fn repetition(&self, form: &SentForm) -> PageResponse {
        let state = &self.user.state;
        match first_result(&state.admin.api.sealpost, form, RESULT_WAIT).await {
            Some(flash) => {
                PageResponse::redirect_to_result(&state.site, &flash, state.result_cookie())
            }
            None => self.user.reject(StatusCode::CONFLICT, REPEATED),
        }
    }

    /// Returns the operator's reason for the action. Rejects the form if the reason breaks the rules of
    /// [`check_reason`]. The rejection names the field `reason-NAME`, in which `NAME` is the name of the form, because
    /// a page can have several forms.
    pub(super) fn reason(&self) -> Result<String, FormRefusal> {
        let reason = self.form.text("reason");
        check_reason(reason).map_err(|fault| {
            let field = format!("reason-{}", self.form.text("form"));
            FormRefusal::field(&field, format!("The reason {fault}."))
        })?;
        Ok(reason.to_owned())
    }

    /// Returns the response to the form after its action. After a success, redirects to the page at `path`, which shows
    /// the notice `result`, and stores this response in case the browser sends the form again. If the form was
    /// rejected, `show` responds with its page.
    pub(super) async fn respond(
        &self,
        path: &str,
        result: Result<&str, FormRefusal>,
        show: impl AsyncFnOnce(Draft<'_>) -> PageResult,
    ) -> PageResult {
        let page = match result {
            Ok(notice) => Ok(self.done(&Flash::notice(path, notice)).await),
            Err(fault) => Err(fault),
        };
        respond(&self.form, page, show).await
    }

    async fn done(&self, flash: &Flash) -> PageResponse {
        let state = &self.user.state;
        if let Ok(form) = self.sent_form() {
            store_result(&state.admin.api.sealpost, &form, flash).await;
        }
        PageResponse::redirect_to_result(&state.site, flash, state.result_cookie())
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
            let frame = ConsoleFrame::public(&state.site);
            if !is_own_form(&state, &request) {
                return Err(error_page(frame, &Rejection::new(StatusCode::FORBIDDEN, FOREIGN)));
            }
            let form = Form::read(fields, state.admin.api.settings.body_timeout).await;
            let unreadable =
                || error_page(frame, &Rejection::new(StatusCode::BAD_REQUEST, UNREADABLE));
            let form = form.ok_or_else(unreadable)?;
            Ok(Self { state, form })
        })
    }
}

impl FromRequest for SessionForm {
    type Error = PageResponse;
    type Future = LocalBoxFuture<'static, Result<Self, PageResponse>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let signed_in = ConsoleUser::signed_in(request).map(drop);
        let open = OpenForm::from_request(request, payload);
        let request = request.clone();
        Box::pin(async move {
            signed_in?;
            let OpenForm { state: _, form } = open.await?;
            // Verifies the session again, because it may have ended while the form was received.
            let user = ConsoleUser::signed_in(&request)?;
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
            Ok(Self { user, form })
        })
    }
}

/// Returns true if the form comes from a page of this console. Over HTTPS, compares the form's origin with the
/// configured URL. Over plain HTTP, compares it with the header `Host`, because operators can reach the console through
/// an SSH tunnel with any port.
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
const REPEATED: &str = "This form was sent before, and it acts only once. Its first result is not known yet: look at the page again.";
