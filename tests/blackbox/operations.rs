//! Tests of running a server: start, settings, TLS, logs, metrics, backup and `sealpost doctor`.

mod backup;
#[cfg(feature = "postgres-tls")]
mod database_tls;
mod doctor;
mod drill;
mod environment;
mod evidence;
mod input_files;
mod journal;
mod key_file;
mod log;
mod logs;
mod memory;
mod metrics;
mod moving;
mod names;
mod ownership;
mod postgres;
mod proofs;
mod restore;
mod secrets;
mod snapshots;
mod spans;
mod startup;
mod tls;
mod witness;

pub(crate) use doctor::{doctor, finds};
