//! `sealpost kek new`.

use std::io::Write as _;

use sealpost_wallet::Keyring;

use crate::fault::Fault;

/// Prints a fresh line for a key file.
pub(crate) fn print_fresh_line(version: u32) -> Result<(), Fault> {
    let line =
        Keyring::fresh_line(version).map_err(|error| Fault::caused("no key can be made", error))?;
    writeln!(std::io::stdout(), "{}", line.as_str())
        .map_err(|error| Fault::caused("the key cannot be printed", error))
}
