//! The page with the audit trail, the log of operators' actions.

use actix_web::web;
use askama::Template;
use sealpost_service::AuditView;
use serde::Deserialize;

use crate::{
    console::user::ConsoleUser,
    dashboard::{
        response::PageResponse,
        text::{short_id, when},
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

const LIMIT: u32 = 50;
