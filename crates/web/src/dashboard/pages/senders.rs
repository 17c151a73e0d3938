//! The policy of an identity: the accepted senders, and the part of receipts that senders can see.

use std::collections::HashMap;

use actix_web::web;
use askama::Template;
use sealpost_domain::{AcceptPolicy, ApiKeyId, KeyStatus, ReceiptPolicy};
use sealpost_service::{Correspondent, KeyStanding, PolicyChange, PolicyView};

use super::{id_of, identity::IdentityHead};
use crate::{
    dashboard::{
        session::SignedInUser,
        text::{handle_of, name_of},
    },
    html::{
        Flash, PageResponse, PageResult,
        forms::{Draft, Form, FormRefusal, respond},
    },
};

#[derive(Template)]
#[template(path = "dashboard/senders.html")]
struct SendersPage<'a> {
    user: &'a SignedInUser,
    head: IdentityHead<'a>,
    key: &'a KeyStanding,
    policy: &'a PolicyView,
    lists: [SenderList<'a>; 2],
    draft: Draft<'a>,
}

/// The allowed or the blocked senders of a key, with the actions of the forms that add and remove senders.
struct SenderList<'a> {
    title: &'static str,
    verb: &'static str,
    add: &'static str,
    remove: &'static str,
    senders: Vec<&'a Correspondent>,
}

impl SenderList<'_> {
    /// Returns true if the list is short enough to show it at once.
    fn is_short(&self) -> bool {
        self.senders.len() <= SHORT_LIST
    }
}

pub(crate) async fn show(user: SignedInUser, key: web::Path<String>) -> PageResult {
    page(&user, &key, Draft::default()).await
}

/// Changes the policy and shows the senders again.
pub(crate) async fn submit(user: SignedInUser, path: web::Path<String>, form: Form) -> PageResult {
    let result = async {
        user.check(&form)?;
        let id = id_of(&user, &path)?;
        let change = change_of(&form);
        let change = change.ok_or_else(|| PageResponse::unreadable_form(user.frame()))?;
        let text = match form.text("do") {
            "accept" if change.is_empty() => "Nothing was changed.",
            "accept" => "The settings are saved.",
            list if change.is_empty() => return Err(FormRefusal::field(list, NO_NAME)),
            _ => "The list of senders is changed.",
        };
        let actor = user.owner().await?.acting_on(&id);
        match user.app.api.sealpost.accounts.set_policy(&actor, change).await.result {
            Ok(_) => {
                let page = format!("/dashboard/keys/{path}/senders");
                Ok(Flash::notice(&page, text).redirect(&user.app))
            }
            Err(error) => Err(user.rejection(&error)?.into()),
        }
    };
    respond(&form, result.await, async |draft| page(&user, &path, draft).await).await
}

async fn page(user: &SignedInUser, key: &str, draft: Draft<'_>) -> PageResult {
    let id = id_of(user, key)?;
    let view = user.ask(async move |owner| owner.key(&id).await).await?;
    let (key, policy) = (&view.standing, &view.policy);
    let listed = [&*policy.allowed, &*policy.blocked].concat();
    let names = user.ask(async move |owner| owner.correspondents(listed).await).await?;
    let list = |title, verb, add, remove, senders: &[ApiKeyId]| SenderList {
        title,
        verb,
        add,
        remove,
        senders: named(senders, &names),
    };
    let main = SendersPage {
        user,
        head: IdentityHead::new(user, key, "/senders"),
        key,
        policy,
        lists: [
            list("Allowed senders", "Allow", "allow", "unallow", &policy.allowed),
            list("Blocked senders", "Block", "block", "unblock", &policy.blocked),
        ],
        draft,
    };
    let title = format!("Senders of {}", key.label);
    Ok(PageResponse::for_form(user.frame(), &title, draft, &main))
}

fn named<'a>(
    senders: &[ApiKeyId],
    names: &'a HashMap<ApiKeyId, Correspondent>,
) -> Vec<&'a Correspondent> {
    senders.iter().filter_map(|sender| names.get(sender)).collect()
}

/// Reads the change of the policy from a form. The field `do` selects the kind of change. Returns `None` if the form is
/// malformed.
///
/// The change contains only settings that the user changed on the page. The other values in the form can be older than
/// the policy.
fn change_of(form: &Form) -> Option<PolicyChange> {
    let names = || form.text("names").split([' ', ',']).filter(|name| !name.is_empty());
    let names = || names().map(str::to_owned).collect();
    let change = PolicyChange::default();
    Some(match form.text("do") {
        "accept" => {
            let accept = AcceptPolicy::from_name(form.text("accept"))?;
            let receipts = ReceiptPolicy::from_name(form.text("receipts"))?;
            PolicyChange {
                accept: form.is_changed("accept").then_some(accept),
                receipts: form.is_changed("receipts").then_some(receipts),
                listed: form.is_changed("listed").then(|| form.text("listed") == "yes"),
                ..change
            }
        }
        "allow" => PolicyChange { allow: names(), ..change },
        "unallow" => PolicyChange { unallow: names(), ..change },
        "block" => PolicyChange { block: names(), ..change },
        "unblock" => PolicyChange { unblock: names(), ..change },
        _ => return None,
    })
}

/// Describes the accepted senders, as the text of an option in the form.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
fn accepted(accept: &AcceptPolicy) -> &'static str {
    match accept {
        AcceptPolicy::Allowlist => "allowed senders only",
        AcceptPolicy::Anyone => "everyone except blocked senders",
        AcceptPolicy::Contacts => "contacts and allowed senders",
        AcceptPolicy::Nobody => "no sender",
    }
}

/// Describes the last state of an envelope that its sender can see, as the text of an option in the form.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
fn shown_to_senders(receipts: &ReceiptPolicy) -> &'static str {
    match receipts {
        ReceiptPolicy::None => "that the envelope was sent",
        ReceiptPolicy::Notified => "that a webhook was notified",
        ReceiptPolicy::Opened => "that the envelope was opened",
    }
}

const NO_NAME: &str = "Give at least one API key or handle.";
/// Maximum number of senders that a list shows without a click.
const SHORT_LIST: usize = 20;
