//! Reads secrets from environment variables, and executes this program again with another environment.

use std::{
    env,
    ffi::OsString,
    io,
    os::unix::{ffi::OsStringExt as _, process::CommandExt as _},
    process::Command,
};

use zeroize::Zeroizing;

use crate::command_error::CommandError;

/// Returns the bytes of a variable; `None` if the variable is not set.
pub(crate) fn bytes(name: &str) -> Option<Zeroizing<Vec<u8>>> {
    env::var_os(name).map(OsString::into_vec).map(Zeroizing::new)
}

/// Returns a command that executes this program with the same arguments.
pub(crate) fn this_program() -> io::Result<Command> {
    let mut arguments = env::args_os();
    // If an upgrade has replaced the program file, uses the link `/proc/self/exe`, which still leads to the old
    // program.
    let file = Some(env::current_exe()?).filter(|file| file.exists());
    let mut command = Command::new(file.unwrap_or_else(|| "/proc/self/exe".into()));
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    command.args(arguments);
    Ok(command)
}

/// Returns the value of the variable `name` as text. Fails if the bytes are not UTF-8, because the command must not run
/// without a secret that the user has set.
pub(crate) fn text(name: &str, value: &[u8]) -> Result<Zeroizing<String>, CommandError> {
    let text = str::from_utf8(value).map(|text| Zeroizing::new(text.to_owned()));
    let advice = |_invalid| format!("{name} is not in UTF-8: set it again as text, or unset it");
    text.map_err(advice).map_err(CommandError::usage)
}
