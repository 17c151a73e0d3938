//! Sends events of a log again.

use std::collections::BTreeSet;

use sealpost_service::{Actor, Sealpost};

use crate::dashboard::{
    forms::{Form, SingleUse},
    pages::id_of,
    response::{Flash, PageResponse, PageResult},
    session::SignedInUser,
};

/// Sends the selected events again, and redirects to `page`, which shows the result.
pub(crate) async fn send_again_and_show(
    user: &SignedInUser,
    form: &Form,
    page: &str,
) -> PageResult {
    let single_use = SingleUse::begin(&user.app, user.frame(), form).await?;
    match send_again(user, form).await {
        Ok(result) => Ok(single_use.done(Flash::outcome(page, result)).await),
        Err(rejected) => {
            single_use.release().await?;
            Err(rejected)
        }
    }
}

/// Sends the selected events again. Each value of the field `selected` has an identity, one of its webhooks and an
/// event, separated by spaces.
///
/// Returns the result as text. If no event could be sent, the inner error contains the reasons. The outer error is an
/// error page, for example for a malformed form.
pub(super) async fn send_again(
    user: &SignedInUser,
    form: &Form,
) -> Result<Result<String, String>, PageResponse> {
    let selected: BTreeSet<_> = form.all("selected").into_iter().collect();
    if selected.is_empty() {
        return Ok(Err("No event is selected. Select at least one event.".to_owned()));
    }
    if selected.len() > SELECTED_MAX {
        return Ok(Err(format!(
            "At most {SELECTED_MAX} events can be sent again at once. Select fewer events."
        )));
    }
    let (mut sent, mut problems) = (0, BTreeSet::new());
    for delivery in &selected {
        let parts: Vec<_> = delivery.split(' ').map(str::to_owned).collect();
        let [key, webhook_id, envelope_id] = <[String; 3]>::try_from(parts)
            .map_err(|_malformed| PageResponse::unreadable_form(user.frame()))?;
        let id = id_of(user, &key)?;
        let redeliver = async |sealpost: &Sealpost, actor: &Actor| {
            sealpost.webhooks.redeliver(actor, webhook_id, envelope_id).await
        };
        match user.act(&id, redeliver).await? {
            Ok(_) => sent += 1,
            Err(error) => {
                problems.insert(user.rejection(&error)?.text);
            }
        }
    }
    let result = match sent {
        1 => "1 event is sent again now.".to_owned(),
        many => format!("{many} events are sent again now."),
    };
    let problems: Vec<_> = problems.into_iter().collect();
    Ok(match (sent, problems.join(" ")) {
        (0, problems) => Err(problems),
        (_, problems) if problems.is_empty() => Ok(result),
        (_, problems) => Ok(format!("{result} {problems}")),
    })
}

/// Maximum number of deliveries that a form can select. A form has at most 16 KiB, and each delivery takes about 100
/// bytes. The script of a live stream keeps at most this number of deliveries on the page.
pub(super) const SELECTED_MAX: usize = 150;
