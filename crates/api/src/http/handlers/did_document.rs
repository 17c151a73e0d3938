//! `GET /.well-known/did.json`: by which keys the service signs. Where its address has a path, did:web looks for
//! `did.json` right under that.

use actix_web::{HttpResponse, http::header, web};

use crate::http::ApiState;

pub(crate) async fn did_document(app: web::Data<ApiState>) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, format!("public, max-age={CACHED_FOR_S}")))
        // A verifier may run in anybody's page.
        .insert_header((header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"))
        .insert_header((header::CONTENT_TYPE, "application/did+json"))
        .body(serde_json::to_string(&app.issuer.did_document()).unwrap_or_default())
}

/// Shorter than a new key is published before it signs.
const CACHED_FOR_S: u32 = 3;
