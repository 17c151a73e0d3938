//! Lets a form act once. A form that is sent again, such as by a second click, leads to the result of the first time.
//! The browser may have dropped the first response, so the repetition has the whole result, with the secrets in it.

use std::time::Duration;

use actix_web::web;
use sealpost_domain::with_causes;
use sealpost_service::{Sealpost, SentForm, new_form_id};

use super::fields::Form;
use crate::{
    dashboard::response::{Flash, Frame, PageResponse},
    state::WebState,
};

/// A form that is marked as used while its act runs. After a rejected act, [`release`](Self::release) removes the mark.
/// The user can then send the form again.
pub(in crate::dashboard) struct SingleUse {
    app: web::Data<WebState>,
    form: SentForm,
}

impl SingleUse {
    /// Records the use of the form. If the form was used before, returns the response for the repetition as the error.
    pub(in crate::dashboard) async fn begin(
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

    /// Records the use of a form whose act has succeeded and cannot succeed twice, such as a recovery. Redirects to the
    /// page with the result.
    pub(in crate::dashboard) async fn record(
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

    /// Returns the result of a form whose act was rejected, if the same form has succeeded before. Waits a second for
    /// an act that still runs.
    pub(in crate::dashboard) async fn earlier(
        app: &web::Data<WebState>,
        form: &Form,
    ) -> Option<Flash> {
        let form = SentForm::parse(form.text("form_id"))?;
        first_result(&app.api.sealpost, &form, Duration::from_secs(1)).await
    }

    /// Redirects to the page with the result, and stores the result for a repetition of the form.
    pub(in crate::dashboard) async fn done(self, flash: Flash) -> PageResponse {
        let Self { app, form } = self;
        store_result(&app.api.sealpost, &form, &flash).await;
        flash.redirect(&app)
    }

    /// Lets the user send the form again, because its act was rejected.
    pub(in crate::dashboard) async fn release(self) -> Result<(), PageResponse> {
        let Self { app, form } = self;
        let released = app.api.sealpost.accounts.release_form(&form).await;
        released.map_err(|error| PageResponse::service_error(Frame::public(&app.site), &error))
    }
}

/// Returns the result of a form that was sent before, for its repetition: the whole result within two minutes of the
/// first use, and later a notice for the same page. Waits up to `wait` for the act of the first use. `None` if no
/// result is stored by then.
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

/// Stores the result of a used form for a repetition. An error is only logged, because the act is done.
pub(crate) async fn store_result(sealpost: &Sealpost, form: &SentForm, flash: &Flash) {
    let stored = sealpost.accounts.set_form_result(form, &flash.to_json()).await;
    if let Err(error) = stored {
        log_lost_result(&error);
    }
}

fn log_lost_result(error: &sealpost_service::Error) {
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

/// Time for which a repetition waits for the act of the first use.
pub(crate) const RESULT_WAIT: Duration = Duration::from_secs(10);
const REPEATED: &str = "This form was sent before. It acted once, and nothing was done now.";
