//! `sealpost admin handle`: assigns a handle to an API key, or releases it. A handle is the readable name of a key.

use super::{desk::Desk, output::Output};
use crate::{cli::HandleCommand as C, fault::Fault};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    match command {
        C::Assign { handle, api_key_id } => {
            output.show(&desk.operator.assign_handle(&handle.handle, api_key_id)?)
        }
        C::Release(args) => output.show(&desk.operator.release_handle(&args.handle)?),
    }
}
