//! The arguments of `sealpost console`, which prepares the operators of the console (web pages for operators).

use clap::{Args, Subcommand, ValueEnum};
use sealpost_service::OperatorRole;

#[derive(Subcommand)]
pub(crate) enum ConsoleCommand {
    /// Hash the password of an operator, and print the line for the console's password file
    ///
    /// Reads the password from the first line of standard input. It must have 12 to 256 bytes.
    Hash(HashArgs),
}

#[derive(Args)]
pub(crate) struct HashArgs {
    /// Name of the operator, for the audit trail: letters, digits, `.`, `-` and `_`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Role of the operator
    #[arg(long, value_enum, default_value_t = RoleName::Viewer)]
    pub(crate) role: RoleName,
}

/// The roles of operators, as written on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleName {
    /// May look at everything and make changes
    Operator,
    /// May look at everything and change nothing
    Viewer,
}

impl From<RoleName> for OperatorRole {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Operator => Self::Operator,
            RoleName::Viewer => Self::Viewer,
        }
    }
}
