//! `sealpost admin log`: begins a new transparency log after a restore.

use super::{desk::Desk, output::Output};
use crate::{cli::LogCommand as C, fault::Fault};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), Fault> {
    match command {
        C::Restart { .. } => output.show(&desk.operator.restart_log()?),
    }
}
