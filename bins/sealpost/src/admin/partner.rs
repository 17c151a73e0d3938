//! `sealpost admin partner`: assigns accounts to a partner, and suspends or restores all keys of a partner's accounts.

use super::{desk::Desk, output::Output};
use crate::{cli::PartnerCommand as C, fault::Fault};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    let operator = &desk.operator;
    match command {
        C::Assign { account_id, partner } => {
            output.show(&operator.assign_partner(account_id, partner)?)
        }
        C::Restore(named) => {
            output.show(&operator.restore_partner(&named.partner, &named.reason.text)?)
        }
        C::Suspend(named) => {
            output.show(&operator.suspend_partner(&named.partner, &named.reason.text)?)
        }
    }
}
