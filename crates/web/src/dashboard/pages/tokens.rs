//! The page of the account's API tokens.

use std::time::Duration;

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_domain::{KeyStatus, Label, Refusal, TokenScope};
use sealpost_service::{ApiTokenView, CreateApiToken, KeyStanding};

use crate::{
    dashboard::{
        forms::SingleUse,
        session::{EndingUser, SignedInUser},
    },
    html::{
        Flash, PageResponse, PageResult, Rejection,
        forms::{Draft, Form, respond},
        text::when,
    },
};

#[derive(Template)]
#[template(path = "dashboard/tokens.html")]
struct TokensPage<'a> {
    user: &'a SignedInUser,
    tokens: Vec<ApiTokenView>,
    keys: Vec<KeyStanding>,
    needs_secret: bool,
    draft: Draft<'a>,
}

/// The page with a new token. The token is shown once.
#[derive(Template)]
#[template(path = "dashboard/token.html")]
struct TokenPage<'a> {
    base: &'a str,
    token: &'a ApiTokenView,
    result: &'a Flash,
}

pub(crate) async fn show(ending: EndingUser) -> PageResult {
    ending.run(|user| async move { page(&user, Draft::default()).await }).await
}

/// Creates a token, and redirects to the page that shows it.
pub(crate) async fn create(user: SignedInUser, request: HttpRequest, form: Form) -> PageResult {
    let result = async {
        user.check(&form)?;
        let create = token_of(&form)?;
        let owner = user.confirm(&request, &form).await?;
        let single_use = SingleUse::begin(&user.app, user.frame(), &form).await?;
        let created = user.app.api.sealpost.accounts.create_api_token(owner, create).await;
        let created = single_use.unless_refused(&user, created).await?;
        let page = format!("/dashboard/tokens/{}", created.token_id);
        Ok(single_use.done(Flash::notice(&page, "").show_once("token", created.token)).await)
    };
    respond(&form, result.await, async |draft| page(&user, draft).await).await
}

/// Shows a token. The text of the token is shown once.
pub(crate) async fn show_token(user: SignedInUser, id: web::Path<String>) -> PageResult {
    let tokens = tokens_of(&user).await?;
    let token = tokens.iter().find(|token| token.token_id.to_string() == *id);
    let token = token.ok_or_else(|| PageResponse::not_found(user.frame()))?;
    let main = TokenPage { base: user.base(), token, result: &user.flash };
    Ok(PageResponse::ok(user.frame(), token.name.as_str(), &main))
}

pub(crate) async fn revoke(ending: EndingUser, token: web::Path<String>, form: Form) -> PageResult {
    ending
        .run(|user| async move {
            user.check(&form)?;
            let (sealpost, token) = (&user.app.api.sealpost, token.into_inner());
            let revoked = user
                .ask(async move |owner| {
                    let (session, source) = (owner.session(), owner.source());
                    Ok(sealpost.accounts.revoke_api_token(session, token, source).await)
                })
                .await?;
            match revoked {
                Ok(_) => {
                    let result = Flash::notice("/dashboard/tokens", "The API token is revoked.");
                    Ok(SingleUse::record(&user.app, &form, result).await)
                }
                // The form may have been sent twice. A second revocation fails, so the repeated form gets the response
                // of the first. Another form, for example in another tab, may have revoked the token before.
                Err(error) => match (SingleUse::earlier(&user.app, &form).await, error.refusal()) {
                    (Some(first), _) => Ok(first.redirect(&user.app)),
                    (None, Some(Refusal::TokenNotFound)) => {
                        Ok(Flash::outcome("/dashboard/tokens", Err(NO_TOKEN.to_owned()))
                            .redirect(&user.app))
                    }
                    (None, _) => Err(user.error_response(&error)),
                },
            }
        })
        .await
}

/// Reads the form of a new token.
fn token_of(form: &Form) -> Result<CreateApiToken, Rejection> {
    let name = Label::parse_new(form.text("name"))
        .map_err(|fault| Rejection::field("name", format!("The name {fault}.")))?;
    let is_chosen = |scope: &TokenScope| form.all(scope.as_str()).iter().any(|sent| sent == "on");
    let scopes: Vec<_> = TokenScope::ALL.into_iter().filter(is_chosen).collect();
    if scopes.is_empty() {
        return Err(Rejection::field("scopes", "Choose at least one scope."));
    }
    let days = form.text("expires_in_days").parse().ok().filter(|days| (1..=366).contains(days));
    let days: u64 = days.ok_or_else(|| Rejection::field("expires_in_days", LIFETIME))?;
    Ok(CreateApiToken {
        api_key_id: form.text("api_key_id").to_owned(),
        name,
        scopes: scopes.into_iter().collect(),
        expires_in: Duration::from_hours(24 * days),
    })
}

async fn page(user: &SignedInUser, draft: Draft<'_>) -> PageResult {
    let tokens = tokens_of(user).await?;
    let keys = user.ask(async |owner| Ok(owner.keys().await?.first)).await?;
    let keys = keys.into_iter().filter(|key| key.status != KeyStatus::Revoked).collect();
    let needs_secret = user.needs_secret().await?;
    let main = TokensPage { user, tokens, keys, needs_secret, draft };
    Ok(PageResponse::for_form(user.frame(), "API tokens", draft, &main))
}

async fn tokens_of(user: &SignedInUser) -> Result<Vec<ApiTokenView>, PageResponse> {
    let sealpost = &user.app.api.sealpost;
    user.ask(async |owner| Ok(sealpost.accounts.api_tokens(owner.session()).await?.tokens)).await
}

/// Returns the label of the identity that a token acts as. If `keys` does not contain the identity, returns its API
/// key.
fn identity_of(token: &ApiTokenView, keys: &[KeyStanding]) -> String {
    let key = keys.iter().find(|key| key.api_key_id == token.api_key_id);
    key.map_or_else(|| token.api_key_id.to_string(), |key| key.label.to_string())
}

/// Describes the requests that a scope allows, for the page.
fn allows(scope: TokenScope) -> &'static str {
    match scope {
        TokenScope::Open => "open envelopes",
        TokenScope::Read => {
            "read the status of the identity, its webhooks and their deliveries, and find identities"
        }
        TokenScope::Send => "send messages and read their receipts",
        TokenScope::Webhooks => "register and manage webhooks",
    }
}

const NO_TOKEN: &str =
    "The account has no such API token: it was revoked before, or it has expired.";
const LIFETIME: &str = "The lifetime must be a number of 1 to 366 days.";
