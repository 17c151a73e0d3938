//! `sealpost admin key`.

use sealpost_domain::ports::KeyFilter;

use super::{desk::Desk, output::Output};
use crate::{
    cli::{KeyCommand as C, KeyListArgs},
    fault::Fault,
};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    let operator = &desk.operator;
    match command {
        C::Deactivate(key) => output.show(&operator.deactivate_key(&key.api_key_id)?),
        C::List(args) => list(desk, output, args),
        C::Reactivate(key) => output.show(&operator.reactivate_key(&key.api_key_id)?),
        C::Revoke(key) => output.show(&operator.revoke_key(&key.api_key_id)?),
        C::Rotate(key) => output.show(&operator.rotate_key(&key.api_key_id)?),
        C::Show(key) => output.show(&operator.show_key(&key.api_key_id)?),
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

/// The columns of a list of keys. The first is the cursor.
pub(super) const COLUMNS: [&str; 7] =
    ["api_key_id", "account_id", "status", "plan", "handle", "created_at", "label"];
