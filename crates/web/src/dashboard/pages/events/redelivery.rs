//! Sends events of a log again.

use std::collections::BTreeSet;

use crate::{
    dashboard::{forms::SingleUse, pages::id_of, session::SignedInUser},
    html::{
        Flash, PageResponse, PageResult,
        forms::{Form, FormRefusal},
    },
};

/// Sends the selected events again, and redirects to `page`, which shows the result.
pub(crate) async fn send_again_and_show(
    user: &SignedInUser,
    form: &Form,
    page: &str,
) -> PageResult {
    let single_use = SingleUse::begin(&user.app, user.frame(), form).await?;
    let result = match send_again(user, form).await {
        Ok(result) => Ok(result),
        Err(FormRefusal::Rejected(rejection)) => Err(rejection.text),
        Err(FormRefusal::Page(page)) => {
            single_use.release().await?;
            return Err(page);
        }
    };
    Ok(single_use.done(Flash::outcome(page, result)).await)
}

/// Sends the selected events again. Each value of the field `selected` has an identity, one of its webhooks and an
/// event, separated by spaces.
///
/// Returns the result as text. If no event could be sent, the rejection contains the reasons.
pub(super) async fn send_again(user: &SignedInUser, form: &Form) -> Result<String, FormRefusal> {
    let selected: BTreeSet<_> = form.all("selected").into_iter().collect();
    if selected.is_empty() {
        let text = "No event is selected. Select at least one event.";
        return Err(FormRefusal::field("selected", text));
    }
    if selected.len() > SELECTED_MAX {
        let text = format!(
            "At most {SELECTED_MAX} events can be sent again at once. Select fewer events."
        );
        return Err(FormRefusal::field("selected", text));
    }
    let (mut sent, mut problems) = (0, BTreeSet::new());
    for delivery in &selected {
        let parts: Vec<_> = delivery.split(' ').map(str::to_owned).collect();
        let [key, webhook_id, envelope_id] = <[String; 3]>::try_from(parts)
            .map_err(|_malformed| PageResponse::unreadable_form(user.frame()))?;
        let id = id_of(user, &key)?;
        let actor = user.owner().await?.acting_on(&id);
        let webhooks = &user.app.api.sealpost.webhooks;
        match webhooks.redeliver(&actor, webhook_id, envelope_id).await.result {
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
    match (sent, problems.join(" ")) {
        (0, problems) => Err(FormRefusal::field("selected", problems)),
        (_, problems) if problems.is_empty() => Ok(result),
        (_, problems) => Ok(format!("{result} {problems}")),
    }
}

/// Maximum number of deliveries that a form can select. A form has at most 16 KiB, and each delivery takes about 100
/// bytes. The script of a live stream keeps at most this number of deliveries on the page.
pub(super) const SELECTED_MAX: usize = 150;
