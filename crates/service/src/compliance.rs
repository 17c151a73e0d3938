//! Compliance circuits: the file that defines them, and the evaluation for a key.

pub(crate) mod circuits_file;
pub(crate) mod explanation;
pub(crate) mod validate;
