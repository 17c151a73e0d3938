//! Tests of receiving webhook requests: `sealpost verify`, `sealpost listen`, third-party verifiers, and the documented
//! programs.

mod documented_openers;
mod documented_receivers;
mod listen;
mod verifiers;
mod verify;
