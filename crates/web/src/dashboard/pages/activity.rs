//! The page with the activity of the account.

use actix_web::web;
use askama::Template;
use sealpost_domain::Timestamp;
use sealpost_service::{ActivityCursor, ActivityPage, ListActivity};
use serde::Deserialize;

use crate::dashboard::{
    response::PageResponse,
    session::SignedInUser,
    text::{ago, what_happened},
};

#[derive(Template)]
#[template(path = "dashboard/activity.html")]
struct ActivityTemplate<'a> {
    base: &'a str,
    now: Timestamp,
    activity: ActivityPage,
}

/// The query string of the page.
#[derive(Default, Deserialize)]
pub(crate) struct ActivityQuery {
    #[serde(default)]
    cursor: String,
}

pub(crate) async fn show(
    user: SignedInUser,
    query: web::Query<ActivityQuery>,
) -> Result<PageResponse, PageResponse> {
    let cursor = query.cursor.parse::<ActivityCursor>().ok();
    let query = ListActivity { limit: ENTRIES_PER_PAGE, cursor };
    let activity = user.ask(async |owner| owner.activity(query).await).await?;
    let main = ActivityTemplate { base: user.base(), now: user.app.api.clock.now(), activity };
    Ok(PageResponse::ok(user.frame(), "Activity", &main))
}

const ENTRIES_PER_PAGE: u32 = 50;
