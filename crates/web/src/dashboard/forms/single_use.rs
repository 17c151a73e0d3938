//! Lets a form act once. A form that is sent again, such as by a second click, leads to the result of the first time.

use actix_web::web;
use sealpost_domain::TokenHash;
use sealpost_service::{FormUse, form_hash, new_form_id};

use super::fields::Form;
use crate::{
    dashboard::response::{Flash, Frame, PageResponse},
    state::WebState,
};

/// A form that is marked as used while its act runs. After a rejected act, [`release`](Self::release) removes the mark.
/// The user can then send the form again.
pub(in crate::dashboard) struct SingleUse {
    app: web::Data<WebState>,
    form: TokenHash,
}

impl SingleUse {
    /// Records the use of the form. If the form was used before, returns the response for the repetition as the error.
    pub(in crate::dashboard) async fn begin(
        app: &web::Data<WebState>,
        frame: Frame<'_>,
        form: &Form,
    ) -> Result<Self, PageResponse> {
        let form =
            form_hash(form.text("form_id")).ok_or_else(|| PageResponse::foreign_form(frame))?;
        let used = app.api.sealpost.accounts.use_form(form).await;
        match used.map_err(|error| PageResponse::service_error(frame, &error))? {
            FormUse::First => Ok(Self { app: app.clone(), form }),
            FormUse::Repeated(Some(path)) => Err(Flash::notice(&path, REPEATED).redirect(app)),
            FormUse::Repeated(None) => Err(PageResponse::repeated_form(frame)),
        }
    }

    /// Redirects to the page with the result, and stores its path for a repetition of the form.
    pub(in crate::dashboard) async fn done(self, flash: Flash) -> PageResponse {
        let Self { app, form } = self;
        if let Err(error) =
            app.api.sealpost.accounts.set_form_result(form, flash.path().to_owned()).await
        {
            let error: &dyn std::error::Error = &error;
            tracing::error!(
                error,
                "the result of a form was not stored: a repetition does not find it"
            );
        }
        flash.redirect(&app)
    }

    /// Lets the user send the form again, because its act was rejected.
    pub(in crate::dashboard) async fn release(self) -> Result<(), PageResponse> {
        let Self { app, form } = self;
        let released = app.api.sealpost.accounts.release_form(form).await;
        released.map_err(|error| PageResponse::service_error(Frame::public(&app.site), &error))
    }
}

/// Returns a new id for a form on a page. If the random source fails, the id is empty, and the form is rejected when
/// the user sends it.
pub(in crate::dashboard) fn form_id() -> String {
    new_form_id().unwrap_or_default()
}

const REPEATED: &str = "This form was sent before. It acted once, and nothing was done now.";
