//! The page that closes the account. Closing is permanent, so the user must type the login secret.

use std::rc::Rc;

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_api::admit_repetition;
use sealpost_domain::Code;
use sealpost_service::AccountClosed;

use crate::{
    dashboard::{
        forms::SingleUse,
        response::Frame,
        session::{EndingUser, SignedInUser},
    },
    html::{
        Flash, PageResponse, PageResult, Rejection,
        forms::{Draft, Form},
    },
    state::WebState,
};

#[derive(Template)]
#[template(path = "dashboard/close_account.html")]
struct ClosePage<'a> {
    user: &'a SignedInUser,
    draft: Draft<'a>,
}

/// The report about a closed account: the data that was deleted, and the data that stays.
#[derive(Template)]
#[template(path = "dashboard/account_closed.html")]
struct ClosedReport {
    closed: AccountClosed,
}

/// The page after an account was closed, with the HTML of the report.
#[derive(Template)]
#[template(source = "{{ report|safe }}", ext = "html")]
struct ClosedPage<'a> {
    report: &'a str,
}

pub(crate) async fn show(ending: EndingUser) -> PageResult {
    ending.run(|user| async move { Ok(page(&user, Draft::default())) }).await
}

pub(crate) async fn submit(
    app: web::Data<WebState>,
    ending: Result<EndingUser, PageResponse>,
    request: HttpRequest,
    form: Form,
) -> PageResponse {
    let has_session = ending.is_ok();
    let form = Rc::new(form);
    let closed = match ending {
        Ok(ending) => {
            let (request, form) = (request.clone(), Rc::clone(&form));
            let work = |user: SignedInUser| async move {
                let closed = close(&user, &request, &form).await?;
                let report = ClosedReport { closed }.render().unwrap_or_default();
                let result = Flash::notice("/dashboard/sign-in", "");
                let result = result.show_once(REPORT, report.as_str());
                SingleUse::record(&user.app, &form, result).await;
                Ok(closed_page(&user.app, &report))
            };
            ending.run(work).await
        }
        Err(to_sign_in) => Err(to_sign_in),
    };
    match closed {
        Ok(page) => page,
        // The form may have been sent twice. The first use has closed the account and ended the session, but the
        // browser may have dropped the response with the report.
        Err(page) => {
            // Limits the look-ups of results by client address. No other limit applies to requests without a session.
            if !has_session && admit_repetition(&app.api, &request).is_err() {
                return page;
            }
            let first = SingleUse::earlier(&app, &form).await;
            let report = first.as_ref().and_then(|first| first.value(REPORT));
            report.map_or(page, |report| closed_page(&app, report))
        }
    }
}

/// Closes the account. Fails with the page that shows the reason if the account is not closed.
async fn close(
    user: &SignedInUser,
    request: &HttpRequest,
    form: &Form,
) -> Result<AccountClosed, PageResponse> {
    user.check(form)?;
    let rejected = |rejection: &Rejection| page(user, Draft::rejected(form, rejection));
    let login_secret = form.text("login_secret").to_owned();
    let verified = user.verify_secret(request, &login_secret, ATTEMPTED, WRONG_SECRET).await;
    verified.map_err(|rejection| rejected(&rejection))?;
    let sealpost = &user.app.api.sealpost;
    let closed = user
        .ask(async |owner| {
            let owner = owner.session().with_secret(login_secret, owner.source());
            Ok(sealpost.accounts.close(owner).await)
        })
        .await?;
    closed.map_err(|error| match error.refusal() {
        Some(refusal) if refusal.code() == Code::Unauthorized => {
            rejected(&Rejection::field("login_secret", WRONG_SECRET))
        }
        _ => PageResponse::service_error(user.frame(), &error),
    })
}

/// Responds with the report. The session of the browser has ended with the account.
fn closed_page(app: &WebState, report: &str) -> PageResponse {
    PageResponse::ok(Frame::public(&app.site), "Account closed", &ClosedPage { report })
        .with_cookie(&app.session_cookie().deletion())
}

fn page(user: &SignedInUser, draft: Draft<'_>) -> PageResponse {
    let main = ClosePage { user, draft };
    PageResponse::for_form(user.frame(), TITLE, draft, &main)
}

const TITLE: &str = "Close the account";
const ATTEMPTED: &str = "closing the account";
const WRONG_SECRET: &str = "The login secret is wrong. Nothing was closed.";
/// Name of the value with the report in the stored result of the form. If the form is sent again, the page shows this
/// report.
const REPORT: &str = "report";
