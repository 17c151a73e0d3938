//! The form that changes the policy of an identity: the accepted senders, and the part of receipts that senders can
//! see.

use actix_web::web;
use sealpost_domain::{AcceptPolicy, ReceiptPolicy};
use sealpost_service::PolicyChange;

use super::{identity, key_of};
use crate::dashboard::{
    forms::{Form, Rejection},
    response::PageResponse,
    session::SignedInUser,
};

/// Changes the policy and shows the identity again.
pub(crate) async fn submit(
    user: SignedInUser,
    path: web::Path<String>,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    user.check(&form)?;
    let id = key_of(&user, &path)?;
    let change = change_of(&form).ok_or_else(|| PageResponse::unreadable_form(user.site()))?;
    match user.ask(async move |owner| Ok(owner.set_policy(&id, change).await)).await? {
        Ok(_) => {
            let page = format!("/dashboard/keys/{path}#policy-head");
            Ok(PageResponse::redirect(user.site(), &page))
        }
        Err(error) => match error.refusal() {
            Some(refusal) => identity::reject_policy(&user, &path, &Rejection::from(refusal)).await,
            None => Err(PageResponse::service_error(user.site(), &error)),
        },
    }
}

/// Reads the change of the policy from a form. The field `do` selects the kind of change. Returns `None` if the form is
/// malformed.
fn change_of(form: &Form) -> Option<PolicyChange> {
    let names = || form.text("names").split([' ', ',']).filter(|name| !name.is_empty());
    let names = || names().map(str::to_owned).collect();
    let change = PolicyChange::default();
    Some(match form.text("do") {
        "accept" => PolicyChange {
            accept: Some(AcceptPolicy::from_name(form.text("accept"))?),
            receipts: Some(ReceiptPolicy::from_name(form.text("receipts"))?),
            listed: Some(form.text("listed") == "yes"),
            ..change
        },
        "allow" => PolicyChange { allow: names(), ..change },
        "unallow" => PolicyChange { unallow: names(), ..change },
        "block" => PolicyChange { block: names(), ..change },
        "unblock" => PolicyChange { unblock: names(), ..change },
        _ => return None,
    })
}
