//! The page with the audit trail, the log of operators' actions.

use actix_web::web;
use askama::Template;
use sealpost_service::AuditView;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    console::user::ConsoleUser,
    html::{
        PageResult,
        text::{short_ids, when},
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

pub(crate) async fn show(user: ConsoleUser, search: web::Query<AuditSearch>) -> PageResult {
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

/// The details of an admin action, as text for operators.
struct ActDetails {
    reason: Option<String>,
    /// The other members of the details as text, without null members and without members that another column shows.
    rest: String,
}

fn readable(entry: &AuditView) -> ActDetails {
    let Ok(mut members) = serde_json::from_str::<Map<String, Value>>(&entry.detail) else {
        return ActDetails { reason: None, rest: entry.detail.clone() };
    };
    let reason = members.remove("reason").and_then(|reason| Some(short_ids(reason.as_str()?)));
    members.retain(|name, value| {
        name != "at"
            && !value.as_str().is_some_and(|text| text == entry.subject || text == entry.actor)
    });
    let mut texts = Vec::new();
    collect("", &members, &mut texts);
    ActDetails { reason: reason.filter(|reason| !reason.is_empty()), rest: texts.join(", ") }
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

/// Returns the path of the subject's page. `None` for subjects without a page.
fn page_of(subject: &str) -> Option<String> {
    if subject.starts_with("ak_") {
        Some(format!("/console/keys/{subject}"))
    } else if subject.starts_with("acct_") {
        Some(format!("/console/accounts/{subject}"))
    } else {
        None
    }
}

const LIMIT: u32 = 50;

#[cfg(test)]
mod tests {
    use sealpost_domain::Timestamp;

    use super::*;

    fn details_of(detail: &str) -> (Option<String>, String) {
        let details = readable(&AuditView {
            number: 1,
            at: Timestamp::from_millis(0),
            actor: "console:alice".to_owned(),
            action: "plan.set".to_owned(),
            subject: "ak_1".to_owned(),
            detail: detail.to_owned(),
            hash: String::new(),
        });
        (details.reason, details.rest)
    }

    #[test]
    fn details_are_text_without_null() {
        let detail = r#"{"from":null,"to":"builder","terms":{"per_day":5},"operator":{"uid":0,"claimed":null}}"#;
        let text = "to: builder, terms.per_day: 5, operator.uid: 0";
        assert_eq!(details_of(detail), (None, text.to_owned()));
        assert_eq!(details_of("no JSON"), (None, "no JSON".to_owned()));
    }

    #[test]
    fn details_leave_out_what_other_columns_have() {
        let detail = r#"{"api_key_id":"ak_1","check":"x","attester":"console:alice","reason":"Papers","at":"2026"}"#;
        assert_eq!(details_of(detail), (Some("Papers".to_owned()), "check: x".to_owned()));
    }

    #[test]
    fn keys_and_accounts_have_a_page() {
        assert_eq!(page_of("ak_1").unwrap(), "/console/keys/ak_1");
        assert_eq!(page_of("acct_1").unwrap(), "/console/accounts/acct_1");
        assert_eq!(page_of("ivt_1"), None);
    }
}
