//! Prints the steps and checks of the demo on standard output.

use crate::{fault::Fault, terminal::print};

/// Checks a result of the demo. If `is_true`, prints `claim` (a sentence about the result) as a passed check. Otherwise
/// fails with `claim` as the error.
pub(super) fn hold(claim: &str, is_true: bool) -> Result<(), Fault> {
    if is_true {
        say(&format!("   ✓ {claim}"))
    } else {
        Err(Fault::new(format!("not true: {claim}")))
    }
}

/// Prints one line at once, without buffering.
pub(super) fn say(line: &str) -> Result<(), Fault> {
    print(format!("{line}\n"))
}
