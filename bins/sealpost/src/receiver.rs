//! `sealpost verify` and `sealpost listen`: commands for receivers of events, based on the crate `sealpost-receiver`.

pub(crate) mod bounded;
mod keys;
mod listen;
mod relay;
mod show;
mod verify;
mod webhook;

pub(crate) use {listen::run as listen, verify::run as verify};
