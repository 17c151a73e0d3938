//! Runs a complete Sealpost node inside a process: database, keys, delivery to webhooks, the service itself, HTTP API,
//! web pages, and an operations address for health checks and metrics.
//!
//! [`Node::builder`] starts a node from typed [`Settings`]. The default settings need only a data folder. The library
//! reads no environment variables, prints nothing, and installs no signal handlers. [`NodeBuilder::spawn`] starts a
//! node beside another tokio runtime. [`testing`] starts a service for the tests of other programs.
//!
//! Operator commands use the same parts without a running node: [`open_database`], [`keys`], [`circuits`], [`tls`],
//! [`doctor`].

mod clock;
mod composition;
mod cosigners;
pub mod doctor;
mod embedded;
mod error;
mod files;
mod journal;
pub mod keys;
mod listening;
pub mod metrics;
mod node;
mod operations;
mod process_memory;
pub mod settings;
pub mod testing;
mod witness;

pub use clock::SystemClock;
pub use composition::database::open_database;
pub use cosigners::LogWitness;
pub use embedded::{
    moving::{Moved, move_database},
    restore::{Restored, restore},
};
pub use error::{NodeError, NodeErrorKind, database_error};
pub use files::{circuits, regular_file, secret_file};
pub use journal::{
    Journal, JournalCompleted, JournalRecovery, attach_for_command, checkpoint_file,
    complete_journal, recover_database,
};
pub use listening::tls;
pub use node::{
    Node,
    builder::{NodeBuilder, bind_advice},
    raise_file_limit,
    reload::Reloader,
    thread::NodeThread,
};
pub use process_memory::protect_process_memory;
pub use sealpost_storage::{Database, DatabaseUrl};
pub use settings::Settings;
pub use witness::{RunningWitness, Witness};
