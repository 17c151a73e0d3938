//! The page with the audit trail, the log of operators' actions.

use actix_web::web;
use askama::Template;
use sealpost_service::AuditView;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    console::user::ConsoleUser,
    dashboard::{
        response::PageResponse,
        text::{short_id, short_ids, when},
    },
};

/// The query parameters of the page.
#[derive(Deserialize)]
pub(crate) struct AuditSearch {
    /// Shows only entries with a lower number than this. `None` shows the newest entries.
    before: Option<u64>,
}

#[derive(Template)]
#[template(path = "console/audit.html")]
struct AuditPage<'a> {
    base: &'a str,
    /// The entries, newest first.
    entries: Vec<AuditView>,
    older: Option<u64>,
}

pub(crate) async fn show(
    user: ConsoleUser,
    search: web::Query<AuditSearch>,
) -> Result<PageResponse, PageResponse> {
    let before = search.before;
    let mut entries = user
        .ask(move |operator| match before {
            // The numbers of entries have no gaps, so the number of the first entry on the page can be computed.
            Some(before) => {
                let first = before.saturating_sub(1).saturating_sub(u64::from(LIMIT));
                let mut entries = operator.audit_entries(first, LIMIT)?;
                entries.retain(|entry| entry.number < before);
                Ok(entries)
            }
            None => operator.newest_audit_entries(LIMIT),
        })
        .await?;
    entries.reverse();
    let older = entries.last().map(|oldest| oldest.number).filter(|number| *number > 1);
    let main = AuditPage { base: user.base(), entries, older };
    Ok(user.show("/console/audit", "Audit trail", &main))
}

/// Writes the details of an act, a JSON object, as text. Leaves out members that are null.
fn readable(detail: &str) -> String {
    let Ok(members) = serde_json::from_str(detail) else { return detail.to_owned() };
    let mut texts = Vec::new();
    collect("", &members, &mut texts);
    texts.join(", ")
}

fn collect(before: &str, members: &Map<String, Value>, texts: &mut Vec<String>) {
    for (name, value) in members {
        match value {
            Value::Null => {}
            Value::Object(inner) => collect(&format!("{before}{name}."), inner, texts),
            Value::String(text) => texts.push(format!("{before}{name}: {}", short_ids(text))),
            other => texts.push(format!("{before}{name}: {other}")),
        }
    }
}

const LIMIT: u32 = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_text_without_null() {
        let detail = r#"{"from":null,"to":"builder","terms":{"per_day":5},"operator":{"uid":0,"claimed":null}}"#;
        assert_eq!(readable(detail), "to: builder, terms.per_day: 5, operator.uid: 0");
        assert_eq!(readable("no JSON"), "no JSON");
    }
}
