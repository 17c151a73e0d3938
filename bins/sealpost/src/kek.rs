//! `sealpost kek new`, which generates a key-encryption key, and the variable `SEALPOST_KEK`, which can contain keys.

pub(crate) mod variable;

use std::io::Write as _;

use sealpost_node::keys;

use crate::fault::Fault;

/// Generates a key-encryption key and prints it as a line for a key file.
pub(crate) fn print_new_line(version: u32) -> Result<(), Fault> {
    let line = keys::new_line(version)?;
    writeln!(std::io::stdout(), "{}", line.as_str()).map_err(Fault::closed_output)
}
