//! The table of the endpoints for operators. The router and the OpenAPI document are built from this table.

mod accounts;
mod evidence;
mod governance;
mod keys;
mod operations;
mod webhooks;

use sealpost_domain::Code;
use serde_json::Value;

use self::{
    accounts::{end_sessions, list_accounts, show_account},
    evidence::{assess, attest, revoke_badge},
    governance::{assign_partner, council, partner},
    keys::{change_state, list_keys, revoke_key, set_plan, show_key},
    operations::{document, list_audit, stats},
    webhooks::disable_webhook,
};
use crate::{
    endpoint::{Endpoint, Row},
    openapi::{DocumentHead, Tag, document as render, drop_unused_components},
};

/// Returns all endpoints in the order of the OpenAPI document.
pub(super) fn table() -> Vec<Row> {
    vec![
        Row::post("/admin/v1/accounts/list", list_accounts::endpoint()),
        Row::post("/admin/v1/accounts/show", show_account::endpoint()),
        Row::post("/admin/v1/accounts/end-sessions", end_sessions::endpoint()),
        Row::post("/admin/v1/keys/list", list_keys::endpoint()),
        Row::post("/admin/v1/keys/show", show_key::endpoint()),
        Row::post("/admin/v1/keys/plan", set_plan::endpoint()),
        Row::post("/admin/v1/keys/deactivate", change_state::deactivate()),
        Row::post("/admin/v1/keys/reactivate", change_state::reactivate()),
        Row::post("/admin/v1/keys/rotate", change_state::rotate()),
        Row::post("/admin/v1/keys/revoke", revoke_key::endpoint()),
        Row::post("/admin/v1/governance/propose", council::propose()),
        Row::post("/admin/v1/governance/enforce", council::enforce()),
        Row::post("/admin/v1/governance/lift", council::lift()),
        Row::post("/admin/v1/partners/assign", assign_partner::endpoint()),
        Row::post("/admin/v1/partners/suspend", partner::suspend()),
        Row::post("/admin/v1/partners/restore", partner::restore()),
        Row::post("/admin/v1/assessments/record", assess::endpoint()),
        Row::post("/admin/v1/attestations/record", attest::endpoint()),
        Row::post("/admin/v1/badges/revoke", revoke_badge::endpoint()),
        Row::post("/admin/v1/webhooks/disable", disable_webhook::endpoint()),
        Row::post("/admin/v1/audit/list", list_audit::endpoint()),
        Row::post("/admin/v1/stats", stats::endpoint()),
        Row::get("/admin/v1/openapi.json", document::endpoint(admin_openapi)),
    ]
}

/// Renders the OpenAPI document of the API for operators. `base_url` is the public URL of the service, and `server` is
/// the URL of the operations address.
pub fn admin_openapi(base_url: &str, server: &str) -> Value {
    let head = DocumentHead {
        title: "Sealpost for operators",
        summary: "The acts of the operators of a Sealpost service.",
        description: DESCRIPTION,
        tags: &Tag::ADMIN,
        credentials: &[(
            "operator",
            "The base64 of `NAME:PASSWORD`. Name and password are those of a line in the console's password file.",
        )],
        has_events: false,
        codes: Code::ALL.to_vec(),
        server: server.to_owned(),
    };
    let operation =
        |Row { method, path, endpoint: Endpoint { operation, .. } }| (method, path, operation);
    let mut document = render(base_url, &head, table().into_iter().map(operation));
    drop_unused_components(&mut document);
    document
}

const DESCRIPTION: &str = "\
The acts of operators as JSON: the same acts as `sealpost admin`, for programs such as a billing system. Each act needs a \
`reason`, and is in the audit trail under the name of the operator. An operator with the role `viewer` can only read. \
An error response is a problem document (RFC 9457). Unknown fields of a body are refused, and responses may gain fields.";
