//! Receives events in an actix-web application.

use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, Route, http::StatusCode, web};

use super::{BODY_BYTES_MAX, receiver::Receiver, status_of};

/// Returns a handler for `POST`: `App::new().route("/hook", handler(receiver.clone()))`.
pub fn handler(receiver: Receiver) -> Route {
    web::post().to(move |request: HttpRequest, body: web::Payload| {
        let receiver = receiver.clone();
        async move { receive(&receiver, &request, body).await }
    })
}

async fn receive(receiver: &Receiver, request: &HttpRequest, body: web::Payload) -> HttpResponse {
    let body = match body.to_bytes_limited(BODY_BYTES_MAX).await {
        Ok(Ok(body)) => body,
        Ok(Err(_broken)) => return HttpResponse::BadRequest().finish(),
        Err(_too_long) => return HttpResponse::PayloadTooLarge().finish(),
    };
    let pairs = request.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    let status = status_of(receiver, pairs, &body).await;
    HttpResponseBuilder::new(
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
    )
    .finish()
}
