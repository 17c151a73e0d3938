//! The pages of the dashboard. Each file has one page and its forms.

pub(super) mod account;
pub(super) mod activity;
pub(super) mod change_webhook;
pub(super) mod close_account;
pub(super) mod event;
pub(super) mod events;
pub(super) mod export;
pub(super) mod identities;
pub(super) mod identity;
pub(super) mod live_events;
mod logged_event;
pub(super) mod new_identity;
pub(super) mod open_account;
pub(super) mod overview;
pub(super) mod recover;
pub(super) mod revoke;
mod scope;
pub(super) mod senders;
pub(super) mod sent;
pub(super) mod sign_in;
pub(super) mod tokens;
pub(super) mod webhook;
pub(super) mod webhooks;

use std::{fmt::Display, str::FromStr};

use sealpost_domain::{Handle, Label};
use sealpost_service::Activate;

use super::session::SignedInUser;
use crate::html::{PageResponse, Rejection, forms::Form};

/// Parses an id in a path, such as an API key. If the id is malformed, returns the 404 page as the error.
fn id_of<T: FromStr>(user: &SignedInUser, text: &str) -> Result<T, PageResponse> {
    text.parse().map_err(|_malformed| PageResponse::not_found(user.frame()))
}

/// Reads label, handle and invite from the form of a new identity. A handle is a readable name that senders can use.
fn activation_of(form: &Form) -> Result<Activate, Rejection> {
    let reject =
        |field: &str, fault: &dyn Display| Rejection::field(field, format!("The {field} {fault}."));
    let label = Label::parse_new(form.text("label")).map_err(|fault| reject("label", &fault))?;
    // Pages show a handle with `@`, so users type it with `@` too.
    let handle = form.text("handle");
    let handle = Some(handle.strip_prefix('@').unwrap_or(handle)).filter(|text| !text.is_empty());
    let handle = handle.map(Handle::parse).transpose().map_err(|fault| reject("handle", &fault))?;
    let invite = Some(form.text("invite")).filter(|text| !text.is_empty()).map(str::to_owned);
    Ok(Activate { label, handle, invite })
}
