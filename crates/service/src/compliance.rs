//! Compliance circuits: the file that defines them, and the check of a key against one.

pub(crate) mod circuits_file;
pub(crate) mod explanation;
pub(crate) mod validate;
