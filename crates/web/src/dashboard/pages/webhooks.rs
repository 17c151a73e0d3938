//! The webhooks of an identity, and the form that registers another. Also the list of the webhooks of all identities.

use actix_web::web;
use askama::Template;
use sealpost_domain::{Description, EventKind, KeyStatus, Timestamp};
use sealpost_service::{KeyStanding, Register, Registered, Truncated, WaitingChoice, WebhookView};

use super::{id_of, identity::IdentityHead, scope::Scope};
use crate::{
    dashboard::{
        charts::Sparkline,
        forms::SingleUse,
        health::{WebhookCard, WebhookState, state_of, why_unhealthy},
        session::SignedInUser,
        text::{ago, elapsed, url_parts},
    },
    html::{
        Flash, PageResponse, PageResult, Rejection,
        forms::{Draft, Form, respond},
        text::{failure, thousands},
    },
};

#[derive(Template)]
#[template(path = "dashboard/webhooks.html")]
struct WebhooksPage<'a> {
    user: &'a SignedInUser,
    head: IdentityHead<'a>,
    key: &'a KeyStanding,
    now: Timestamp,
    webhooks: Vec<WebhookCard<'a>>,
    /// The kinds of events that the form of a new webhook offers.
    events: Vec<EventKind>,
    draft: Draft<'a>,
}

/// The webhooks of all identities of the account.
#[derive(Template)]
#[template(path = "dashboard/account_webhooks.html")]
struct AccountWebhooksPage<'a> {
    user: &'a SignedInUser,
    now: Timestamp,
    scope: Scope,
    webhooks: Truncated<WebhookView>,
}

pub(crate) async fn show_all(user: SignedInUser) -> PageResult {
    let scope = Scope::load(&user, None, "").await?;
    let main = AccountWebhooksPage {
        user: &user,
        now: user.app.api.clock.now(),
        scope,
        webhooks: user.ask(async |owner| owner.account_webhooks().await).await?,
    };
    Ok(PageResponse::ok(user.frame(), "Webhooks", &main))
}

pub(crate) async fn show(user: SignedInUser, key: web::Path<String>) -> PageResult {
    page(&user, &key, Draft::default()).await
}

/// Registers a webhook, and redirects to the page that shows its signing secret.
pub(crate) async fn register(
    user: SignedInUser,
    path: web::Path<String>,
    form: Form,
) -> PageResult {
    let result = async {
        user.check(&form)?;
        let id = id_of(&user, &path)?;
        let skips = form.text("waiting") == "skip";
        let input = Register {
            url: form.text("url").to_owned(),
            events: events_of(&user, &form)?,
            description: description_of(&form)?,
            waiting: if skips { WaitingChoice::Skip } else { WaitingChoice::Deliver },
        };
        let single_use = SingleUse::begin(&user.app, user.frame(), &form).await?;
        let actor = user.owner().await?.acting_on(&id);
        let registered = user.app.api.sealpost.webhooks.register(&actor, input).await.result;
        let registered = single_use.unless_refused(&user, registered).await?;
        let Registered { webhook_id, secret, warning, .. } = registered;
        let page = format!("/dashboard/keys/{path}/webhooks/{webhook_id}/secret");
        let result = Flash::notice(&page, with_warning("The webhook is registered.", warning));
        Ok(single_use.done(result.show_once("secret", secret)).await)
    };
    respond(&form, result.await, async |draft| page(&user, &path, draft).await).await
}

/// Returns the kinds of events that the user selected for a new webhook. If the service has only one kind, the form has
/// no field for events, and this kind is returned.
pub(super) fn events_of(user: &SignedInUser, form: &Form) -> Result<Vec<EventKind>, Rejection> {
    let sealpost = &user.app.api.sealpost;
    let names = form.all("events");
    match &sealpost.webhooks.event_kinds()[..] {
        [only] => Ok(vec![*only]),
        _ if names.is_empty() => Err(Rejection::field("events", "Choose at least one event.")),
        _ => sealpost.webhooks.find_events(&names).map_err(|refusal| Rejection::from(&refusal)),
    }
}

/// Returns the description in the form. `None` if the field is empty.
pub(super) fn description_of(form: &Form) -> Result<Option<Description>, Rejection> {
    let description = Description::parse_new(form.text("description"));
    description
        .map_err(|fault| Rejection::field("description", format!("The description {fault}.")))
}

/// Adds the warning of the service, such as a host name that does not resolve yet, to the result of a form.
pub(super) fn with_warning(result: &str, warning: Option<String>) -> String {
    match warning {
        Some(warning) => format!("{result} But {warning}."),
        None => result.to_owned(),
    }
}

async fn page(user: &SignedInUser, key: &str, draft: Draft<'_>) -> PageResult {
    let id = id_of(user, key)?;
    let (key, webhooks) = user
        .ask(async |owner| Ok((owner.standing(&id).await?, owner.webhooks(&id).await?)))
        .await?;
    let main = WebhooksPage {
        user,
        head: IdentityHead::new(user, &key, "/webhooks"),
        key: &key,
        now: user.app.api.clock.now(),
        webhooks: webhooks.iter().map(WebhookCard::new).collect(),
        events: user.app.api.sealpost.webhooks.event_kinds(),
        draft,
    };
    let title = format!("Webhooks of {}", key.label);
    Ok(PageResponse::for_form(user.frame(), &title, draft, &main))
}
