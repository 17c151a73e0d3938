//! `sealpost admin invite`: creates, lists and revokes invites. An invite is a secret that opens new accounts.

use sealpost_service::{InviteShown, InviteTerms};
use serde::Serialize;
use serde_json::Value;

use super::{
    desk::Desk,
    output::{Output, plain},
};
use crate::{cli::InviteCommand as C, fault::Fault};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    let operator = &desk.operator;
    match command {
        C::Create(args) => {
            let (expires_in, note) = (args.expires.0, args.note.clone());
            let terms = InviteTerms { uses: args.uses, expires_in, note };
            output.show(&operator.create_invite(&terms)?)
        }
        C::List { limit } => output.show_as(&Listed { invites: operator.invites(*limit)? }, list),
        C::Revoke { invite_id } => output.show(&operator.revoke_invite(invite_id)?),
    }
}

#[derive(Serialize)]
struct Listed {
    invites: Vec<InviteShown>,
}

/// Returns one line of text per invite.
fn list(listed: &Value) -> String {
    let invites = listed.get("invites").and_then(Value::as_array).into_iter().flatten();
    let line = |invite: &Value| {
        let shown = COLUMNS.map(|name| invite.get(name).map(plain).unwrap_or_default());
        format!("{}\n", shown.join("  "))
    };
    invites.map(line).collect()
}

const COLUMNS: [&str; 6] = ["invite_id", "status", "used", "uses", "expires_at", "note"];
