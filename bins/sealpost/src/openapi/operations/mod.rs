//! What is written of each endpoint: one file for each, and one line here. Its place is the endpoint's in the table of
//! routes, which a test compares.

mod activate;
mod document;
mod login;
mod logout;
mod manage_webhooks;
mod open;
mod ping;
mod register_webhook;
mod rotate_secret;
mod send;
mod status;

use super::operation::{Group, Operation};

/// All of them; the document has them in the order of the routes.
pub(super) fn all() -> Vec<Operation> {
    vec![
        activate::operation(),
        document::operation(),
        login::operation(),
        logout::operation(),
        manage_webhooks::operation(),
        open::operation(),
        ping::operation(),
        register_webhook::operation(),
        rotate_secret::operation(),
        send::operation(),
        status::operation(),
    ]
}
