//! The receivers' kit: `sealpost verify` and `sealpost listen`. It knows notices and keys as a receiver has them, and
//! neither database nor service.

mod bounded;
mod check;
mod forward;
mod head;
mod hints;
mod keys;
mod listen;
mod show;
mod verify;

pub(crate) use {listen::run as listen, verify::run as verify};
