//! The option that confirms an operator command without a question.

use clap::Args;

/// The confirmation of a command that destroys data.
#[derive(Args)]
pub(crate) struct Confirmation {
    /// Confirm the command; without this option, a terminal asks, and scripts are refused
    #[arg(long)]
    pub(crate) yes: bool,
}
