//! Reads secrets from variables of the environment.

use std::{env, ffi::OsString, os::unix::ffi::OsStringExt as _};

use zeroize::Zeroizing;

use crate::fault::Fault;

/// Returns the text of a variable with a secret; `None` if the variable is not set. Rejects an empty value and bytes that
/// are not UTF-8, because the command would otherwise run without the secret.
pub(crate) fn secret(name: &str) -> Result<Option<Zeroizing<String>>, Fault> {
    bytes(name).map(|bytes| text(name, &bytes)).transpose()
}

/// Returns the bytes of a variable; `None` if the variable is not set.
pub(crate) fn bytes(name: &str) -> Option<Zeroizing<Vec<u8>>> {
    env::var_os(name).map(OsString::into_vec).map(Zeroizing::new)
}

/// Returns the value of the variable `name` as text. Rejects a value that is empty or not in UTF-8.
pub(crate) fn text(name: &str, value: &[u8]) -> Result<Zeroizing<String>, Fault> {
    match str::from_utf8(value) {
        Ok("") => Err(Fault::usage(format!("{name} is empty: give it a value, or unset it"))),
        Ok(text) => Ok(Zeroizing::new(text.to_owned())),
        Err(_invalid) => {
            Err(Fault::usage(format!("{name} is not in UTF-8: set it again, or unset it")))
        }
    }
}
