//! Commands for a whole database: `sealpost migrate`, `sealpost backup`, `sealpost restore` and
//! `sealpost move`.

pub(crate) mod backup;
pub(crate) mod migrate;
pub(crate) mod moving;
pub(crate) mod restore;
