//! Generates key-encryption keys (`sealpost kek new`), reads them from the variable `SEALPOST_KEK`, and prints and
//! reads the shares of a quorum (a wrapping key that is split).

pub(crate) mod shares;
pub(crate) mod variable;

use sealpost_node::keys;
use zeroize::Zeroizing;

use crate::{command_error::CommandError, terminal::print};

/// Generates a key-encryption key and prints it as a line for a key file.
pub(crate) fn print_new_line(version: u32) -> Result<(), CommandError> {
    let line = keys::new_line(version)?;
    print(Zeroizing::new(format!("{}\n", line.as_str())).as_bytes())
}
