//! `POST /admin/v1/audit/list`: lists entries of the audit trail.

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal};
use sealpost_service::AuditShown;
use serde::Serialize;
use serde_json::json;

use crate::{
    admin::{page::LIMIT_DEFAULT, page::LIMITS, request::ViewRequest},
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody},
    response::JsonResponse,
};

/// The entries to show.
#[derive(JsonSchema)]
struct ListAuditRequest {
    /// Shows the entries with a higher number than this, lowest numbers first. 0 starts at the first entry. If omitted,
    /// shows the newest entries.
    after: Option<u32>,
    /// The maximum number of entries, 100 by default.
    #[schemars(with = "Option<u32>", range(min = 1, max = 1000))]
    limit: u32,
}

impl RequestBody for ListAuditRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        let after = fields.optional_number("after", 0..=u32::MAX)?;
        let limit = fields.optional_number("limit", LIMITS)?.unwrap_or(LIMIT_DEFAULT);
        Ok(Self { after, limit })
    }
}

/// Entries of the audit trail.
#[derive(JsonSchema, Serialize)]
struct AuditPage {
    /// The entries, in the order of their numbers.
    entries: Vec<AuditShown>,
}

async fn list_audit(request: ViewRequest<ListAuditRequest>) -> JsonResponse<AuditPage> {
    let entries = request.ask(|operator, ListAuditRequest { after, limit }| match after {
        Some(after) => operator.audit_entries(after.into(), limit),
        None => operator.newest_audit_entries(limit),
    });
    Ok(web::Json(AuditPage { entries: entries.await? }))
}

pub(in crate::admin::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(list_audit) }
}

fn operation() -> Operation {
    let entry = json!({
        "number": 7,
        "at": "2026-11-21T06:56:38.596Z",
        "actor": "console:alice",
        "action": "plan.set",
        "subject": "ak_01m7ye92k0ejgs32r4n1j3x7m3",
        "detail": "{\"from\":\"explorer\",\"operator\":{\"client_address\":\"192.0.2.7\"},\"reason\":\"Invoice 2026-118\",\"to\":\"builder\"}",
        "hash": "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4",
    });
    Operation::new::<AuditPage>("listAudit", json!({ "entries": [entry] }))
        .describe(
            Tag::Operations,
            "List the audit trail",
            "Lists entries of the audit trail in the order of their numbers.",
        )
        .operator()
        .optional_body::<ListAuditRequest>(vec![
            ("The newest entries", json!({})),
            ("From the first entry", json!({ "after": 0, "limit": 1000 })),
        ])
        .refuses(&[Code::InvalidField])
}
