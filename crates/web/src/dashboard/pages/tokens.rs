//! The page of the account's API tokens.

use std::time::Duration;

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_domain::{KeyStatus, Label, TokenScope};
use sealpost_service::{ApiTokenCreated, ApiTokenView, CreateApiToken, KeyStanding};

use crate::dashboard::{
    forms::{Form, Rejection},
    response::PageResponse,
    session::{EndingUser, SignedInUser},
    text::when,
};

#[derive(Template)]
#[template(path = "dashboard/tokens.html")]
struct TokensPage<'a> {
    base: &'a str,
    form_token: &'a str,
    tokens: Vec<ApiTokenView>,
    keys: Vec<KeyStanding>,
    needs_secret: bool,
    problem: Option<&'a str>,
}

/// The page with a new token. The service cannot show the token again.
#[derive(Template)]
#[template(path = "dashboard/token_created.html")]
struct TokenPage<'a> {
    base: &'a str,
    created: &'a ApiTokenCreated,
}

pub(crate) async fn show(ending: EndingUser) -> Result<PageResponse, PageResponse> {
    let (user, _slot) = ending.start().await;
    let main = page(user, None).await?;
    Ok(PageResponse::ok(user.frame(), TITLE, &main))
}

/// Creates a token and shows it.
pub(crate) async fn create(
    user: SignedInUser,
    request: HttpRequest,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    user.check(&form)?;
    let create = match token_of(&form) {
        Ok(create) => create,
        Err(rejection) => return reject(&user, &rejection).await,
    };
    let owner = match user.confirm(&request, &form).await? {
        Ok(owner) => owner,
        Err(rejection) => return reject(&user, &rejection).await,
    };
    match owner.create_api_token(create).await {
        Ok(created) => {
            let main = TokenPage { base: user.base(), created: &created };
            Ok(PageResponse::ok(user.frame(), "Your new API token", &main))
        }
        Err(error) => match error.refusal() {
            Some(refusal) => reject(&user, &Rejection::from(refusal)).await,
            None => Err(user.error_response(&error)),
        },
    }
}

pub(crate) async fn revoke(
    ending: EndingUser,
    token: web::Path<String>,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    let (user, _slot) = ending.start().await;
    user.check(&form)?;
    let (sealpost, token) = (&user.app.api.sealpost, token.into_inner());
    user.ask(async move |owner| {
        sealpost.revoke_api_token(owner.session(), token, owner.source()).await
    })
    .await?;
    Ok(PageResponse::redirect(user.site(), "/dashboard/tokens"))
}

/// Reads the form of a new token.
fn token_of(form: &Form) -> Result<CreateApiToken, Rejection> {
    let name = Label::parse(form.text("name"))
        .map_err(|fault| Rejection::field(format!("The name {fault}.")))?;
    let is_chosen = |scope: &TokenScope| !form.text(scope.as_str()).is_empty();
    let scopes: Vec<_> = TokenScope::ALL.into_iter().filter(is_chosen).collect();
    if scopes.is_empty() {
        return Err(Rejection::field("Choose at least one scope."));
    }
    let days = form.text("expires_in_days").parse().ok().filter(|days| (1..=366).contains(days));
    let days: u64 =
        days.ok_or_else(|| Rejection::field("The lifetime must be a number of 1 to 366 days."))?;
    Ok(CreateApiToken {
        api_key_id: form.text("api_key_id").to_owned(),
        name,
        scopes: scopes.into_iter().collect(),
        expires_in: Duration::from_hours(24 * days),
    })
}

async fn reject(user: &SignedInUser, rejection: &Rejection) -> Result<PageResponse, PageResponse> {
    let main = page(user, Some(&rejection.text)).await?;
    Ok(PageResponse::rejected(user.frame(), TITLE, rejection, &main))
}

async fn page<'a>(
    user: &'a SignedInUser,
    problem: Option<&'a str>,
) -> Result<TokensPage<'a>, PageResponse> {
    let sealpost = &user.app.api.sealpost;
    let (tokens, keys) = user
        .ask(async |owner| {
            let tokens = sealpost.api_tokens(owner.session()).await?.tokens;
            Ok((tokens, owner.keys().await?.first))
        })
        .await?;
    let keys = keys.into_iter().filter(|key| key.status != KeyStatus::Revoked).collect();
    let needs_secret = user.needs_secret().await?;
    let (base, form_token) = (user.base(), &*user.form_token);
    Ok(TokensPage { base, form_token, tokens, keys, needs_secret, problem })
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

const TITLE: &str = "API tokens";
