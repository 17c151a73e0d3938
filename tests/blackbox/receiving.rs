//! The receiver's side: `sealpost verify`, `sealpost listen`, other verifiers, and the documented programs.

mod documented_openers;
mod documented_receivers;
mod listen;
mod verifiers;
mod verify;
