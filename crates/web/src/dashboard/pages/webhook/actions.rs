//! The forms of webhooks: to register, enable, test or delete a webhook, to rotate its secret, and to send events
//! again.

use std::time::Duration;

use actix_web::web;
use askama::Template;
use sealpost_api::admit_owner_test;
use sealpost_domain::EventKind;
use sealpost_service::{
    Manage, Managed, Owner, Recover, Register, Registered, Tested, WaitingChoice,
};

use super::{DeliveryQuery, load};
use crate::dashboard::{
    forms::{Form, Rejection},
    pages::{identity, key_of},
    response::PageResponse,
    session::SignedInUser,
    text::thousands,
};

/// The page with the new signing secret of a webhook. The service cannot show the secret again.
#[derive(Template)]
#[template(path = "dashboard/webhook_secret.html")]
struct SecretPage<'a> {
    base: &'a str,
    key: &'a str,
    webhook_id: &'a str,
    secret: &'a str,
    is_new: bool,
}

/// Registers a webhook for an API key, and shows the signing secret of the webhook.
pub(crate) async fn register(
    user: SignedInUser,
    path: web::Path<String>,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    user.check(&form)?;
    let id = key_of(&user, &path)?;
    let url = form.text("url").to_owned();
    let events = match events_of(&user, &form) {
        Ok(events) => events,
        Err(rejection) => return identity::reject_webhook(&user, &path, &url, &rejection).await,
    };
    let waiting =
        if form.text("waiting") == "skip" { WaitingChoice::Skip } else { WaitingChoice::Deliver };
    let input = Register { url: url.clone(), events, waiting };
    match user.ask(async move |owner| Ok(owner.register(&id, input).await)).await? {
        Ok(Registered { webhook_id, secret, .. }) => {
            Ok(show_secret(&user, &path, &webhook_id.to_string(), &secret, true))
        }
        Err(error) => match error.refusal() {
            Some(refusal) => {
                identity::reject_webhook(&user, &path, &url, &Rejection::from(refusal)).await
            }
            None => Err(PageResponse::service_error(user.site(), &error)),
        },
    }
}

/// Returns the kinds of events that the user selected for a new webhook. If the service has only one kind, the form has
/// no field for events, and this kind is returned.
fn events_of(user: &SignedInUser, form: &Form) -> Result<Vec<EventKind>, Rejection> {
    let sealpost = &user.app.api.sealpost;
    let names = form.all("events");
    match &sealpost.event_kinds()[..] {
        [only] => Ok(vec![*only]),
        _ if names.is_empty() => Err(Rejection::field("Choose at least one event.")),
        _ => sealpost.find_events(&names).map_err(|refusal| Rejection::from(&refusal)),
    }
}

/// Performs the action on a webhook that the field `do` of the form selects.
pub(crate) async fn act(
    user: SignedInUser,
    path: web::Path<(String, String)>,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    user.check(&form)?;
    let (key, webhook_id) = path.into_inner();
    let id = key_of(&user, &key)?;
    if form.text("do") == "block_sender" {
        let envelope_id = form.text("envelope_id").to_owned();
        let sender =
            user.ask(async move |owner| owner.block_sender(&id, envelope_id).await).await?;
        let result = format!("{sender} is blocked. It can no longer send to this key.");
        return load(&user, &key, &webhook_id, &DeliveryQuery::default(), Some(result)).await;
    }
    if form.text("do") == "test" {
        let account = user.ask(async |owner| Ok(owner.account_id())).await?;
        let result = match admit_owner_test(&user.app.api, account) {
            Ok(()) => {
                let hook = webhook_id.clone();
                let test = async move |owner: &Owner<'_>| owner.test_webhook(&id, hook).await;
                result_of(&user.ask(test).await?)
            }
            Err(problem) => Rejection::from(&problem).text,
        };
        let result = Some(result);
        return load(&user, &key, &webhook_id, &DeliveryQuery::default(), result).await;
    }
    let action = action_of(&user, &form, webhook_id.clone())?;
    let result = match user.ask(async move |owner| owner.manage(&id, action).await).await? {
        Managed::Deleted(_) => {
            return Ok(PageResponse::redirect(user.site(), &format!("/dashboard/keys/{key}")));
        }
        Managed::SecretRotated(rotated) => {
            return Ok(show_secret(&user, &key, &webhook_id, &rotated.secret, false));
        }
        Managed::Enabled(enabled) => match enabled.due_now {
            0 => Some("Enabled. No delivery was waiting.".to_owned()),
            1 => Some("Enabled. The waiting delivery is sent now.".to_owned()),
            many => Some(format!("Enabled. {many} waiting deliveries are sent now.")),
        },
        Managed::Recovered(recovered) => match recovered.recovered {
            0 => Some("No delivery failed in that time.".to_owned()),
            1 => Some("1 failed delivery is sent again now.".to_owned()),
            many => Some(format!("{many} failed deliveries are sent again now.")),
        },
        Managed::Redelivered(_) => Some("The event is sent again now.".to_owned()),
        Managed::Deliveries(_) | Managed::Listed(_) => None,
    };
    load(&user, &key, &webhook_id, &DeliveryQuery::default(), result).await
}

/// Describes the result of a test event.
fn result_of(tested: &Tested) -> String {
    let Tested { event_id, duration_ms, status_code, error, .. } = tested;
    let response = match (status_code, error) {
        (Some(status), _) => format!("responded {status}"),
        (None, Some(error)) => format!("did not respond: {error}"),
        (None, None) => "did not respond".to_owned(),
    };
    let duration = thousands(duration_ms);
    match error {
        None => format!(
            "The test event {event_id} arrived: the receiver {response} after {duration} ms."
        ),
        Some(_) => format!(
            "The test event {event_id} failed: the receiver {response} after {duration} ms."
        ),
    }
}

fn action_of(user: &SignedInUser, form: &Form, webhook_id: String) -> Result<Manage, PageResponse> {
    let unreadable = || PageResponse::unreadable_form(user.site());
    Ok(match form.text("do") {
        "delete" => Manage::Delete { webhook_id },
        "enable" => Manage::Enable { webhook_id },
        "recover" => {
            let hours: u32 = form.text("hours").parse().map_err(|_malformed| unreadable())?;
            let since =
                user.app.api.clock.now().minus(Duration::from_secs(3600 * u64::from(hours)));
            Manage::Recover(Recover { webhook_id, since, until: None, dry_run: false })
        }
        "redeliver" => {
            Manage::Redeliver { webhook_id, envelope_id: form.text("envelope_id").to_owned() }
        }
        "rotate_secret" => Manage::RotateSecret { webhook_id },
        _ => return Err(unreadable()),
    })
}

fn show_secret(
    user: &SignedInUser,
    key: &str,
    webhook_id: &str,
    secret: &str,
    is_new: bool,
) -> PageResponse {
    let main = SecretPage { base: user.base(), key, webhook_id, secret, is_new };
    PageResponse::ok(user.frame(), "Signing secret", &main)
}
