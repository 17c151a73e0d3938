//! `sealpost admin webhook`: lists the webhooks of a key or an account, and disables a webhook.

use super::{desk::Desk, output::Output};
use crate::{cli::WebhookCommand as C, fault::Fault};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    let operator = &desk.operator;
    match command {
        C::Disable { webhook_id } => output.show(&operator.disable_webhook(webhook_id)?),
        C::List { owner, page } => {
            let page = operator.webhooks(&owner.owner()?, page.cursor.as_ref(), page.limit)?;
            output.list(&page, &COLUMNS)
        }
    }
}

pub(super) const COLUMNS: [&str; 6] =
    ["webhook_id", "api_key_id", "status", "disabled_reason", "created_at", "url"];
