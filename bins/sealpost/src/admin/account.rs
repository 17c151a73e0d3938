//! `sealpost admin account`.

use serde_json::Value;

use super::{
    desk::Desk,
    key,
    output::{Output, lines, row},
};
use crate::{cli::AccountCommand as C, fault::Fault};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    match command {
        C::List(page) => {
            output.list(&desk.operator.accounts(page.cursor.as_ref(), page.limit)?, &COLUMNS)
        }
        C::Show { account_id } => output.show_as(&desk.operator.show_account(account_id)?, details),
    }
}

/// Returns the fields of an account, one per line, then its keys.
fn details(account: &Value) -> String {
    let mut account = account.clone();
    let keys = account.as_object_mut().and_then(|fields| fields.remove("keys"));
    let keys = keys.as_ref().and_then(Value::as_array).into_iter().flatten();
    let keys: String = keys.map(|entry| row(entry, &key::COLUMNS)).collect();
    format!("{}{keys}", lines(&account))
}

const COLUMNS: [&str; 4] = ["account_id", "created_at", "key_count", "partner"];
