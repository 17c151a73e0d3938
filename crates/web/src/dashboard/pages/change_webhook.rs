//! The page that changes the URL, the events and the description of a webhook.

use actix_web::web;
use askama::Template;
use sealpost_domain::{EventKind, WebhookId};
use sealpost_service::{Actor, KeyStanding, Sealpost, Update, Updated, WebhookView};

use super::{
    key_of,
    webhook::refused,
    webhooks::{description_of, events_of, with_warning},
};
use crate::dashboard::{
    forms::{Draft, Form, Rejection, SingleUse},
    response::{Flash, PageResponse},
    session::SignedInUser,
    text::name_parts,
};

#[derive(Template)]
#[template(path = "dashboard/change_webhook.html")]
struct ChangePage<'a> {
    base: &'a str,
    form_token: &'a str,
    key: &'a KeyStanding,
    webhook: &'a WebhookView,
    /// The kinds of events that the form offers.
    events: Vec<EventKind>,
    draft: Draft<'a>,
}

pub(crate) async fn show(
    user: SignedInUser,
    path: web::Path<(String, String)>,
) -> Result<PageResponse, PageResponse> {
    let (key, webhook) = path.into_inner();
    page(&user, &key, &webhook, Draft::default()).await
}

/// Changes the webhook and shows its page.
pub(crate) async fn submit(
    user: SignedInUser,
    path: web::Path<(String, String)>,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    user.check(&form)?;
    let (key, webhook) = path.into_inner();
    let id = key_of(&user, &key)?;
    let Ok(webhook) = webhook.parse::<WebhookId>().map(|id| id.to_string()) else {
        return Err(PageResponse::not_found(user.frame()));
    };
    let update = match update_of(&user, &webhook, &form) {
        Ok(update) => update,
        Err(rejection) => {
            return page(&user, &key, &webhook, Draft::rejected(&form, &rejection)).await;
        }
    };
    let to = format!("/dashboard/keys/{key}/webhooks/{webhook}");
    if matches!(update, Update { url: None, events: None, description: None, .. }) {
        return Ok(Flash::notice(&to, "Nothing was changed.").redirect(&user.app));
    }
    let single_use = SingleUse::begin(&user.app, user.frame(), &form).await?;
    let change =
        async |sealpost: &Sealpost, actor: &Actor| sealpost.webhooks.update(actor, update).await;
    match user.act(&id, change).await? {
        Ok(Updated { warning, .. }) => {
            let result = Flash::notice(&to, with_warning("The webhook is changed.", warning));
            Ok(single_use.done(result).await)
        }
        Err(error) => {
            single_use.release().await?;
            match error.refusal().map(Rejection::from) {
                Some(rejection) if rejection.field.is_some() => {
                    page(&user, &key, &webhook, Draft::rejected(&form, &rejection)).await
                }
                _ => Err(refused(&user, &to, &error)),
            }
        }
    }
}

/// Returns the changes in the form. Omits fields that the user did not change, for two reasons. Another request may
/// have changed the webhook since the page was shown. And an old URL or description may violate a newer rule, so the
/// service would reject the form.
fn update_of(user: &SignedInUser, webhook_id: &str, form: &Form) -> Result<Update, Rejection> {
    // With one kind of event, the form has no field for events.
    let events = match &user.app.api.sealpost.webhooks.event_kinds()[..] {
        [_] => None,
        _ => Some(events_of(user, form)?),
    };
    let events = events.filter(|_| form.is_changed("events"));
    Ok(Update {
        webhook_id: webhook_id.to_owned(),
        url: form.is_changed("url").then(|| form.text("url").to_owned()),
        events: events.map(|kinds| kinds.iter().map(|kind| kind.as_str().to_owned()).collect()),
        description: form.is_changed("description").then(|| description_of(form)).transpose()?,
        paused: None,
    })
}

async fn page(
    user: &SignedInUser,
    key: &str,
    webhook: &str,
    draft: Draft<'_>,
) -> Result<PageResponse, PageResponse> {
    let id = key_of(user, key)?;
    let (key, report) = user
        .ask(async |owner| Ok((owner.standing(&id).await?, owner.webhook(&id, webhook).await?)))
        .await?;
    let main = ChangePage {
        base: user.base(),
        form_token: &user.form_token,
        key: &key,
        webhook: &report.webhook,
        events: user.app.api.sealpost.webhooks.event_kinds(),
        draft,
    };
    Ok(PageResponse::of_form(user.frame(), "Change a webhook", draft, &main))
}
