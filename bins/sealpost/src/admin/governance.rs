//! `sealpost admin governance`: proposes, enforces and lifts council actions, which block a key or an account.

use super::{desk::Desk, output::Output};
use crate::{cli::GovernanceCommand as C, fault::Fault};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    let operator = &desk.operator;
    let decision = match command {
        C::Enforce(verdict) => operator.enforce(verdict.subject.clone(), &verdict.reason.text),
        C::Lift(verdict) => operator.lift(verdict.subject.clone(), &verdict.reason.text),
        C::Propose(verdict) => operator.propose(verdict.subject.clone(), &verdict.reason.text),
    };
    output.show(&decision?)
}
