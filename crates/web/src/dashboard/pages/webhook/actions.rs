//! The forms of a webhook. They enable, pause, resume, test or delete the webhook, rotate its secret, or send events
//! again.

use std::time::Duration;

use actix_web::web;
use sealpost_api::admit_test;
use sealpost_domain::{Refusal, Timestamp, WebhookId, WebhookStatus};
use sealpost_service::{Actor, Error, Limited, Recover, Sealpost, Tested, Update};

use super::DeliveryQuery;
use crate::{
    dashboard::{
        forms::SingleUse,
        pages::{events::send_again_and_show, id_of},
        session::SignedInUser,
    },
    html::{
        Flash, PageResponse, PageResult, Rejection,
        forms::Form,
        text::{failure, thousands},
    },
};

/// Performs the action on a webhook that the field `do` of the form selects.
pub(crate) async fn act(
    user: SignedInUser,
    path: web::Path<(String, String)>,
    query: web::Query<DeliveryQuery>,
    form: Form,
) -> PageResult {
    user.check(&form)?;
    let (key, webhook_id) = path.into_inner();
    let id = id_of(&user, &key)?;
    let webhook_id = id_of::<WebhookId>(&user, &webhook_id)?.to_string();
    let page = format!("/dashboard/keys/{key}/webhooks/{webhook_id}");
    let filtered = format!("{page}{}", query.position());
    if form.text("do") == "test" {
        let admit = |account| admit_test(&user.app.api, account);
        let single_use = SingleUse::begin(&user.app, user.frame(), &form).await?;
        let actor = user.owner().await?.acting_on(&id);
        let webhooks = &user.app.api.sealpost.webhooks;
        let result = match webhooks.test(&actor, webhook_id, admit).await.result {
            Ok(tested) => result_of(&tested),
            Err(error) => {
                let Some(limit @ Refusal::AccountRateLimited { .. }) = error.refusal() else {
                    single_use.release().await?;
                    return Err(refused(&user, &page, &error));
                };
                Err(Rejection::from(limit).text)
            }
        };
        return Ok(single_use.done(Flash::outcome(&page, result)).await);
    }
    if form.text("do") == "redeliver" {
        return send_again_and_show(&user, &form, &filtered).await;
    }
    let change = change_of(&user, &form)?;
    let single_use = SingleUse::begin(&user.app, user.frame(), &form).await?;
    let (actor, sealpost) = (user.owner().await?.acting_on(&id), &user.app.api.sealpost);
    match change.perform(sealpost, &actor, webhook_id, [&page, &filtered]).await.result {
        Ok(result) => Ok(single_use.done(result).await),
        Err(error) => {
            // The service refuses to send failed events again to a disabled or paused webhook. Shows this refusal as
            // the result of the form.
            let Some(refusal @ Refusal::InvalidField { .. }) = error.refusal() else {
                single_use.release().await?;
                return Err(refused(&user, &page, &error));
            };
            let problem = Rejection::from(refusal).text;
            Ok(single_use.done(Flash::outcome(&filtered, Err(problem))).await)
        }
    }
}

/// Returns the response to a refused action on a webhook. `page` is the path of the webhook's page. If the webhook was
/// deleted, for example in another tab, redirects to the list of webhooks, which shows the reason.
pub(crate) fn refused(user: &SignedInUser, page: &str, error: &Error) -> PageResponse {
    match error.refusal() {
        Some(Refusal::WebhookNotFound) => {
            Flash::outcome(list_of(page), Err(DELETED.to_owned())).redirect(&user.app)
        }
        _ => user.error_response(error),
    }
}

/// Returns the path of the list of webhooks. `page` is the path of the page of one webhook.
fn list_of(page: &str) -> &str {
    page.rsplit_once('/').map_or(page, |(list, _)| list)
}

/// A change of a webhook or its deliveries.
enum Change {
    Delete,
    Enable,
    Pause { paused: bool },
    RecoverSince(Timestamp),
    RotateSecret,
}

