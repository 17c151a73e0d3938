//! The first page of the console: a search for API keys.

use actix_web::web;
use askama::Template;
use sealpost_domain::{ApiKeyId, Handle, KeyStatus, Label, Plan, ports::KeyFilter};
use sealpost_service::KeyRowView;
use serde::Deserialize;

use crate::{
    console::user::ConsoleUser,
    dashboard::{
        response::PageResponse,
        text::{day, short_id, when},
    },
};

/// The fields of the search form. Empty fields do not restrict the search.
#[derive(Deserialize, Default)]
pub(crate) struct KeySearch {
    #[serde(default)]
    q: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    plan: String,
    #[serde(default)]
    cursor: String,
}

#[derive(Template)]
#[template(path = "console/keys.html")]
struct KeysPage<'a> {
    base: &'a str,
    search: &'a KeySearch,
    keys: Vec<KeyRowView>,
    next_cursor: Option<String>,
    problem: Option<&'static str>,
    states: [KeyStatus; 4],
    plans: &'static [&'static str],
}

/// Shows the keys that match the search. If the search text is a complete API key, redirects to the page of this key.
pub(crate) async fn show(
    user: ConsoleUser,
    search: web::Query<KeySearch>,
) -> Result<PageResponse, PageResponse> {
    let search = search.into_inner();
    if let Ok(key) = search.q.trim().parse::<ApiKeyId>() {
        let path = format!("/console/keys/{key}");
        return Ok(PageResponse::redirect(&user.state.site, &path));
    }
    let cursor = search.cursor.parse::<ApiKeyId>().ok();
    let (page, problem) = match filter_of(&search) {
        Ok(filter) => {
            let page = user.ask(move |operator| operator.keys(&filter, cursor.as_ref(), LIMIT));
            (Some(page.await?), None)
        }
        Err(problem) => (None, Some(problem)),
    };
    let (keys, more) = page.map_or((Vec::new(), false), |page| (page.entries, page.more));
    let next_cursor = keys.last().filter(|_| more).map(|last| last.key.api_key_id.to_string());
    let main = KeysPage {
        base: user.base(),
        search: &search,
        keys,
        next_cursor,
        problem,
        states: STATES,
        plans: &Plan::NAMES,
    };
    Ok(user.show("/console", "Keys", &main))
}

/// Converts the search form into a filter. The search text is an account id, a handle with a leading `@`, or a label.
/// If the text is none of these, returns an error text for the page.
fn filter_of(search: &KeySearch) -> Result<KeyFilter, &'static str> {
    let mut filter = KeyFilter {
        status: KeyStatus::from_name(&search.status),
        plan: Some(search.plan.clone()).filter(|plan| Plan::NAMES.contains(&plan.as_str())),
        ..KeyFilter::default()
    };
    let text = search.q.trim();
    if text.is_empty() {
        return Ok(filter);
    }
    if let Ok(account) = text.parse() {
        filter.account = Some(account);
    } else if let Some(handle) = text.strip_prefix('@') {
        filter.handle = Some(Handle::parse(handle).map_err(|_fault| "This is not a handle.")?);
    } else {
        filter.label = Some(Label::parse(text).map_err(|_fault| "This is not a label.")?);
    }
    Ok(filter)
}

const STATES: [KeyStatus; 4] =
    [KeyStatus::Active, KeyStatus::Deactivated, KeyStatus::Revoked, KeyStatus::Rotating];
const LIMIT: u32 = 50;
