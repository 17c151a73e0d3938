//! Reads the forms of the dashboard, and rejects forms that pages of other sites sent.
//!
//! A [`SingleUse`] form performs its action only once. If a browser sends the form again, for example after a second
//! click, it gets the result of the first submission. This result includes secrets, because the browser may have
//! dropped the first response.

use std::time::Duration;

use actix_web::{
    FromRequest, HttpRequest,
    dev::{Payload, UrlEncoded},
    web,
};
use futures_util::future::LocalBoxFuture;
use sealpost_service::{Error, SentForm};

use super::{
    response::{Frame, web_state},
    session::SignedInUser,
};
use crate::{
    html::{
        Flash, PageResponse, RESULT_WAIT, first_result,
        forms::{Form, FormRefusal, is_same_site},
        log_lost_result, store_result,
    },
    state::WebState,
};

impl FromRequest for Form {
    type Error = PageResponse;
    type Future = LocalBoxFuture<'static, Result<Self, PageResponse>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let request = request.clone();
        let fields = UrlEncoded::new(&request, payload);
        Box::pin(async move {
            let app = web_state(&request)?;
            let frame = Frame::public(&app.site);
            if !is_same_site(request.headers(), &app.api.settings.base_url) {
                return Err(PageResponse::foreign_form(frame));
            }
            let form = Self::read(fields, app.api.settings.body_timeout).await;
            form.ok_or_else(|| PageResponse::unreadable_form(frame))
        })
    }
}

/// A form that is marked as used, so that its action is not performed again. If the action is rejected,
/// [`release`](Self::release) removes the mark, so that the user can send the form again.
pub(crate) struct SingleUse {
    app: web::Data<WebState>,
    form: SentForm,
}

impl SingleUse {
    /// Marks the form as used. If the form was used before, fails with the response to send: the result of the first
    /// use, or an error page if no result is stored.
    pub(crate) async fn begin(
        app: &web::Data<WebState>,
        frame: Frame<'_>,
        form: &Form,
    ) -> Result<Self, PageResponse> {
        let form = SentForm::parse(form.text("form_id"))
            .ok_or_else(|| PageResponse::foreign_form(frame))?;
        let used = app.api.sealpost.accounts.use_form(&form).await;
        if used.map_err(|error| PageResponse::service_error(frame, &error))? {
            return Ok(Self { app: app.clone(), form });
        }
        match first_result(&app.api.sealpost, &form, RESULT_WAIT).await {
            Some(flash) => Err(flash.redirect(app)),
            None => Err(PageResponse::repeated_form(frame)),
        }
    }

    /// Marks a form as used after its action has succeeded, and redirects to the page with the result. Use this
    /// function only for an action that cannot succeed twice, such as a recovery. Mark other forms before their action:
    /// see [`begin`](Self::begin).
    pub(crate) async fn record(
        app: &web::Data<WebState>,
        form: &Form,
        flash: Flash,
    ) -> PageResponse {
        let Some(form) = SentForm::parse(form.text("form_id")) else {
            return flash.redirect(app);
        };
        if let Err(error) = app.api.sealpost.accounts.use_form(&form).await {
            log_lost_result(&error);
            return flash.redirect(app);
        }
        Self { app: app.clone(), form }.done(flash).await
    }

    /// Returns the result of an earlier use of the same form. Called after the action was rejected, because the
    /// rejected form may be a repetition. Waits up to one second for the result of an earlier action that is still
    /// running.
    pub(crate) async fn earlier(app: &web::Data<WebState>, form: &Form) -> Option<Flash> {
        let form = SentForm::parse(form.text("form_id"))?;
        first_result(&app.api.sealpost, &form, Duration::from_secs(1)).await
    }

    /// Redirects to the page with the result. Also stores the result, in case the browser sends the form again.
    pub(crate) async fn done(self, flash: Flash) -> PageResponse {
        let Self { app, form } = self;
        store_result(&app.api.sealpost, &form, &flash).await;
        flash.redirect(&app)
    }

    /// Returns the value of a successful action. If the service refused the action, removes the mark and rejects the
    /// form. If the service failed, keeps the mark, because the action may have been performed.
    pub(crate) async fn unless_refused<T>(
        &self,
        user: &SignedInUser,
        result: Result<T, Error>,
    ) -> Result<T, FormRefusal> {
        match result {
            Ok(value) => Ok(value),
            Err(error) => {
                let rejection = user.rejection(&error)?;
                self.release().await?;
                Err(rejection.into())
            }
        }
    }

    /// Removes the mark that the form was used, so that the user can send it again. Called after the action was
    /// rejected.
    pub(crate) async fn release(&self) -> Result<(), PageResponse> {
        let Self { app, form } = self;
        let released = app.api.sealpost.accounts.release_form(form).await;
        released.map_err(|error| PageResponse::service_error(Frame::public(&app.site), &error))
    }
}
