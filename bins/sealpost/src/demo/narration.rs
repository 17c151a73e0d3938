//! Prints the steps and checks of the demo on standard output.

use crate::{command_error::CommandError, terminal::print};

/// Checks a result of the demo. If `is_true`, prints `claim` (a sentence about the result) as a passed check. Otherwise
/// fails with `claim` as the error.
pub(super) fn hold(claim: &str, is_true: bool) -> Result<(), CommandError> {
    if is_true {
        say(&format!("   ✓ {claim}"))
    } else {
        Err(CommandError::new(format!("not true: {claim}")))
    }
}

/// Prints one line at once, without buffering.
pub(super) fn say(line: &str) -> Result<(), CommandError> {
    print(format!("{line}\n"))
}
