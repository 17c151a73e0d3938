//! The first page of the console: a search for API keys.

use std::cmp::Reverse;

use actix_web::web;
use askama::Template;
use sealpost_domain::{ApiKeyId, Handle, KeyStatus, Label, Plan, ports::KeyFilter};
use sealpost_service::{KeyRowView, ListPage};
use serde::Deserialize;

use crate::{
    console::user::ConsoleUser,
    html::{
        PageResponse, PageResult,
        text::{day, short_id, when},
    },
};

/// The fields of the search form. Empty fields do not restrict the search.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct KeySearch {
    q: String,
    status: String,
    plan: String,
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
    plans: &'static [&'static str],
}

impl KeySearch {
    /// Returns true if the status and the plan are each empty or a known name.
    fn has_known_names(&self) -> bool {
        let Self { status, plan, .. } = self;
        (status.is_empty() || KeyStatus::from_name(status).is_some())
            && (plan.is_empty() || Plan::NAMES.contains(&plan.as_str()))
    }
}

/// Shows the keys that match the search. If the search text is a complete API key, redirects to the page of this key.
pub(crate) async fn show(user: ConsoleUser, search: web::Query<KeySearch>) -> PageResult {
    let search = search.into_inner();
    if let Ok(key) = search.q.trim().parse::<ApiKeyId>() {
        let path = format!("/console/keys/{key}");
        return Ok(PageResponse::redirect(&user.state.site, &path));
    }
    if !search.has_known_names() {
        return Err(user.wrong_address());
    }
    let cursor: Option<ApiKeyId> = user.parameter(&search.cursor)?;
    let filters = filters_of(&search);
    let problem = filters.is_empty().then_some("This is neither a handle nor a label.");
    let pages = user.ask(move |operator| {
        let page = |filter| operator.keys(filter, cursor.as_ref(), LIMIT);
        filters.iter().map(page).collect::<Result<Vec<_>, _>>()
    });
    let ListPage { entries: keys, more } = merged(pages.await?);
    let next_cursor = keys.last().filter(|_| more).map(|last| last.key.api_key_id.to_string());
    let main = KeysPage {
        base: user.base(),
        search: &search,
        keys,
        next_cursor,
        problem,
        plans: &Plan::NAMES,
    };
    Ok(user.show("/console", "Keys", &main))
}

/// Converts the search form into filters. A key is listed if it matches at least one filter.
///
/// A search text is an account id, a handle with a leading `@`, or a label. A label may also begin with `@` or a space,
/// so one text can give several filters. Returns no filter if the text can be none of these.
fn filters_of(search: &KeySearch) -> Vec<KeyFilter> {
    let all = KeyFilter {
        status: KeyStatus::from_name(&search.status),
        plan: Some(search.plan.clone()).filter(|plan| Plan::NAMES.contains(&plan.as_str())),
        ..KeyFilter::default()
    };
    let text = search.q.trim();
    if text.is_empty() {
        return vec![all];
    }
    if let Ok(account) = text.parse() {
        return vec![KeyFilter { account: Some(account), ..all }];
    }
    let handle = text.strip_prefix('@').and_then(|handle| Handle::parse(handle).ok());
    let handle = handle.map(|handle| KeyFilter { handle: Some(handle), ..all.clone() });
    let whole = Some(search.q.as_str()).filter(|whole| *whole != text);
    let labels = [Some(text), whole].into_iter().flatten();
    let labels = labels.filter_map(|label| Label::parse(label).ok());
    let labels = labels.map(|label| KeyFilter { label: Some(label), ..all.clone() });
    handle.into_iter().chain(labels).collect()
}

/// Merges the pages of several filters into one page, newest key first.
fn merged(pages: Vec<ListPage<KeyRowView>>) -> ListPage<KeyRowView> {
    let limit = usize::try_from(LIMIT).unwrap_or(usize::MAX);
    let mut more = pages.iter().any(|page| page.more);
    let mut entries: Vec<_> = pages.into_iter().flat_map(|page| page.entries).collect();
    entries.sort_by_key(|entry| Reverse(entry.key.api_key_id));
    entries.dedup_by_key(|entry| entry.key.api_key_id);
    more |= entries.len() > limit;
    entries.truncate(limit);
    ListPage { entries, more }
}

const LIMIT: u32 = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_searched_as_handle_and_as_label() {
        let found = |q: &str| {
            let filters = filters_of(&KeySearch { q: q.to_owned(), ..KeySearch::default() });
            let names = filters.iter().map(|filter| match (&filter.handle, &filter.label) {
                (Some(handle), None) => format!("handle {handle}"),
                (None, Some(label)) => format!("label {label}"),
                _ => "all".to_owned(),
            });
            names.collect::<Vec<_>>()
        };
        assert_eq!(found("@team"), ["handle team", "label @team"]);
        assert_eq!(found("@The team"), ["label @The team"]);
        assert_eq!(found("lead"), ["label lead"]);
        assert_eq!(found(" lead "), ["label lead", "label  lead "]);
        assert_eq!(found("  "), ["all"]);
        assert_eq!(found(&"x".repeat(101)), Vec::<String>::new());
    }
}
