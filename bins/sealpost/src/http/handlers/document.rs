//! `GET /openapi.json`: the API as an OpenAPI document.

use actix_web::{HttpRequest, HttpResponse, web};

use crate::http::App;

pub(crate) async fn document(app: web::Data<App>, request: HttpRequest) -> HttpResponse {
    app.docs.document().answer(&request)
}
