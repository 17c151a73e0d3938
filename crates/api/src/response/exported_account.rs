//! The response with an exported account. The body is streamed in parts, so that a large account needs little memory.

use std::{io, sync::Arc};

use actix_web::{HttpResponse, http::header, web::Bytes};
use futures_util::stream;
use sealpost_domain::with_causes;
use sealpost_service::ExportPosition;

use crate::state::ApiState;

/// Returns the response with the account, as a file to download. Reads the next part of the data only when the
/// connection can take more bytes. After an error, closes the connection before the body is complete, so that the
/// client detects the error.
pub fn exported_account(app: &ApiState, begun: ExportPosition) -> HttpResponse {
    let file = format!("attachment; filename=\"sealpost-{}.json\"", begun.account_id());
    let sealpost = Arc::clone(&app.sealpost);
    let portions = stream::try_unfold(begun, move |position| {
        let sealpost = Arc::clone(&sealpost);
        async move {
            let portion = sealpost.accounts.export_portion(position).await;
            let portion = portion.inspect_err(|error| {
                tracing::error!(error = with_causes(error), "the export of an account ended early");
            });
            let portion = portion.map_err(io::Error::other)?;
            Ok::<_, io::Error>(portion.map(|(text, position)| (Bytes::from(text), position)))
        }
    });
    HttpResponse::Ok()
        .content_type("application/json")
        .insert_header((header::CONTENT_DISPOSITION, file))
        .streaming(portions)
}
