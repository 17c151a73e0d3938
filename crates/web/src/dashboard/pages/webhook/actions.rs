//! The forms of a webhook: to enable, pause, test or delete it, to rotate its secret, and to send events
//! again.

use std::time::Duration;

use actix_web::web;
use sealpost_api::admit_owner_test;
use sealpost_service::{Manage, Managed, Owner, Recover, Tested, Update};

use super::DeliveryQuery;
use crate::dashboard::{
    forms::{Form, Rejection, SingleUse},
    pages::{events::send_again, key_of},
    response::{Flash, PageResponse},
    session::SignedInUser,
    text::{failure, thousands},
};

/// Performs the action on a webhook that the field `do` of the form selects.
pub(crate) async fn act(
    user: SignedInUser,
    path: web::Path<(String, String)>,
    query: web::Query<DeliveryQuery>,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    user.check(&form)?;
    let (key, webhook_id) = path.into_inner();
    let id = key_of(&user, &key)?;
    let page = format!("/dashboard/keys/{key}/webhooks/{webhook_id}");
    if form.text("do") == "test" {
        let test = async move |owner: &Owner<'_>| owner.test_webhook(&id, webhook_id).await;
        let single_use = SingleUse::begin(&user.app, &form).await?;
        let result = match admit_owner_test(&user.app.api, user.account_id()) {
            Ok(()) => result_of(&user.ask(test).await?),
            Err(problem) => Rejection::from(&problem).text,
        };
        return Ok(single_use.done(Flash::notice(&page, result)).await);
    }
    if form.text("do") == "redeliver" {
        let single_use = SingleUse::begin(&user.app, &form).await?;
        let text = send_again(&user, &form).await?.unwrap_or_else(|problem| problem);
        let page = format!("{page}{}", query.filter());
        return Ok(single_use.done(Flash::notice(&page, text)).await);
    }
    let action = action_of(&user, &form, webhook_id)?;
    let single_use = SingleUse::begin(&user.app, &form).await?;
    let managed = match user.ask(async move |owner| Ok(owner.manage(&id, action).await)).await? {
        Ok(managed) => managed,
        Err(error) => {
            single_use.release().await?;
            return Err(user.error_response(&error));
        }
    };
    let result = match managed {
        Managed::Deleted(_) => {
            Flash::notice(&format!("/dashboard/keys/{key}/webhooks"), "The webhook is deleted.")
        }
        Managed::SecretRotated(rotated) => {
            Flash::notice(&format!("{page}/secret"), "").show_once("secret", rotated.secret)
        }
        other => Flash::notice(&format!("{page}{}", query.filter()), text_of(&other)),
    };
    Ok(single_use.done(result).await)
}

/// Describes the result of an action, for the page of the webhook.
fn text_of(managed: &Managed) -> String {
    match managed {
        Managed::Enabled(enabled) => match enabled.due_now {
            0 => "Enabled. No delivery was waiting.".to_owned(),
            1 => "Enabled. The waiting delivery is sent now.".to_owned(),
            many => format!("Enabled. {many} waiting deliveries are sent now."),
        },
        Managed::Recovered(recovered) => match recovered.recovered {
            0 => "No delivery failed in that time.".to_owned(),
            1 => "1 failed delivery is sent again now.".to_owned(),
            many => format!("{many} failed deliveries are sent again now."),
        },
        Managed::Updated(updated) if updated.webhook.paused => {
            "The webhook is paused. Its deliveries are kept until you resume it.".to_owned()
        }
        Managed::Updated(_) => {
            "The webhook is resumed. Waiting deliveries are sent now.".to_owned()
        }
        Managed::Deleted(_)
        | Managed::Deliveries(_)
        | Managed::Listed(_)
        | Managed::Redelivered(_)
        | Managed::SecretRotated(_) => String::new(),
    }
}

/// Describes the result of a test event.
fn result_of(tested: &Tested) -> String {
    let Tested { event_id, duration_ms, status_code, error, .. } = tested;
    let duration = thousands(duration_ms);
    let response = match (status_code, error) {
        (Some(status), _) => format!("the receiver responded {status}"),
        (None, Some(error)) => failure(error, tested.error_detail.as_deref()),
        (None, None) => "no response".to_owned(),
    };
    let verb = if error.is_none() { "arrived" } else { "failed" };
    format!("The test event {event_id} {verb}: {response} after {duration} ms.")
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
        pausing @ ("pause" | "resume") => Manage::Update(Update {
            webhook_id,
            url: None,
            events: None,
            description: None,
            paused: Some(pausing == "pause"),
        }),
        "rotate_secret" => Manage::RotateSecret { webhook_id },
        _ => return Err(unreadable()),
    })
}
