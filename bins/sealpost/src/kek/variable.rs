//! Reads key-encryption keys from the variable `SEALPOST_KEK`, and removes the variable from the environment at
//! start-up.
//!
//! Child processes inherit the environment, and `/proc` shows it. The standard library can change the environment only
//! with `unsafe` code. The process therefore executes its own binary again, without the variable. An anonymous file in
//! memory passes the keys to the new program, which empties the file after reading.

use std::{
    convert::Infallible,
    fs::{File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::{fd::AsRawFd as _, unix::process::CommandExt as _},
    path::PathBuf,
};

use rustix::fs::{MemfdFlags, memfd_create};
use zeroize::Zeroizing;

use crate::{command_error::CommandError, environment};

/// Executes this binary again, without `SEALPOST_KEK`, if the variable has a value. Returns only if the variable is
/// unset or empty, or with the error of a failed execution.
pub(crate) fn leave_environment() -> io::Result<()> {
    match environment::bytes(KEK) {
        None => Ok(()),
        Some(keys) if keys.is_empty() => Ok(()),
        Some(keys) => Err(match execute_again(&keys) {
            Ok(never) => match never {},
            Err(error) => error,
        }),
    }
}

/// Returns the keys that `SEALPOST_KEK` contained at the start of the process; `None` if the variable was not set.
/// [`leave_environment`] has moved the keys into an anonymous file in memory. The first call empties this file, so each
/// later call returns `None`. If [`leave_environment`] failed, each call reads the variable itself.
///
/// Fails if the value is empty or not in UTF-8. A server that ignored such a value would use the keys of a key file.
pub(crate) fn take() -> Result<Option<Zeroizing<String>>, CommandError> {
    let passed = environment::bytes(PASSED).and_then(|number| read_passed(&number).ok());
    let is_read = passed.as_ref().is_some_and(|keys| keys.is_empty());
    match passed.or_else(|| environment::bytes(KEK)) {
        None => Ok(None),
        Some(_) if is_read => Ok(None),
        Some(keys) if keys.is_empty() => Err(CommandError::usage(
            "SEALPOST_KEK is empty: give it the lines of the key file, or unset it",
        )),
        Some(keys) => environment::text(KEK, &keys).map(Some),
    }
}

fn execute_again(keys: &[u8]) -> io::Result<Infallible> {
    // Omits the flag CLOEXEC, so that the file stays open in the executed program.
    let mut file = File::from(memfd_create(FILE, MemfdFlags::empty())?);
    file.write_all(keys)?;
    let mut command = environment::this_program()?;
    command.env_remove(KEK).env(PASSED, file.as_raw_fd().to_string());
    Err(command.exec())
}

/// Reads and empties the file in memory that [`execute_again`] created. `number` is its file descriptor.
fn read_passed(number: &[u8]) -> io::Result<Zeroizing<Vec<u8>>> {
    let number = str::from_utf8(number).map_err(io::Error::other)?;
    let path = PathBuf::from(format!(
        "/proc/self/fd/{}",
        number.parse::<u32>().map_err(io::Error::other)?
    ));
    let target = path.read_link()?;
    if !target.to_string_lossy().starts_with(&format!("/memfd:{FILE}")) {
        return Err(io::Error::other("not the file of a first image"));
    }
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let size = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    // Allocates the final size at once, because a growing buffer would leave partial copies of the keys in memory.
    let mut keys = Zeroizing::new(Vec::with_capacity(size.saturating_add(1)));
    file.read_to_end(&mut keys)?;
    file.set_len(0)?;
    Ok(keys)
}

const KEK: &str = "SEALPOST_KEK";
/// Environment variable that passes the file descriptor of the file with the keys to the executed program.
const PASSED: &str = "SEALPOST_KEK_PASSED_FD";
const FILE: &str = "sealpost-kek";
