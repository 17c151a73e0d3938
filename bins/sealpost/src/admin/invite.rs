//! `sealpost admin invite`: creates, lists and revokes invites. An invite is a secret that opens new accounts.

use sealpost_service::{InviteTerms, ListPage};

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
        C::List { limit } => {
            // This list has no cursor, so its text ends without a hint.
            let page = ListPage { entries: operator.invites(*limit)?, more: false };
            output.list(&page, &COLUMNS)
        }
        C::Revoke { invite_id } => output.show(&operator.revoke_invite(invite_id)?),
    }
}

const COLUMNS: [&str; 6] = ["invite_id", "status", "used", "uses", "expires_at", "note"];
