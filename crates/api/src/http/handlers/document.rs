//! `GET /openapi.json`: the API as an OpenAPI document.

use actix_web::{HttpRequest, HttpResponse, web};

use crate::http::ApiState;

pub(crate) async fn document(app: web::Data<ApiState>, request: HttpRequest) -> HttpResponse {
    app.document().answer(&request)
}
