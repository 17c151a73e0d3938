//! `sealpost admin account` and `sealpost admin session`.

use serde_json::Value;

use super::{
    desk::Desk,
    key,
    output::{Output, lines, row},
};
use crate::{
    cli::{AccountCommand as C, SessionCommand},
    fault::Fault,
};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    match command {
        C::List(page) => {
            output.list(&desk.operator.accounts(page.cursor.as_ref(), page.limit)?, &COLUMNS)
        }
        C::Show { account_id } => output.show_as(&desk.operator.show_account(account_id)?, details),
        C::ResetSecret { account_id } => output.show(&desk.operator.reset_secret(account_id)?),
    }
}

pub(super) fn session(desk: &Desk, output: Output, command: &SessionCommand) -> Result<(), Fault> {
    let SessionCommand::End { account_id, all: _ } = command;
    output.show(&desk.operator.end_sessions(account_id.as_ref())?)
}

/// Returns the fields of an account, one per line, then its keys.
fn details(account: &Value) -> String {
    let mut account = account.clone();
    let keys = account.as_object_mut().and_then(|fields| fields.remove("keys"));
    let keys = keys.as_ref().and_then(Value::as_array).into_iter().flatten();
    let keys = keys.map(|entry| row(entry, &key::COLUMNS));
    let keys: Vec<_> = keys.flat_map(|line| [line, "\n".to_owned()]).collect();
    format!("{}{}", lines(&account), keys.concat())
}

const COLUMNS: [&str; 4] = ["account_id", "created_at", "key_count", "partner"];
