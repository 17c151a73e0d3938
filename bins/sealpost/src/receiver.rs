//! `sealpost verify` and `sealpost listen`, on top of the receiver library.

mod bounded;
mod keys;
mod listen;
mod show;
mod verify;

pub(crate) use {listen::run as listen, verify::run as verify};
