//! `sealpost kek new`, which generates a key-encryption key, the variable `SEALPOST_KEK`, which can contain keys, and
//! the shares of a quorum.

pub(crate) mod shares;
pub(crate) mod variable;

use sealpost_node::keys;
use zeroize::Zeroizing;

use crate::{fault::Fault, terminal::print};

/// Generates a key-encryption key and prints it as a line for a key file.
pub(crate) fn print_new_line(version: u32) -> Result<(), Fault> {
    let line = keys::new_line(version)?;
    print(Zeroizing::new(format!("{}\n", line.as_str())).as_bytes())
}
