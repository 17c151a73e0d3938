//! `sealpost admin key`.

use super::{desk::Desk, output::Output};
use crate::{cli::KeyCommand as C, fault::Fault};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    let operator = &desk.operator;
    match command {
        C::Deactivate(key) => output.show(&operator.deactivate_key(&key.api_key_id)?),
        C::Reactivate(key) => output.show(&operator.reactivate_key(&key.api_key_id)?),
        C::Revoke(key) => output.show(&operator.revoke_key(&key.api_key_id)?),
        C::Rotate(key) => output.show(&operator.rotate_key(&key.api_key_id)?),
        C::Show(key) => output.show(&operator.show_key(&key.api_key_id)?),
    }
}
