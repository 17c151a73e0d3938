//! `sealpost console hash`: hashes the password of an operator, and prints the line for the console's password file.

use sealpost_service::{LineOrWalletError, PasswordFile};
use zeroize::Zeroizing;

use crate::{
    cli::HashArgs,
    command_error::CommandError,
    terminal::{print, read_secret_line},
};

/// Reads a password from standard input, and prints the operator's line for the password file.
pub(crate) fn print_line(args: &HashArgs) -> Result<(), CommandError> {
    let password = read_secret_line("the password", LINE_LEN_MAX)?;
    let password = password.strip_suffix('\n').unwrap_or(&password);
    let password = password.strip_suffix('\r').unwrap_or(password);
    let line = PasswordFile::line(&args.name, args.role.into(), password);
    let line = line.map_err(|fault| match fault {
        LineOrWalletError::Line(fault) => CommandError::usage(fault),
        LineOrWalletError::Wallet(fault) => CommandError::caused_by(&fault),
    })?;
    print(Zeroizing::new(format!("{}\n", line.as_str())).as_bytes())
}

const LINE_LEN_MAX: usize = 1024;
