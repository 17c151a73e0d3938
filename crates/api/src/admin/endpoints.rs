//! The table of the endpoints for operators. The router and the OpenAPI document are built from this table.

mod accounts;
mod evidence;
mod governance;
mod keys;
mod operations;

use actix_web::{middleware::from_fn, web};
use sealpost_domain::Code;
use serde_json::Value;

use super::state::AdminState;
use crate::{
    endpoint::Row,
    middleware::middleware,
    mount::resource,
    openapi::{DocumentHead, Tag, document as render, drop_unused_components},
    response::Problem,
};

/// Returns all endpoints in the order of the OpenAPI document.
fn table() -> Vec<Row> {
    vec![
        Row::post("/admin/v1/accounts/list", accounts::list_accounts()),
        Row::post("/admin/v1/accounts/show", accounts::show_account()),
        Row::post("/admin/v1/accounts/end-sessions", accounts::end_sessions()),
        Row::post("/admin/v1/keys/list", keys::list_keys()),
        Row::post("/admin/v1/keys/show", keys::show_key()),
        Row::post("/admin/v1/keys/plan", keys::set_plan()),
        Row::post("/admin/v1/keys/deactivate", keys::deactivate()),
        Row::post("/admin/v1/keys/reactivate", keys::reactivate()),
        Row::post("/admin/v1/keys/rotate", keys::rotate()),
        Row::post("/admin/v1/keys/revoke", keys::revoke_key()),
        Row::post("/admin/v1/governance/propose", governance::propose()),
        Row::post("/admin/v1/governance/enforce", governance::enforce()),
        Row::post("/admin/v1/governance/lift", governance::lift()),
        Row::post("/admin/v1/partners/assign", governance::assign_partner()),
        Row::post("/admin/v1/partners/suspend", governance::suspend()),
        Row::post("/admin/v1/partners/restore", governance::restore()),
        Row::post("/admin/v1/assessments/record", evidence::assess()),
        Row::post("/admin/v1/attestations/record", evidence::attest()),
        Row::post("/admin/v1/badges/revoke", evidence::revoke_badge()),
        Row::post("/admin/v1/webhooks/disable", operations::disable_webhook()),
        Row::post("/admin/v1/audit/list", operations::list_audit()),
        Row::post("/admin/v1/stats", operations::stats()),
        Row::get("/admin/v1/openapi.json", operations::document(admin_openapi)),
    ]
}

/// Mounts the API for operators below `/admin/v1`. Wraps each endpoint in the middleware that adds request ids, problem
/// documents, log and metrics.
pub fn admin_routes(state: web::Data<AdminState>) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        config.app_data(state.api.clone()).app_data(state);
        for row in table() {
            config.service(resource(row).wrap(from_fn(middleware)));
        }
        let unknown = async || Err::<&str, _>(Problem::OperatorPathNotFound);
        let unknown = web::resource("/admin/{path}*").default_service(web::to(unknown));
        config.service(unknown.wrap(from_fn(middleware)));
    }
}

/// Renders the OpenAPI document of the API for operators. `base_url` is the public URL of the service, and `server` is
/// the URL at which this API is served.
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
    let mut document = render(base_url, &head, table());
    drop_unused_components(&mut document);
    document
}

const DESCRIPTION: &str = "\
The acts of operators as JSON: the same acts as `sealpost admin`, for programs such as a billing system. Each act needs a \
`reason`, and is in the audit trail under the name of the operator. An operator with the role `viewer` can only read. \
An error response is a problem document (RFC 9457). Unknown fields of a body are refused, and responses may gain fields.";
