//! `GET /v1/webhooks/relay`: connects the receiver of a relay by WebSocket (RFC 6455).

mod frames;
mod socket;

use actix_web::{HttpRequest, HttpResponse, http::header, web};
use sealpost_domain::Refusal;
use sealpost_service::Purpose;
use serde_json::Value;

use self::socket::Socket;
use super::act::CHANGE;
use crate::{
    connection_record::ConnectionRecord,
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{KeyRequest, credentials_in_headers, request_source},
    response::{Counted, Problem, call_as_key, limits_of},
    state::ApiState,
};

async fn relay(
    app: web::Data<ApiState>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, Problem> {
    if !is_websocket(&request) {
        return Err(Problem::UpgradeRequired);
    }
    let credentials = credentials_in_headers(request.headers())?;
    let asked = KeyRequest { credentials, body: webhook_id(&request), memory: None };
    let address = request_source(&app, &request).address;
    let opened = call_as_key(&app, asked, CHANGE, Purpose::Manage, async |sealpost, caller, id| {
        sealpost.webhooks.open_relay(caller, id, address).await
    });
    let opened = opened.await?;
    let limits = limits_of(&opened, Counted::Requests);
    let relay = opened.result.map_err(|error| Problem::Service { error, limits })?;
    let Ok((response, session, messages)) = actix_ws::handle(&request, payload) else {
        app.sealpost.webhooks.end_relay(relay.id).await;
        return Err(Problem::UpgradeRequired);
    };
    let connection = request.conn_data::<ConnectionRecord>().cloned().unwrap_or_default();
    connection.authenticate();
    let socket = Socket { app, relay, session, messages, connection };
    actix_web::rt::spawn(socket.serve());
    Ok(response)
}

/// Whether the request asks for a WebSocket. The handshake is checked later.
fn is_websocket(request: &HttpRequest) -> bool {
    let upgrade = request.headers().get(header::UPGRADE).and_then(|value| value.to_str().ok());
    request.head().upgrade() && upgrade.is_some_and(|value| value.eq_ignore_ascii_case("websocket"))
}

/// Returns the parameter `webhook_id` of the query. An absent or empty parameter is the error `MISSING_FIELD`.
fn webhook_id(request: &HttpRequest) -> Result<String, Refusal> {
    let field = "webhook_id";
    let pairs = web::Query::<Vec<(String, String)>>::from_query(request.query_string());
    let pairs = pairs.map_err(|_malformed| Refusal::MissingField { field })?;
    let id = pairs.into_inner().into_iter().find(|(name, _)| name == field).map(|(_, id)| id);
    id.filter(|id| !id.is_empty()).ok_or(Refusal::MissingField { field })
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(relay) }
}

/// Describes the endpoint. The OpenAPI document leaves it out, because OpenAPI does not describe upgrades of a
/// connection.
fn operation() -> Operation {
    Operation::new::<Value>("connectRelay", Value::Null)
        .describe(Tag::Webhooks, "Connect to a relay", "Upgrades the connection to a WebSocket.")
        .session_and_key(CHANGE)
        .leave_out()
}
