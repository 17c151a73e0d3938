//! Ensures that a form performs its action only once. If a browser sends the form again, for example after a second
//! click, it gets the result of the first submission. This result includes secrets, because the browser may have
//! dropped the first response.

use std::time::Duration;

use actix_web::web;
use sealpost_domain::with_causes;
use sealpost_service::{Error, Sealpost, SentForm, new_form_id};

use super::{fields::Form, form_fault::FormFault};
use crate::{
    dashboard::{
        response::{Flash, Frame, PageResponse},
        session::SignedInUser,
    },
    state::WebState,
};

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
    ) -> Result<T, FormFault> {
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

/// Returns the stored result of a form that was sent before. Waits up to `wait` for the first use to store it. `None`
/// if no result is stored by then.
///
/// Later than two minutes after the first use, returns only a notice instead of the whole result.
pub(crate) async fn first_result(
    sealpost: &Sealpost,
    form: &SentForm,
    wait: Duration,
) -> Option<Flash> {
    let stored = sealpost.accounts.form_result(form, wait).await;
    let result = stored.inspect_err(log_lost_result).ok().flatten()?;
    let flash = Flash::from_json(&result.content)?;
    Some(if result.is_recent { flash } else { Flash::notice(flash.path(), REPEATED) })
}

/// Stores the result of a used form, in case the browser sends the form again. Only logs an error, because the action
/// has been performed.
pub(crate) async fn store_result(sealpost: &Sealpost, form: &SentForm, flash: &Flash) {
    let stored = sealpost.accounts.set_form_result(form, &flash.to_json()).await;
    if let Err(error) = stored {
        log_lost_result(&error);
    }
}

fn log_lost_result(error: &Error) {
    tracing::error!(
        error = with_causes(error),
        "the result of a form is not stored or not found for a repetition"
    );
}

/// Returns a new id for a form on a page. If the random source fails, the id is empty, and the form is rejected when
/// the user sends it.
pub(crate) fn form_id() -> String {
    new_form_id().unwrap_or_default()
}

/// Maximum time for which a repeated form waits for the result of the first use.
pub(crate) const RESULT_WAIT: Duration = Duration::from_secs(10);
const REPEATED: &str = "This form was sent before. It acted once, and nothing was done now.";
