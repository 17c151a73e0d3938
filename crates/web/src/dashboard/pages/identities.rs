//! The list of all identities of the account.

use askama::Template;
use sealpost_domain::Timestamp;
use sealpost_service::KeyStanding;

use super::overview::IdentityRow;
use crate::{
    dashboard::{session::SignedInUser, text::ago},
    html::{
        PageResponse, PageResult,
        text::{short_id, thousands},
    },
};

#[derive(Template)]
#[template(path = "dashboard/identities.html")]
struct IdentitiesPage<'a> {
    base: &'a str,
    contact: Option<&'a str>,
    now: Timestamp,
    live: Vec<IdentityRow>,
    revoked: Vec<KeyStanding>,
    /// The number of identities that the page shows, if the account has more than that. `None` if the page shows all.
    truncated_to: Option<usize>,
}

pub(crate) async fn show(user: SignedInUser) -> PageResult {
    let (keys, unhealthy) = user
        .ask(async |owner| Ok((owner.keys().await?, owner.unhealthy_webhooks().await?)))
        .await?;
    let now = user.app.api.clock.now();
    let truncated_to = keys.has_more.then_some(keys.first.len());
    let (live, revoked) = IdentityRow::split(keys.first, &unhealthy.first, now);
    let contact = user.app.sales_contact.as_deref();
    let main = IdentitiesPage { base: user.base(), contact, now, live, revoked, truncated_to };
    Ok(PageResponse::ok(user.frame(), "Identities", &main))
}
