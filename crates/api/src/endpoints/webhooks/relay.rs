//! `GET /v1/webhooks/relay`: opens the WebSocket (RFC 6455) of a relay, a webhook with the URL `relay:`. The receiver
//! of a relay has no public address, and gets the deliveries over this WebSocket.

mod frames;
mod socket;

use actix_web::{HttpRequest, HttpResponse, http::header, web};
use actix_ws::{MessageStream, Session};
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
    response::{Counted, Problem, WEBSOCKET_VERSION, call_as_key, limits_of},
    state::ApiState,
};

async fn relay(
    app: web::Data<ApiState>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, Problem> {
    // Checks the handshake first, because a request that cannot become a WebSocket must not count as a connection.
    let (mut response, session, messages) = accept_handshake(&request, payload)?;
    let credentials = credentials_in_headers(request.headers())?;
    let asked = KeyRequest { credentials, body: webhook_id(&request), memory: None };
    let address = request_source(&app, &request).address;
    let opened = call_as_key(&app, asked, CHANGE, Purpose::Manage, async |sealpost, caller, id| {
        sealpost.webhooks.open_relay(caller, id, address).await
    });
    let opened = opened.await?;
    let limits = limits_of(&opened, Counted::Requests);
    for (name, value) in limits.iter().flat_map(|limits| limits.headers()) {
        response.headers_mut().insert(name, value);
    }
    let relay = opened.result.map_err(|error| Problem::Service { error, limits })?;
    let connection = request.conn_data::<ConnectionRecord>().cloned().unwrap_or_default();
    connection.upgrade();
    let socket = Socket { app, relay, session, messages, connection };
    actix_web::rt::spawn(socket.serve());
    Ok(response)
}

/// Checks the handshake of a WebSocket (RFC 6455, section 4.2.1). Returns the response, and the two directions of the
/// WebSocket. Fails if the request does not ask for a WebSocket, asks for a version other than 13, or has no valid
/// `Sec-WebSocket-Key`.
fn accept_handshake(
    request: &HttpRequest,
    payload: web::Payload,
) -> Result<(HttpResponse, Session, MessageStream), Problem> {
    if !is_websocket(request) {
        return Err(Problem::UpgradeRequired { has_other_version: false });
    }
    let version = request.headers().get(header::SEC_WEBSOCKET_VERSION);
    if version.is_none_or(|version| version.as_bytes() != WEBSOCKET_VERSION.as_bytes()) {
        return Err(Problem::UpgradeRequired { has_other_version: true });
    }
    // The checks above cover all other rules of `actix_ws::handle`, so its error is about the key.
    let invalid_key = |_error| Problem::InvalidHttp {
        field: Some("Sec-WebSocket-Key"),
        problem: "must be sent with 16 random bytes in base64 (RFC 6455, section 4.1)",
    };
    actix_ws::handle(request, payload).map_err(invalid_key)
}

/// Returns true if the request asks for a WebSocket of any version.
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

/// Returns the endpoint. The OpenAPI document leaves this endpoint out, because OpenAPI cannot describe the upgrade of
/// a connection to a WebSocket.
pub(in crate::endpoints) fn endpoint() -> Endpoint {
    let operation = Operation::new::<Value>("connectRelay", Value::Null)
        .describe(Tag::Webhooks, "Connect to a relay", "Upgrades the connection to a WebSocket.")
        .session_and_key(CHANGE)
        .leave_out();
    Endpoint { operation, route: web::route().to(relay) }
}
