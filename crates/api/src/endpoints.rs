//! The table of all endpoints. The router and the OpenAPI document are built from this table. The code of each endpoint
//! is in the folder of its OpenAPI tag.

mod account;
mod badges;
mod channel;
mod identities;
mod service;
mod sessions;
mod tokens;
mod webhooks;

#[cfg(test)]
mod tests;

use serde_json::Value;

use self::{
    badges::{did_document, status_list},
    channel::{mailbox, send, send_batch},
    webhooks::{
        act, any_act,
        changes::{
            DeleteWebhook, EnableWebhook, ListWebhooks, RotateWebhookSecret, TestWebhook,
            UpdateWebhook,
        },
        deliveries::{ListDeliveries, RecoverDeliveries, RedeliverEvent},
        register, relay,
    },
};
use crate::{
    endpoint::Row,
    openapi::{DocumentHead, document as render},
};

/// Returns all endpoints in the order of the OpenAPI document.
pub(crate) fn table() -> Vec<Row> {
    vec![
        Row::post("/v1/did/activate", identities::activate_endpoint()),
        Row::post("/v1/did/status", identities::status_endpoint()),
        Row::post("/v1/did/resolve", identities::resolve_endpoint()),
        Row::post("/v1/did/policy", identities::policy_endpoint()),
        Row::post("/v1/auth/login", sessions::login_endpoint()),
        Row::post("/v1/auth/logout", sessions::logout_endpoint()),
        Row::post("/v1/auth/rotate-secret", sessions::rotate_secret_endpoint()),
        Row::post("/v1/auth/recover", sessions::recover_endpoint()),
        Row::post("/v1/auth/tokens/create", tokens::create_endpoint()),
        Row::post("/v1/auth/tokens/list", tokens::list_endpoint()),
        Row::post("/v1/auth/tokens/revoke", tokens::revoke_endpoint()),
        Row::post("/v1/account/activity", account::activity_endpoint()),
        Row::post("/v1/account/export", account::export_endpoint()),
        Row::post("/v1/account/close", account::close_endpoint()),
        Row::post("/v1/channel/send", send::endpoint()),
        Row::post("/v1/channel/send-batch", send_batch::endpoint()),
        Row::post("/v1/channel/open", mailbox::open_endpoint()),
        Row::post("/v1/channel/receipt", mailbox::receipt_endpoint()),
        Row::post("/v1/channel/evidence", mailbox::evidence_endpoint()),
        Row::post("/v1/channel/list", mailbox::list_endpoint()),
        Row::post("/v1/webhooks/register", register::endpoint()),
        Row::post("/v1/webhooks/list", act::endpoint::<ListWebhooks>()),
        Row::post("/v1/webhooks/delete", act::endpoint::<DeleteWebhook>()),
        Row::post("/v1/webhooks/enable", act::endpoint::<EnableWebhook>()),
        Row::post("/v1/webhooks/rotate-secret", act::endpoint::<RotateWebhookSecret>()),
        Row::post("/v1/webhooks/deliveries", act::endpoint::<ListDeliveries>()),
        Row::post("/v1/webhooks/redeliver", act::endpoint::<RedeliverEvent>()),
        Row::post("/v1/webhooks/recover", act::endpoint::<RecoverDeliveries>()),
        Row::post("/v1/webhooks/test", act::endpoint::<TestWebhook>()),
        Row::post("/v1/webhooks/update", act::endpoint::<UpdateWebhook>()),
        Row::get("/v1/webhooks/relay", relay::endpoint()),
        Row::post("/v1/webhooks", any_act::endpoint()),
        Row::get("/v1/ping", service::ping_endpoint()),
        Row::post("/v1/badges/issue", badges::issue_endpoint()),
        Row::post("/v1/badges/verify", badges::verify_endpoint()),
        Row::get("/v1/status/{list}", status_list::endpoint()),
        Row::post("/v1/compliance/validate", badges::validate_endpoint()),
        Row::get("/.well-known/did.json", did_document::endpoint()),
        Row::get("/did.json", did_document::endpoint_below_path()),
        Row::get("/log/", service::log_key_endpoint()),
        Row::get("/log/checkpoint", service::log_checkpoint_endpoint()),
        Row::get("/log/tile/{path}*", service::log_tile_endpoint()),
        Row::get("/openapi.json", service::document_endpoint(openapi)),
    ]
}

/// Renders the OpenAPI document of a service with the public URL `base_url`. Leaves out the WebSocket of relays, which
/// OpenAPI cannot describe, and the files of the transparency log, which C2SP specifies.
pub fn openapi(base_url: &str) -> Value {
    let rows = table().into_iter().filter(|row| !row.endpoint.operation.is_left_out);
    render(base_url, &DocumentHead::public(base_url), rows)
}
