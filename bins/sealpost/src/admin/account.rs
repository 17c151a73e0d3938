//! `sealpost admin account`: lists, shows, closes and erases accounts, and resets their secrets.
//! `sealpost admin session` ends sessions, and `sealpost admin token` lists and revokes API tokens.

use serde_json::Value;

use super::{
    desk::Desk,
    key,
    output::{Output, lines, plain, row},
};
use crate::{
    cli::{AccountCommand as C, SessionCommand, TokenCommand},
    fault::Fault,
};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    match command {
        C::Close { account_id, .. } => {
            output.show_as(&desk.operator.close_account(account_id)?, closing_report)
        }
        C::Erase { account_id, .. } => {
            output.show_as(&desk.operator.erase_account(account_id)?, closing_report)
        }
        C::List(page) => {
            output.list(&desk.operator.accounts(page.cursor.as_ref(), page.limit)?, &COLUMNS)
        }
        C::Show { account_id } => output.show_as(&desk.operator.show_account(account_id)?, details),
        C::ResetSecret { account_id, keks } => {
            desk.use_keys(keks)?;
            output.show(&desk.operator.reset_secret(account_id)?)
        }
    }
}

pub(super) fn session(desk: &Desk, output: Output, command: &SessionCommand) -> Result<(), Fault> {
    let SessionCommand::End { account_id, all: _ } = command;
    output.show(&desk.operator.end_sessions(account_id.as_ref())?)
}

pub(super) fn token(desk: &Desk, output: Output, command: &TokenCommand) -> Result<(), Fault> {
    match command {
        TokenCommand::List { account_id } => {
            output.list(&desk.operator.api_tokens(account_id)?, &TOKEN_COLUMNS)
        }
        TokenCommand::Revoke { token_id } => {
            output.show(&desk.operator.revoke_api_token(token_id)?)
        }
    }
}

/// Formats the report on a closed or erased account as text: first its fields, one per line, then the deleted data, and
/// then the remaining data with the reasons.
fn closing_report(report: &Value) -> String {
    let mut report = report.clone();
    let mut take = |name| report.as_object_mut().and_then(|fields| fields.remove(name));
    let (deleted, kept) = (take("deleted").unwrap_or_default(), take("kept").unwrap_or_default());
    let kept = kept.as_array().into_iter().flatten().map(|entry| {
        let field = |name| entry.get(name).map(plain).unwrap_or_default();
        format!("  {} (until: {}): {}\n", field("data"), field("until"), field("reason"))
    });
    let kept: String = kept.collect();
    format!("{}deleted\n{}kept\n{kept}", lines(&report), lines(&deleted))
}

/// Formats an account as text: its fields, one per line, then one line for each governance decision and each of its
/// keys.
fn details(account: &Value) -> String {
    let mut account = account.clone();
    let mut take = |name| account.as_object_mut().and_then(|fields| fields.remove(name));
    let (governance, keys) = (take("governance"), take("keys"));
    let governance = key::decisions(governance.as_ref());
    let keys = keys.as_ref().and_then(Value::as_array).into_iter().flatten();
    let keys = keys.map(|entry| row(entry, &key::COLUMNS));
    let keys: Vec<_> = keys.flat_map(|line| [line, "\n".to_owned()]).collect();
    format!("{}{governance}{}", lines(&account), keys.concat())
}

const COLUMNS: [&str; 5] = ["account_id", "created_at", "key_count", "partner", "closed_at"];
const TOKEN_COLUMNS: [&str; 6] =
    ["token_id", "api_key_id", "scopes", "last_used_at", "expires_at", "name"];
