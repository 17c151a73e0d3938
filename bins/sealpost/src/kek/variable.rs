//! Reads key-encryption keys from the variable `SEALPOST_KEK`, and removes it from the environment at start-up.
//!
//! Child processes inherit the environment, and `/proc` shows it. The standard library can change the environment only
//! with `unsafe` code. The process therefore executes its own binary again, without the variable. An anonymous file in
//! memory passes the keys to the new program, which empties the file after reading.

use std::{
    convert::Infallible,
    env,
    fs::{File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::{fd::AsRawFd as _, unix::process::CommandExt as _},
    path::PathBuf,
    process::Command,
};

use rustix::fs::{MemfdFlags, memfd_create};
use zeroize::Zeroizing;

/// Executes this binary again if `SEALPOST_KEK` is set. Returns only if the variable is not set, or after an error.
pub(crate) fn leave_environment() -> io::Result<()> {
    match variable(KEK) {
        None => Ok(()),
        Some(keys) => Err(match execute_again(&keys) {
            Ok(never) => match never {},
            Err(error) => error,
        }),
    }
}

/// Reads the keys of `SEALPOST_KEK` from the file in memory, and empties the file. Without a readable file, reads the
/// variable. Returns `None` if there are no keys, or if an earlier call has already read and emptied the file.
pub(crate) fn take() -> Option<Zeroizing<String>> {
    let passed = variable(PASSED).and_then(|number| read_passed(&number).ok());
    passed.or_else(|| variable(KEK)).filter(|keys| !keys.is_empty())
}

fn execute_again(keys: &str) -> io::Result<Infallible> {
    // Omits the flag CLOEXEC, so that the file stays open in the executed program.
    let mut file = File::from(memfd_create(FILE, MemfdFlags::empty())?);
    file.write_all(keys.as_bytes())?;
    let mut arguments = env::args_os();
    let mut command = Command::new(env::current_exe()?);
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    command.args(arguments).env_remove(KEK).env(PASSED, file.as_raw_fd().to_string());
    Err(command.exec())
}

/// Reads and empties the file in memory that [`execute_again`] passed on.
fn read_passed(number: &str) -> io::Result<Zeroizing<String>> {
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
    let mut keys = Zeroizing::new(String::with_capacity(size.saturating_add(1)));
    file.read_to_string(&mut keys)?;
    file.set_len(0)?;
    Ok(keys)
}

#[expect(clippy::disallowed_methods, reason = "the binary reads the environment for all crates")]
fn variable(name: &str) -> Option<Zeroizing<String>> {
    env::var(name).ok().filter(|text| !text.is_empty()).map(Zeroizing::new)
}

const KEK: &str = "SEALPOST_KEK";
/// Variable for the executed program: the file descriptor of the file with the keys.
const PASSED: &str = "SEALPOST_KEK_PASSED_FD";
const FILE: &str = "sealpost-kek";