impl Change {
    /// Makes the change. Returns the result for the page to which the browser is redirected. `page` is the path of the
    /// webhook's page, and `filtered` is this path with the filter of the deliveries.
    async fn perform(
        self,
        sealpost: &Sealpost,
        actor: &Actor,
        webhook_id: String,
        [page, filtered]: [&str; 2],
    ) -> Limited<Flash> {
        match self {
            Self::Delete => {
                let deleted = sealpost.webhooks.delete(actor, webhook_id).await;
                deleted.map(|_| Flash::notice(list_of(page), "The webhook is deleted."))
            }
            Self::Enable => sealpost.webhooks.enable(actor, webhook_id).await.map(|enabled| {
                let text = match enabled.due_now {
                    _ if enabled.webhook.paused => STILL_PAUSED.to_owned(),
                    0 => "Enabled. No delivery was pending.".to_owned(),
                    1 => "Enabled. The pending delivery is sent now.".to_owned(),
                    many => {
                        format!("Enabled. {} pending deliveries are sent now.", thousands(many))
                    }
                };
                Flash::notice(filtered, text)
            }),
            Self::Pause { paused } => {
                let (url, events, description) = (None, None, None);
                let update = Update { webhook_id, url, events, description, paused: Some(paused) };
                sealpost.webhooks.update(actor, update).await.map(|updated| {
                    let text = match (updated.webhook.paused, updated.webhook.status) {
                        (true, _) => PAUSED,
                        (false, WebhookStatus::Disabled) => STILL_DISABLED,
                        (false, WebhookStatus::Enabled) => RESUMED,
                    };
                    Flash::notice(filtered, text)
                })
            }
            Self::RecoverSince(since) => {
                let recover = Recover { webhook_id, since, until: None, dry_run: false };
                sealpost.webhooks.recover(actor, recover).await.map(|recovered| {
                    let text = match recovered.recovered {
                        0 => "No delivery failed in that time.".to_owned(),
                        1 => "1 failed delivery is sent again now.".to_owned(),
                        many => {
                            format!("{} failed deliveries are sent again now.", thousands(many))
                        }
                    };
                    let rest = if recovered.more { MORE_FAILED } else { "" };
                    Flash::notice(filtered, format!("{text}{rest}"))
                })
            }
            Self::RotateSecret => {
                let rotated = sealpost.webhooks.rotate_secret(actor, webhook_id).await;
                rotated.map(|rotated| {
                    Flash::notice(&format!("{page}/secret"), "").show_once("secret", rotated.secret)
                })
            }
        }
    }
}

/// Returns the text about the result of a test event: `Ok` if the event arrived, `Err` if the attempt failed.
fn result_of(tested: &Tested) -> Result<String, String> {
    let Tested { event_id, duration_ms, status_code, error, .. } = tested;
    let duration = thousands(duration_ms);
    let response = match (status_code, error) {
        (Some(status), _) => format!("the receiver responded {status}"),
        (None, Some(error)) => failure(error, tested.error_detail.as_deref()),
        (None, None) => "no response".to_owned(),
    };
    let end = format!("{response} after {duration} ms. Its id is {event_id}.");
    match error {
        None => Ok(format!("The test event arrived: {end}")),
        Some(_) => Err(format!("The test event failed: {end}")),
    }
}

fn change_of(user: &SignedInUser, form: &Form) -> Result<Change, PageResponse> {
    let unreadable = || PageResponse::unreadable_form(user.frame());
    Ok(match form.text("do") {
        "delete" => Change::Delete,
        "enable" => Change::Enable,
        "pause" => Change::Pause { paused: true },
        "recover" => {
            let hours: u32 = form.text("hours").parse().map_err(|_malformed| unreadable())?;
            let hours = Duration::from_secs(3600 * u64::from(hours));
            Change::RecoverSince(user.app.api.clock.now().minus(hours))
        }
        "resume" => Change::Pause { paused: false },
        "rotate_secret" => Change::RotateSecret,
        _ => return Err(unreadable()),
    })
}

const DELETED: &str = "This webhook does not exist: it was deleted. Nothing was done.";
const MORE_FAILED: &str = " Further ones remain: repeat the action.";
const PAUSED: &str = "The webhook is paused. Its deliveries are kept until you resume it.";
const RESUMED: &str = "The webhook is resumed. Pending deliveries are sent now.";
const STILL_DISABLED: &str =
    "The webhook is resumed. But it is disabled: pending deliveries are sent when you enable it.";
const STILL_PAUSED: &str =
    "Enabled. But the webhook is paused: pending deliveries are sent when you resume it.";
