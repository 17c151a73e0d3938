//! What the forms of a registration's page do.

use std::time::Duration;

use actix_web::web;
use askama::Template;
use sealpost_domain::{Clock, EventKind};
use sealpost_service::{Manage, Managed, Recover, Register, Registered};

use crate::dashboard::{
    form::Form,
    page::Page,
    pages::{key, key_of},
    signed_in::SignedIn,
};

/// Shown once, since the secret cannot be shown again.
#[derive(Template)]
#[template(path = "dashboard/webhook_secret.html")]
struct SecretPage<'a> {
    form_token: &'a str,
    key: &'a str,
    webhook_id: &'a str,
    secret: &'a str,
    is_new: bool,
}

/// Registers a webhook of the key.
pub(crate) async fn register(
    who: SignedIn,
    path: web::Path<String>,
    form: Form,
) -> Result<Page, Page> {
    who.check(&form)?;
    let id = key_of(&path)?;
    let url = form.text("url").to_owned();
    let asked = Register { url: url.clone(), events: vec![EventKind::EnvelopeReceived] };
    match who.ask(move |owner| Ok(owner.register(&id, asked))).await? {
        Ok(Registered { webhook_id, secret, .. }) => {
            Ok(show_secret(&who, &path, &webhook_id.to_string(), &secret, true))
        }
        Err(error) => match error.refusal() {
            Some(refusal) => key::show_again(&who, &path, &url, &refusal.to_string()).await,
            None => Err(Page::of(&error)),
        },
    }
}

/// Does what the form's button says.
pub(crate) async fn act(
    who: SignedIn,
    path: web::Path<(String, String)>,
    form: Form,
) -> Result<Page, Page> {
    who.check(&form)?;
    let (key, webhook_id) = path.into_inner();
    let id = key_of(&key)?;
    let asked = asked(&form, webhook_id.clone(), &*who.app.clock)?;
    let done = who.ask(move |owner| owner.manage(&id, asked)).await?;
    let back = |done: &str, count: u64| {
        Page::to(format!("/dashboard/keys/{key}/webhooks/{webhook_id}?done={done}&count={count}"))
    };
    Ok(match done {
        Managed::Deleted(_) => Page::to(format!("/dashboard/keys/{key}")),
        Managed::Enabled(enabled) => back("enabled", enabled.due_now),
        Managed::Recovered(recovered) => back("recovered", recovered.recovered),
        Managed::Redelivered(_) => back("redelivered", 1),
        Managed::SecretRotated(rotated) => {
            show_secret(&who, &key, &webhook_id, &rotated.secret, false)
        }
        Managed::Deliveries(_) | Managed::Listed { .. } => back("", 0),
    })
}

fn asked(form: &Form, webhook_id: String, clock: &dyn Clock) -> Result<Manage, Page> {
    Ok(match form.text("do") {
        "delete" => Manage::Delete { webhook_id },
        "enable" => Manage::Enable { webhook_id },
        "recover" => {
            let hours: u32 = form.text("hours").parse().map_err(|_malformed| Page::unreadable())?;
            let since = clock.now().minus(Duration::from_secs(3600 * u64::from(hours)));
            Manage::Recover(Recover { webhook_id, since, until: None, dry_run: false })
        }
        "redeliver" => {
            Manage::Redeliver { webhook_id, envelope_id: form.text("envelope_id").to_owned() }
        }
        "rotate_secret" => Manage::RotateSecret { webhook_id },
        _ => return Err(Page::unreadable()),
    })
}

/// What was done, in words of the page's own.
pub(super) fn said(done: &str, count: u64) -> Option<String> {
    match done {
        "enabled" => Some(format!("Enabled. {count} waiting notices are sent now.")),
        "recovered" => Some(format!("{count} notices that had failed are sent again now.")),
        "redelivered" => Some("The notice is sent again now.".to_owned()),
        _ => None,
    }
}

fn show_secret(who: &SignedIn, key: &str, webhook_id: &str, secret: &str, is_new: bool) -> Page {
    let form_token = &*who.form_token;
    Page::show(&SecretPage { form_token, key, webhook_id, secret, is_new })
}
