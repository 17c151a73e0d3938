//! One file per page or action: ask the service, show what it said.

pub(super) mod account;
pub(super) mod key;
pub(super) mod new_key;
pub(super) mod open_account;
pub(super) mod overview;
pub(super) mod revoke;
pub(super) mod sign_in;
pub(super) mod webhook;

use std::fmt::Display;

use sealpost_domain::{ApiKeyId, Handle, Label};
use sealpost_service::Activate;

use super::{form::Form, page::Page, refused::Refused, signed_in::SignedIn};

/// The key that a path names; what cannot be a key is one that nobody has.
fn key_of(who: &SignedIn, text: &str) -> Result<ApiKeyId, Page> {
    text.parse().map_err(|_malformed| Page::not_found(who.place()))
}

/// What to activate, or what to tell whoever filled the form in.
fn activation_of(form: &Form) -> Result<Activate, Refused> {
    let wrong = |field: &str, fault: &dyn Display| Refused::field(format!("The {field} {fault}."));
    let label = Label::parse(form.text("label")).map_err(|fault| wrong("label", &fault))?;
    let handle = Some(form.text("handle")).filter(|text| !text.is_empty());
    let handle = handle.map(Handle::parse).transpose().map_err(|fault| wrong("handle", &fault))?;
    Ok(Activate { label, handle })
}
