//! The account's identities, each with its state, its plan and what it has used.

use askama::Template;
use sealpost_domain::{AccountId, KeyStatus};
use sealpost_service::KeyStanding;

use crate::dashboard::{
    page::Page,
    show::{Bar, bars},
    signed_in::SignedIn,
};

#[derive(Template)]
#[template(path = "dashboard/overview.html")]
struct OverviewPage<'a> {
    base: &'a str,
    account_id: AccountId,
    live: Vec<Card>,
    revoked: Vec<KeyStanding>,
    /// How many are shown, where that is not all of them.
    only: Option<usize>,
}

struct Card {
    key: KeyStanding,
    bars: [Bar; 3],
}

pub(crate) async fn show(who: SignedIn) -> Result<Page, Page> {
    let (account_id, keys) =
        who.ask(async |owner| Ok((owner.account_id(), owner.keys().await?))).await?;
    let only = keys.has_more.then_some(keys.first.len());
    let (revoked, live): (Vec<_>, Vec<_>) =
        keys.first.into_iter().partition(|key| key.status == KeyStatus::Revoked);
    let live = live.into_iter().map(|key| Card { bars: bars(&key), key }).collect();
    let main = OverviewPage { base: who.base(), account_id, live, revoked, only };
    Ok(Page::show(who.frame(), "Identities", &main))
}
