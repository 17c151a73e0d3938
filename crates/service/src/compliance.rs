//! Compliance circuits. A circuit is the set of checks that an API key must pass in a jurisdiction.

pub(crate) mod circuits_file;
pub(crate) mod validate;
