//! `sealpost admin token`: lists and revokes API tokens.

use super::{desk::Desk, output::Output};
use crate::{cli::TokenCommand as C, fault::Fault};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    match command {
        C::List { account_id } => output.list(&desk.operator.api_tokens(account_id)?, &COLUMNS),
        C::Revoke { token_id } => output.show(&desk.operator.revoke_api_token(token_id)?),
    }
}

const COLUMNS: [&str; 6] =
    ["token_id", "api_key_id", "scopes", "last_used_at", "expires_at", "name"];
