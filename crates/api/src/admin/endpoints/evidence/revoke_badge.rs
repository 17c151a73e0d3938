//! `POST /admin/v1/badges/revoke`: revokes a badge permanently.

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::{BadgeId, Code, Refusal};
use sealpost_service::BadgeRevoked;
use serde_json::json;

use crate::{
    admin::{
        page::parsed_required,
        request::{ActRequest, Reason},
    },
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, RequestBody},
    response::JsonResponse,
};

/// The badge to revoke.
#[derive(JsonSchema)]
struct RevokeBadgeRequest {
    /// The id of the badge.
    badge_id: BadgeId,
    /// The reason, for the audit trail. It is not published.
    reason: Reason,
}

impl RequestBody for RevokeBadgeRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["badge_id", "reason"])?;
        Ok(Self { badge_id: parsed_required(fields, "badge_id")?, reason: Reason::read(fields)? })
    }
}

async fn revoke_badge(request: ActRequest<RevokeBadgeRequest>) -> JsonResponse<BadgeRevoked> {
    request
        .perform(
            |body| &body.reason,
            |operator, body| operator.revoke_badge(&body.badge_id, &body.reason.0),
        )
        .await
}

pub(in crate::admin::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(revoke_badge) }
}

fn operation() -> Operation {
    let badge = "bdg_01m7ye92k0e5wsvs5qjndehdka";
    let revoked = json!({
        "badge_id": badge,
        "revoked_at": "2026-11-21T06:56:38.596Z",
        "reason": "Withdrawn",
    });
    Operation::new::<BadgeRevoked>("revokeBadge", revoked)
        .describe(
            Tag::Evidence,
            "Revoke a badge",
            "Revokes a badge permanently. Its status list then shows the revocation.",
        )
        .acting_operator()
        .body::<RevokeBadgeRequest>(vec![("", json!({ "badge_id": badge, "reason": "Withdrawn" }))])
        .refuses(&[Code::ActionRefused])
}
