//! `POST /v1/webhooks`: manages the webhooks of an API key and their deliveries.

mod action;
mod examples;

use actix_web::web;
use sealpost_domain::Code;
use sealpost_service::{Managed, Purpose};

use self::action::Action;
use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::KeyRequest,
    response::{LimitedResponse, ask_as_key},
    state::ApiState,
};

async fn manage(app: web::Data<ApiState>, request: KeyRequest<Action>) -> LimitedResponse<Managed> {
    ask_as_key(&app, request, Purpose::Manage, async |sealpost, caller, action: Action| {
        sealpost.manage(caller, action.into_input()).await
    })
    .await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(manage) }
}

fn operation() -> Operation {
    Operation::new::<Managed>("manageWebhooks", examples::list())
        .or_responds("delete", examples::deleted())
        .or_responds("deliveries", examples::deliveries())
        .or_responds("enable", examples::enabled())
        .or_responds("recover", examples::recovered())
        .or_responds("redeliver", examples::redelivered())
        .or_responds("rotate_secret", examples::rotated())
        .describe(Tag::Webhooks, "Manage webhooks and deliveries", DESCRIPTION)
        .session_and_key()
        .body::<Action>(examples::actions())
        .refuses(&[Code::MissingField, Code::EnvelopeNotFound, Code::WebhookNotFound])
}

const DESCRIPTION: &str = "\
`action` names the operation on the key's webhooks. `list` shows them without their secrets, oldest first. `deliveries` \
shows pending deliveries and all attempts, newest first, in pages. `redeliver` sends one event again. `recover` sends \
all events again that failed since a time, at most 10,000 per request; with `dry_run` it only counts them. `enable` \
enables a disabled webhook. `rotate_secret` creates a new secret and shows it only once; for 24 hours events carry the \
signatures of both secrets.";
