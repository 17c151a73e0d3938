//! `GET /v1/status/{list}`: publishes which badges are revoked, as a signed bitstring status list.

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{self, HeaderMap},
    web,
};
use sealpost_domain::Code;
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    response::Problem,
    state::ApiState,
};

async fn status_list(
    app: web::Data<ApiState>,
    list: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Problem> {
    let credential = app.sealpost.badges.status_list(&list).await?;
    let credential = credential.ok_or(Problem::NotFound { nearest: None })?;
    Ok(HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, format!("public, max-age={MAX_AGE_S}")))
        // Lets verifiers in a browser read the list from pages of any origin.
        .insert_header((header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"))
        .insert_header((header::VARY, "Accept"))
        .insert_header((header::CONTENT_TYPE, content_type(request.headers())))
        .body(credential.to_string()))
}

/// Returns the content type of the status list. Clients that accept `text/plain` but not `vc+jwt` get `text/plain`,
/// because verifiers of Open Badges expect this type. All other clients get `application/vc+jwt`.
fn content_type(headers: &HeaderMap) -> &'static str {
    let accepted = headers.get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok());
    let accepts = |name: &str| accepted.is_some_and(|accepted| accepted.contains(name));
    if accepts("text/plain") && !accepts("vc+jwt") { PLAIN } else { VC_JWT }
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    let credential = json!(
        "eyJhbGciOiJFZERTQSIsImN0eSI6InZjIiwidHlwIjoidmMrand0In0.eyJpc3MiOiJkaWQ6d2ViOnNlYWwuZXhhbXBsZS5vcmcifQ.c2lnbmF0dXJl"
    );
    let operation = Operation::new::<String>("getStatusList", credential)
        .describe(Tag::Badges, "Get a status list", DESCRIPTION)
        .content_types(&[VC_JWT, PLAIN])
        .parameter(json!({
            "name": "list",
            "in": "path",
            "required": true,
            "description": "The number of the list, as in the address in `credentialStatus` of a badge.",
            "schema": { "type": "string" },
            "example": "1",
        }))
        .refuses(&[Code::NotFound, Code::InternalError, Code::ServiceUnavailable]);
    Endpoint { operation, route: web::route().to(status_list) }
}

const DESCRIPTION: &str = "\
Lists revoked badges: a W3C Bitstring Status List as a signed credential. Any verifier may fetch it and cache it for a \
few seconds. With `Accept: text/plain` the content type is `text/plain`.";

const VC_JWT: &str = "application/vc+jwt";
const PLAIN: &str = "text/plain";
const MAX_AGE_S: u32 = 10;
