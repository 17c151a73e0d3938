//! `POST /admin/v1/accounts/end-sessions`: ends all sessions of an account.

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::{AccountId, Refusal};
use sealpost_service::SessionsEnded;
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

/// The account whose sessions end.
#[derive(JsonSchema)]
struct EndSessionsRequest {
    /// The id of the account.
    account_id: AccountId,
    /// The reason, for the audit trail.
    reason: Reason,
}

impl RequestBody for EndSessionsRequest {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["account_id", "reason"])?;
        let account_id = parsed_required(fields, "account_id")?;
        Ok(Self { account_id, reason: Reason::read(fields)? })
    }
}

async fn end_sessions(request: ActRequest<EndSessionsRequest>) -> JsonResponse<SessionsEnded> {
    request
        .perform(
            |body| &body.reason,
            |operator, body| operator.end_sessions(Some(&body.account_id)),
        )
        .await
}

pub(in crate::admin::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(end_sessions) }
}

fn operation() -> Operation {
    let account = "acct_01m7ye92k0e5wsvs5qjndehdka";
    let ended = json!({ "account_id": account, "session_count": 3 });
    Operation::new::<SessionsEnded>("endSessions", ended)
        .describe(
            Tag::Accounts,
            "End the sessions of an account",
            "Ends all sessions of an account. Its login secret stays valid.",
        )
        .acting_operator()
        .body::<EndSessionsRequest>(vec![(
            "",
            json!({ "account_id": account, "reason": "Stolen laptop" }),
        )])
}
