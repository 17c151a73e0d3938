//! What the forms of a webhook's page do.

use std::time::Duration;

use actix_web::web;
use askama::Template;
use sealpost_domain::EventKind;
use sealpost_service::{Manage, Managed, Recover, Register, Registered};

use super::{Query, look};
use crate::dashboard::{
    form::Form,
    page::Page,
    pages::{key, key_of},
    refused::Refused,
    signed_in::SignedIn,
};

/// Shown once, since the secret cannot be shown again.
#[derive(Template)]
#[template(path = "dashboard/webhook_secret.html")]
struct SecretPage<'a> {
    base: &'a str,
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
    let id = key_of(&who, &path)?;
    let url = form.text("url").to_owned();
    let asked = Register { url: url.clone(), events: vec![EventKind::EnvelopeReceived] };
    match who.ask(async move |owner| Ok(owner.register(&id, asked).await)).await? {
        Ok(Registered { webhook_id, secret, .. }) => {
            Ok(show_secret(&who, &path, &webhook_id.to_string(), &secret, true))
        }
        Err(error) => match error.refusal() {
            Some(refusal) => key::show_again(&who, &path, &url, &Refused::from(refusal)).await,
            None => Err(Page::of(who.place(), &error)),
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
    let id = key_of(&who, &key)?;
    let asked = asked(&who, &form, webhook_id.clone())?;
    let said = match who.ask(async move |owner| owner.manage(&id, asked).await).await? {
        Managed::Deleted(_) => {
            return Ok(Page::to(who.place(), &format!("/dashboard/keys/{key}")));
        }
        Managed::SecretRotated(rotated) => {
            return Ok(show_secret(&who, &key, &webhook_id, &rotated.secret, false));
        }
        Managed::Enabled(enabled) => match enabled.due_now {
            0 => Some("Enabled. No notice has waited for it.".to_owned()),
            1 => Some("Enabled. The notice that has waited is sent now.".to_owned()),
            many => Some(format!("Enabled. {many} notices that have waited are sent now.")),
        },
        Managed::Recovered(recovered) => match recovered.recovered {
            0 => Some("No notice has failed in that time.".to_owned()),
            1 => Some("1 notice that had failed is sent again now.".to_owned()),
            many => Some(format!("{many} notices that had failed are sent again now.")),
        },
        Managed::Redelivered(_) => Some("The notice is sent again now.".to_owned()),
        Managed::Deliveries(_) | Managed::Listed { .. } => None,
    };
    look(&who, &key, &webhook_id, &Query::default(), said).await
}

fn asked(who: &SignedIn, form: &Form, webhook_id: String) -> Result<Manage, Page> {
    let unreadable = || Page::unreadable(who.place());
    Ok(match form.text("do") {
        "delete" => Manage::Delete { webhook_id },
        "enable" => Manage::Enable { webhook_id },
        "recover" => {
            let hours: u32 = form.text("hours").parse().map_err(|_malformed| unreadable())?;
            let since = who.app.api.clock.now().minus(Duration::from_secs(3600 * u64::from(hours)));
            Manage::Recover(Recover { webhook_id, since, until: None, dry_run: false })
        }
        "redeliver" => {
            Manage::Redeliver { webhook_id, envelope_id: form.text("envelope_id").to_owned() }
        }
        "rotate_secret" => Manage::RotateSecret { webhook_id },
        _ => return Err(unreadable()),
    })
}

fn show_secret(who: &SignedIn, key: &str, webhook_id: &str, secret: &str, is_new: bool) -> Page {
    let main = SecretPage { base: who.base(), key, webhook_id, secret, is_new };
    Page::show(who.frame(), "Signing secret", &main)
}
