//! The page that recovers an account with its recovery code, after the login secret was lost.

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_api::{Problem, recover};
use sealpost_domain::Code;
use sealpost_service::Recovery;

use super::account::SecretsPage;
use crate::{
    dashboard::{forms::SingleUse, response::Frame},
    html::{
        Flash, PageResponse, PageResult, Rejection,
        forms::{Draft, Form},
    },
    state::WebState,
};

#[derive(Template)]
#[template(path = "dashboard/recover.html")]
struct RecoverPage<'a> {
    base: &'a str,
    draft: Draft<'a>,
}

pub(crate) async fn show(app: web::Data<WebState>) -> PageResponse {
    page(&app, Draft::default())
}

pub(crate) async fn submit(
    app: web::Data<WebState>,
    request: HttpRequest,
    form: Form,
) -> PageResult {
    let recovery = Recovery {
        account_id: form.text("account_id").to_owned(),
        recovery_code: form.text("recovery_code").to_owned(),
    };
    match recover(&app.api, &request, recovery).await {
        Ok(secrets) => {
            let result = Flash::notice("/dashboard/recovered", "The account is recovered.")
                .show_once("account_id", secrets.account_id.to_string())
                .show_once("login_secret", secrets.login_secret)
                .show_once("recovery_code", secrets.recovery_code);
            Ok(SingleUse::record(&app, &form, result).await)
        }
        Err(Problem::Service { error, .. }) if error.refusal().is_none() => {
            Err(PageResponse::service_error(Frame::public(&app.site), &error))
        }
        Err(problem) => {
            let mut rejection = Rejection::from(&problem);
            if problem.code() == Code::Unauthorized {
                // The form may have been sent twice. A recovery code works only once, so the repeated form fails. The
                // browser then gets the response to the first form.
                if let Some(first) = SingleUse::earlier(&app, &form).await {
                    return Ok(first.redirect(&app));
                }
                WRONG.clone_into(&mut rejection.text);
            }
            Ok(page(&app, Draft::rejected(&form, &rejection.at("recovery_code"))))
        }
    }
}

/// Shows the new secrets once. Needs no session, because the recovery has ended all sessions.
pub(crate) async fn show_recovered(app: web::Data<WebState>, result: Flash) -> PageResponse {
    let main = SecretsPage { base: &app.site.base_path, result: &result };
    let frame = Frame { notice: result.shown(), ..Frame::public(&app.site) };
    PageResponse::ok(frame, "New secrets", &main)
}

fn page(app: &WebState, draft: Draft<'_>) -> PageResponse {
    let main = RecoverPage { base: &app.site.base_path, draft };
    PageResponse::for_form(Frame::public(&app.site), "Recover an account", draft, &main)
}

const WRONG: &str = "The account or the recovery code is wrong. Nothing was changed.";
