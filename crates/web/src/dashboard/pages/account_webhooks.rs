//! The webhooks of all identities of the account.

use askama::Template;
use sealpost_domain::Timestamp;
use sealpost_service::{Truncated, WebhookView};

use super::scope::Scope;
use crate::dashboard::{
    health::{state_of, why_unhealthy},
    response::PageResponse,
    session::SignedInUser,
    text::{ago, url_parts},
};

#[derive(Template)]
#[template(path = "dashboard/account_webhooks.html")]
struct AccountWebhooksPage<'a> {
    base: &'a str,
    base_url: &'a str,
    account_id: String,
    now: Timestamp,
    scope: Scope,
    webhooks: Truncated<WebhookView>,
}

pub(crate) async fn show(user: SignedInUser) -> Result<PageResponse, PageResponse> {
    let scope = Scope::load(&user, None, "").await?;
    let main = AccountWebhooksPage {
        base: user.base(),
        base_url: &user.site().base_url,
        account_id: user.account_id().to_string(),
        now: user.app.api.clock.now(),
        scope,
        webhooks: user.ask(async |owner| owner.account_webhooks().await).await?,
    };
    Ok(PageResponse::ok(user.frame(), "Webhooks", &main))
}
