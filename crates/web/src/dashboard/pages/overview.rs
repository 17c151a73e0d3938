//! The first page of the dashboard: all identities of the account with their status, plan and usage.

use askama::Template;
use sealpost_domain::{AccountId, KeyStatus};
use sealpost_service::KeyStanding;

use crate::dashboard::{
    charts::{UsageMeter, usage_meters},
    response::PageResponse,
    session::SignedInUser,
};

#[derive(Template)]
#[template(path = "dashboard/overview.html")]
struct OverviewPage<'a> {
    base: &'a str,
    account_id: AccountId,
    live: Vec<IdentityCard>,
    revoked: Vec<KeyStanding>,
    /// The number of identities on the page if the account has more. `None` if the page shows all.
    truncated_to: Option<usize>,
}

struct IdentityCard {
    key: KeyStanding,
    meters: [UsageMeter; 3],
}

pub(crate) async fn show(user: SignedInUser) -> Result<PageResponse, PageResponse> {
    let (account_id, keys) =
        user.ask(async |owner| Ok((owner.account_id(), owner.keys().await?))).await?;
    let truncated_to = keys.has_more.then_some(keys.first.len());
    let (revoked, live): (Vec<_>, Vec<_>) =
        keys.first.into_iter().partition(|key| key.status == KeyStatus::Revoked);
    let live = live
        .into_iter()
        .map(|key| IdentityCard { meters: usage_meters(&key.usage), key })
        .collect();
    let main = OverviewPage { base: user.base(), account_id, live, revoked, truncated_to };
    Ok(PageResponse::ok(user.frame(), "Identities", &main))
}
