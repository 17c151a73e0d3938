//! The page of the account with its sessions, and the pages that ask for confirmation before all sessions are ended or
//! the secrets are replaced.

use actix_web::HttpRequest;
use askama::Template;
use sealpost_api::admit_secret_change;
use sealpost_domain::Timestamp;
use sealpost_service::{Scope, SessionView, Truncated};

use crate::{
    dashboard::{
        forms::SingleUse,
        session::{EndingUser, SignedInUser},
        text::{ago, program, to_minute},
    },
    html::{
        Flash, PageResponse, PageResult, Rejection,
        forms::{Draft, Form, respond},
    },
};

#[derive(Template)]
#[template(path = "dashboard/account.html")]
struct AccountPage<'a> {
    user: &'a SignedInUser,
    now: Timestamp,
    sessions: Truncated<SessionView>,
}

/// The page that asks for confirmation before all sessions are ended or the secrets are replaced.
#[derive(Template)]
#[template(path = "dashboard/account_question.html")]
struct QuestionPage<'a> {
    user: &'a SignedInUser,
    question: &'static Question,
    needs_secret: bool,
    draft: Draft<'a>,
}

/// The texts of a confirmation page about a critical change of the account.
struct Question {
    title: &'static str,
    consequence: &'static str,
    path: &'static str,
    button: &'static str,
}

/// The page with the new login secret and recovery code. Both are shown once.
#[derive(Template)]
#[template(path = "dashboard/account_secrets.html")]
pub(super) struct SecretsPage<'a> {
    pub(super) base: &'a str,
    pub(super) result: &'a Flash,
}

pub(crate) async fn show(ending: EndingUser) -> PageResult {
    ending
        .run(|user| async move {
            let main = AccountPage {
                user: &user,
                now: user.app.api.clock.now(),
                sessions: user.ask(async |owner| owner.sessions().await).await?,
            };
            Ok(PageResponse::ok(user.frame(), "Account", &main))
        })
        .await
}

/// Ends the session of this browser.
pub(crate) async fn sign_out(ending: EndingUser, form: Form) -> PageResult {
    ending
        .run(|user| async move {
            user.check(&form)?;
            log_out(&user, Scope::Session, SIGNED_OUT).await
        })
        .await
}

/// Ends the session of this browser or all sessions, and shows `notice` on the sign-in page.
async fn log_out(user: &SignedInUser, scope: Scope, notice: &str) -> PageResult {
    let sealpost = &user.app.api.sealpost;
    user.ask(async |owner| sealpost.accounts.logout(owner.session(), scope, owner.source()).await)
        .await?;
    let result = Flash::notice("/dashboard/sign-in", notice).redirect(&user.app);
    Ok(result.with_cookie(&user.app.session_cookie().deletion()))
}

/// Asks for confirmation before all sessions are ended.
pub(crate) async fn ask_sessions(ending: EndingUser) -> PageResult {
    ending.run(|user| async move { ask(&user, &SIGN_OUT_EVERYWHERE, Draft::default()).await }).await
}

/// Ends one session, or all sessions of the account.
pub(crate) async fn end_session(
    ending: EndingUser,
    request: HttpRequest,
    form: Form,
) -> PageResult {
    ending
        .run(|user| async move {
            user.check(&form)?;
            let name = form.text("session").to_owned();
            if name == EVERY_SESSION {
                let result = async {
                    user.confirm(&request, &form).await?;
                    Ok(log_out(&user, Scope::Account, SIGNED_OUT_EVERYWHERE).await?)
                };
                let again = async |draft: Draft<'_>| ask(&user, &SIGN_OUT_EVERYWHERE, draft).await;
                return respond(&form, result.await, again).await;
            }
            let was_live = user.ask(async |owner| owner.end_session(&name).await).await?;
            let notice =
                if was_live { "The session is ended." } else { "The session had ended before." };
            Ok(Flash::notice("/dashboard/account", notice).redirect(&user.app))
        })
        .await
}

/// Asks for confirmation before the secrets are replaced.
pub(crate) async fn ask_secrets(ending: EndingUser) -> PageResult {
    ending.run(|user| async move { ask(&user, &REPLACE_SECRETS, Draft::default()).await }).await
}

/// Replaces the login secret and the recovery code.
pub(crate) async fn replace_secrets(
    ending: EndingUser,
    request: HttpRequest,
    form: Form,
) -> PageResult {
    ending
        .run(|user| async move {
            let result = async {
                user.check(&form)?;
                let owner = user.confirm(&request, &form).await?;
                let single_use = SingleUse::begin(&user.app, user.frame(), &form).await?;
                if let Err(limit) = admit_secret_change(&user.app.api, user.account_id()) {
                    single_use.release().await?;
                    return Err(Rejection::from(&limit).into());
                }
                let secrets = user.app.api.sealpost.accounts.replace_secrets(owner).await;
                let secrets = secrets.map_err(|error| user.error_response(&error))?;
                let result = Flash::notice("/dashboard/account/secrets", "")
                    .show_once("account_id", secrets.account_id.to_string())
                    .show_once("login_secret", secrets.login_secret)
                    .show_once("recovery_code", secrets.recovery_code);
                Ok(single_use.done(result).await)
            };
            let again = async |draft: Draft<'_>| ask(&user, &REPLACE_SECRETS, draft).await;
            respond(&form, result.await, again).await
        })
        .await
}

/// Shows the new secrets once.
pub(crate) async fn show_secrets(ending: EndingUser) -> PageResult {
    ending
        .run(|user| async move {
            let main = SecretsPage { base: user.base(), result: &user.flash };
            Ok(PageResponse::ok(user.frame(), "New secrets", &main))
        })
        .await
}

async fn ask(user: &SignedInUser, question: &'static Question, draft: Draft<'_>) -> PageResult {
    let main = QuestionPage { user, question, needs_secret: user.needs_secret().await?, draft };
    Ok(PageResponse::for_form(user.frame(), question.title, draft, &main))
}

const REPLACE_SECRETS: Question = Question {
    title: "Make new secrets?",
    consequence: "A new login secret and a new recovery code replace the old ones immediately. Open sessions and API \
        tokens continue. If another person may know the old login secret, also sign out everywhere.",
    path: "/dashboard/account/secret",
    button: "Make a new login secret and recovery code",
};
const SIGN_OUT_EVERYWHERE: Question = Question {
    title: "Sign out everywhere?",
    consequence: "This ends all sessions of the account, in browsers and programs, also this one. API tokens continue: \
        revoke them on their own page.",
    path: "/dashboard/account/sessions",
    button: "Sign out everywhere",
};
const SIGNED_OUT: &str = "You are signed out.";
const SIGNED_OUT_EVERYWHERE: &str =
    "All sessions of the account have ended. API tokens continue until you revoke them.";
const EVERY_SESSION: &str = "all";
