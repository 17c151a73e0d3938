//! The page of an API key: its data, usage, governance and webhooks, and the forms that change them.

pub(crate) mod evidence;
pub(crate) mod governance;
pub(crate) mod plan;
pub(crate) mod state;
pub(crate) mod webhook;

use actix_web::{http::StatusCode, web};
use askama::Template;
use sealpost_domain::{ApiKeyId, KeyStatus, Plan};
use sealpost_service::{KeyDetails, OperatorRole};

use crate::{
    console::user::ConsoleUser,
    dashboard::{
        charts::{UsageMeter, usage_meters},
        response::PageResponse,
        text::{thousands, when},
    },
};

#[derive(Template)]
#[template(path = "console/key.html")]
struct KeyPage<'a> {
    base: &'a str,
    form_token: &'a str,
    may_act: bool,
    details: KeyDetails,
    meters: [UsageMeter; 3],
    plans: &'static [&'static str],
}

pub(crate) async fn show(
    user: ConsoleUser,
    key: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let id = key_of(&user, &key)?;
    let details = user.ask(move |operator| operator.key_details(&id)).await?;
    let title = details.key.label.as_str().to_owned();
    let main = KeyPage {
        base: user.base(),
        form_token: &user.form_token,
        may_act: user.operator.role == OperatorRole::Operator,
        meters: usage_meters(&details.usage, user.state.admin.api.clock.now()),
        details,
        plans: &Plan::NAMES,
    };
    Ok(user.show("", &title, &main))
}

/// Parses the API key in a path. If the API key is malformed, returns the 404 page as the error.
fn key_of(user: &ConsoleUser, text: &str) -> Result<ApiKeyId, PageResponse> {
    text.parse().map_err(|_malformed| user.reject(StatusCode::NOT_FOUND, "There is no such key."))
}

/// Returns the path of the page of an API key.
fn path_of(id: &ApiKeyId) -> String {
    format!("/console/keys/{id}")
}
