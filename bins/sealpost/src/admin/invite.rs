//! `sealpost admin invite`: creates, lists and revokes invites. An invite is a secret that opens new accounts.

use sealpost_service::InviteTerms;

use super::{desk::Desk, output::Output};
use crate::{cli::InviteCommand as C, fault::Fault};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    let operator = &desk.operator;
    match command {
        C::Create(args) => {
            let (expires_in, note) = (args.expires.0, args.note.clone());
            let terms = InviteTerms { uses: args.uses, expires_in, note };
            output.show(&operator.create_invite(&terms)?)
        }
        C::List(page) => {
            output.list(&operator.invites(page.cursor.as_ref(), page.limit)?, &COLUMNS)
        }
        C::Revoke { invite_id } => output.show(&operator.revoke_invite(invite_id)?),
    }
}

/// The JSON fields of an invite that a list shows. The first field is also the cursor of the next page.
const COLUMNS: [&str; 6] = ["invite_id", "status", "used", "uses", "expires_at", "note"];
