//! Commands for a whole database: `sealpost migrate`, `sealpost backup` and `sealpost restore`.

pub(crate) mod backup;
pub(crate) mod migrate;
pub(crate) mod restore;
