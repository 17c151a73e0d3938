//! `GET /v1/status/{list}`: which badges were taken back, as a credential that any verifier can fetch.

use actix_web::{HttpResponse, http::header, web};

use crate::http::{ApiState, Problem};

pub(crate) async fn status_list(
    app: web::Data<ApiState>,
    list: web::Path<String>,
) -> Result<HttpResponse, Problem> {
    let credential = app.sealpost.status_list(&list).await?;
    let credential = credential.ok_or(Problem::NotFound)?;
    Ok(HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, format!("public, max-age={CACHED_FOR_S}")))
        // A verifier may run in anybody's page.
        .insert_header((header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"))
        .insert_header((header::CONTENT_TYPE, "application/vc+jwt"))
        .body(credential.to_string()))
}

const CACHED_FOR_S: u32 = 10;
