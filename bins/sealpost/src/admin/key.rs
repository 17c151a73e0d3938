//! `sealpost admin key`, `handle` and `webhook`: list, show and change API keys, their handles and their webhooks. A
//! handle is the readable name of a key.

use sealpost_domain::ports::KeyFilter;
use serde_json::Value;

use super::{
    desk::Desk,
    output::{Output, lines, plain, row},
};
use crate::{
    cli::{HandleCommand, KeyCommand as C, KeyListArgs, WebhookCommand},
    fault::Fault,
};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    let operator = &desk.operator;
    match command {
        C::Deactivate(key) => output.show(&operator.deactivate_key(&key.api_key_id)?),
        C::List(args) => list(desk, output, args),
        C::Reactivate(key) => output.show(&operator.reactivate_key(&key.api_key_id)?),
        C::Revoke { key, .. } => output.show(&operator.revoke_key(&key.api_key_id)?),
        C::Rotate(key) => output.show(&operator.rotate_key(&key.api_key_id)?),
        C::Show(key) => output.show_as(&operator.key_details(&key.api_key_id)?, details),
    }
}

fn list(desk: &Desk, output: Output, args: &KeyListArgs) -> Result<(), Fault> {
    let filter = KeyFilter {
        account: args.account,
        handle: args.handle.clone(),
        label: args.label.clone(),
        status: args.status,
        plan: args.plan.clone(),
    };
    let page = desk.operator.keys(&filter, args.page.cursor.as_ref(), args.page.limit)?;
    output.list(&page, &COLUMNS)
}

/// Returns the fields of a key, one per line, then its usage, governance and webhooks.
fn details(key: &Value) -> String {
    let mut key = key.clone();
    let mut take = |name| key.as_object_mut().and_then(|fields| fields.remove(name));
    let (usage, governance, webhooks) = (take("usage"), take("governance"), take("webhooks"));
    let usage = usage.as_ref().and_then(Value::as_object).into_iter().flatten();
    let usage = usage.map(|(window, values)| {
        let field = |name| values.get(name).map(plain).unwrap_or_default();
        let (used, limit, resets_at) = (field("used"), field("limit"), field("resets_at"));
        format!("usage {window:<8}  {used} of {limit}, resets at {resets_at}\n")
    });
    let governance = decisions(governance.as_ref());
    let webhooks = entries(webhooks.as_ref(), "webhook", &WEBHOOK_COLUMNS);
    format!("{}{}{governance}{webhooks}", lines(&key), usage.collect::<String>())
}

/// Returns the open governance decisions of a key or an account, one per line.
pub(super) fn decisions(governance: Option<&Value>) -> String {
    let reasons = governance.and_then(|view| view.get("reasons"));
    entries(reasons, "governance", &["kind", "status", "since", "reason"])
}

fn entries(list: Option<&Value>, name: &str, columns: &[&str]) -> String {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    let lines = list.map(|entry| format!("{name:<14}  {}\n", row(entry, columns)));
    lines.collect::<Vec<_>>().concat()
}

/// The JSON fields of an API key that a list shows. The first field is also the cursor of the next page.
pub(super) const COLUMNS: [&str; 7] =
    ["api_key_id", "account_id", "status", "plan", "handle", "created_at", "label"];

pub(super) fn handle(desk: &Desk, output: Output, command: &HandleCommand) -> Result<(), Fault> {
    match command {
        HandleCommand::Assign { handle, api_key_id } => {
            output.show(&desk.operator.assign_handle(&handle.handle, api_key_id)?)
        }
        HandleCommand::Release(args) => output.show(&desk.operator.release_handle(&args.handle)?),
    }
}

pub(super) fn webhook(desk: &Desk, output: Output, command: &WebhookCommand) -> Result<(), Fault> {
    let operator = &desk.operator;
    match command {
        WebhookCommand::Disable { webhook_id } => {
            output.show(&operator.disable_webhook(webhook_id)?)
        }
        WebhookCommand::List { owner, page } => {
            let page = operator.webhooks(&owner.owner()?, page.cursor.as_ref(), page.limit)?;
            output.list(&page, &WEBHOOK_COLUMNS)
        }
    }
}

const WEBHOOK_COLUMNS: [&str; 6] =
    ["webhook_id", "api_key_id", "status", "disabled_reason", "created_at", "url"];
