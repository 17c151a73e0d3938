//! What is written of each endpoint: one file for each, and one line here. Its place is the endpoint's in the table of
//! routes, which a test compares.

mod activate;
mod did_document;
mod document;
mod issue_badge;
mod login;
mod logout;
mod manage_webhooks;
mod open;
mod ping;
mod register_webhook;
mod rotate_secret;
mod send;
mod status;
mod status_list;
mod validate_compliance;
mod verify_badge;

use super::operation::{Group, Operation};

/// All of them; the document has them in the order of the routes.
pub(super) fn all() -> Vec<Operation> {
    vec![
        activate::operation(),
        did_document::operation(),
        did_document::below_a_path(),
        document::operation(),
        issue_badge::operation(),
        login::operation(),
        logout::operation(),
        manage_webhooks::operation(),
        open::operation(),
        ping::operation(),
        register_webhook::operation(),
        rotate_secret::operation(),
        send::operation(),
        status::operation(),
        status_list::operation(),
        validate_compliance::operation(),
        verify_badge::operation(),
    ]
}
