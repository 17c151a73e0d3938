//! Protects the memory of this process, so that its secrets reach neither files nor other processes.

use std::io;

use rlimit::Resource;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// Forbids core dumps, and forbids other processes of the same user to read the memory and the environment.
///
/// Affects the whole process: debuggers and profilers without root rights cannot attach either. Call this function at
/// the start of the process.
pub fn protect_process_memory() -> io::Result<()> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    // Sets the limit only if it differs, because a service manager may have set it already and may forbid changes.
    if Resource::CORE.get()? != (0, 0) {
        Resource::CORE.set(0, 0)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rustix::process::dumpable_behavior;

    use super::*;

    #[test]
    fn the_memory_of_a_protected_process_cannot_be_dumped() {
        protect_process_memory().unwrap();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        assert_eq!(Resource::CORE.get().unwrap(), (0, 0));
    }
}
