//! The page that changes the URL, the events and the description of a webhook.

use actix_web::web;
use askama::Template;
use sealpost_domain::{EventKind, WebhookId};
use sealpost_service::{KeyStanding, Update, Updated, WebhookView};

use super::{
    id_of,
    webhook::refused,
    webhooks::{description_of, events_of, with_warning},
};
use crate::{
    dashboard::{forms::SingleUse, session::SignedInUser, text::name_parts},
    html::{
        Flash, PageResponse, PageResult, Rejection,
        forms::{Draft, Form, respond},
    },
};

#[derive(Template)]
#[template(path = "dashboard/change_webhook.html")]
struct ChangePage<'a> {
    user: &'a SignedInUser,
    key: &'a KeyStanding,
    webhook: &'a WebhookView,
    /// The kinds of events that the form offers.
    events: Vec<EventKind>,
    draft: Draft<'a>,
}

pub(crate) async fn show(user: SignedInUser, path: web::Path<(String, String)>) -> PageResult {
    let (key, webhook) = path.into_inner();
    page(&user, &key, &webhook, Draft::default()).await
}

/// Changes the webhook and shows its page.
pub(crate) async fn submit(
    user: SignedInUser,
    path: web::Path<(String, String)>,
    form: Form,
) -> PageResult {
    user.check(&form)?;
    let (key, webhook) = path.into_inner();
    let id = id_of(&user, &key)?;
    let webhook = id_of::<WebhookId>(&user, &webhook)?.to_string();
    let result = async {
        let update = update_of(&user, &webhook, &form)?;
        let to = format!("/dashboard/keys/{key}/webhooks/{webhook}");
        if matches!(update, Update { url: None, events: None, description: None, .. }) {
            return Ok(Flash::notice(&to, "Nothing was changed.").redirect(&user.app));
        }
        let single_use = SingleUse::begin(&user.app, user.frame(), &form).await?;
        let actor = user.owner().await?.acting_on(&id);
        let error = match user.app.api.sealpost.webhooks.update(&actor, update).await.result {
            Ok(Updated { warning, .. }) => {
                let result = Flash::notice(&to, with_warning("The webhook is changed.", warning));
                return Ok(single_use.done(result).await);
            }
            Err(error) => error,
        };
        single_use.release().await?;
        match error.refusal().map(Rejection::from) {
            Some(rejection) if rejection.field.is_some() => Err(rejection.into()),
            _ => Err(refused(&user, &to, &error).into()),
        }
    };
    respond(&form, result.await, async |draft| page(&user, &key, &webhook, draft).await).await
}

/// Returns the changes in the form. Omits fields that the user did not change: another request may have changed the
/// webhook since the page was shown, or the service would reject an old URL or description that violates a newer rule.
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

async fn page(user: &SignedInUser, key: &str, webhook: &str, draft: Draft<'_>) -> PageResult {
    let id = id_of(user, key)?;
    let (key, report) = user
        .ask(async |owner| Ok((owner.standing(&id).await?, owner.webhook(&id, webhook).await?)))
        .await?;
    let main = ChangePage {
        user,
        key: &key,
        webhook: &report.webhook,
        events: user.app.api.sealpost.webhooks.event_kinds(),
        draft,
    };
    Ok(PageResponse::for_form(user.frame(), "Change a webhook", draft, &main))
}
