//! `sealpost console hash`: hashes the password of an operator, and prints the line for the console's password file.

use std::io::{BufRead as _, Read as _};

use sealpost_service::{LineOrWalletFault, PasswordFile};
use zeroize::Zeroizing;

use crate::{cli::HashArgs, fault::Fault, terminal::print};

/// Reads a password from standard input, and prints the operator's line for the password file.
pub(crate) fn print_line(args: &HashArgs) -> Result<(), Fault> {
    let password = read_password()?;
    let line = PasswordFile::line(&args.name, args.role.into(), &password);
    let line = line.map_err(|fault| match fault {
        LineOrWalletFault::Line(fault) => Fault::usage(fault),
        LineOrWalletFault::Wallet(fault) => Fault::of(&fault),
    })?;
    print(Zeroizing::new(format!("{}\n", line.as_str())).as_bytes())
}

/// Reads the first line of standard input without its line end.
fn read_password() -> Result<Zeroizing<String>, Fault> {
    // Reserves the full capacity at once, because a reallocation would leave a copy of the password in memory.
    let mut line = Zeroizing::new(String::with_capacity(LINE_LEN_MAX));
    let limit = u64::try_from(LINE_LEN_MAX).unwrap_or(u64::MAX);
    let read = std::io::stdin().lock().take(limit).read_line(&mut line);
    read.map_err(|error| Fault::caused("the password cannot be read from standard input", error))?;
    let password = line.strip_suffix('\n').unwrap_or(&line);
    Ok(Zeroizing::new(password.strip_suffix('\r').unwrap_or(password).to_owned()))
}

const LINE_LEN_MAX: usize = 1024;
