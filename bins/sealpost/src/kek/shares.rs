//! Shares of a quorum: a wrapping key that is split into shares. A minimum number of shares together restores the key.
//! `sealpost kek shares` prints the shares. Commands that need the key read shares from standard input.

use std::io::{self, IsTerminal as _, Write as _};

use sealpost_node::settings::{
    ProviderName,
    quorum::{self, Quorum, Share, ShareError},
};
use zeroize::Zeroizing;

use crate::{
    cli::SharesArgs,
    command_error::CommandError,
    terminal::{print, read_secret_line},
};

/// Generates the wrapping key of a new quorum. Prints the value for `--kek-provider`, and then one share in each line.
pub(crate) fn print_new(args: &SharesArgs) -> Result<(), CommandError> {
    let SharesArgs { threshold, of } = *args;
    if threshold > of {
        return Err(CommandError::usage(format!(
            "{of} shares can never be {threshold}: give a lower --threshold or a higher --of"
        )));
    }
    let (id, shares) =
        quorum::split(threshold, of).map_err(|error| CommandError::caused_by(&error))?;
    print(format!("{}\n", Quorum::new(id)))?;
    for share in shares {
        print(Zeroizing::new(format!("{}\n", share.to_text().as_str())).as_bytes())?;
    }
    Ok(())
}

/// Reads shares of a quorum from standard input, one in each line, until there are enough shares to restore the key.
/// Fails if the input has too few shares. Does nothing for other providers.
pub(crate) fn read_for(provider: Option<&ProviderName>) -> Result<(), CommandError> {
    let Some(ProviderName::Quorum(quorum)) = provider else { return Ok(()) };
    let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    while !quorum.is_complete() {
        if is_terminal {
            // An error is ignored, because the command works without this output.
            drop(write!(io::stderr(), "share of {quorum}: "));
        }
        match quorum.add(read_share()?) {
            // Continues after a forged share, because further shares can restore the key without it.
            Err(fault @ ShareError::Forged) => drop(writeln!(io::stderr(), "{fault}")),
            added => {
                added.map_err(CommandError::usage)?;
            }
        }
    }
    Ok(())
}

fn read_share() -> Result<Share, CommandError> {
    let line = read_secret_line("the shares", LINE_LEN_MAX)?;
    if line.is_empty() {
        return Err(CommandError::usage("give more shares on standard input, one in each line"));
    }
    line.parse().map_err(CommandError::usage)
}

const LINE_LEN_MAX: usize = 256;
