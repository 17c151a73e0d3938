//! A PostgreSQL server for the tests of all crates.
//!
//! ```no_run
//! let url = sealpost_testkit::postgres().create_database();
//! assert!(url.starts_with("postgresql://"));
//! ```
//!
//! The first test that needs a server starts one. The server stops when the test process ends, even after a crash. If
//! `SEALPOST_TEST_POSTGRES` names a server (a URL with the right to create databases), the tests use that server. Tests
//! are never skipped silently: without a server they fail and give the reason. `examples/database.rs` shows the use.
//!
//! [`Instance`] is a server of one test, with TCP, restarts, standbys and failover. [`Pooler`] is a `PgBouncer` in
//! front of an instance. [`Proxy`] can drop the responses to commits.

mod guard;
mod instance;
mod pooler;
mod proxy;
mod server;

pub use instance::Instance;
pub use pooler::Pooler;
pub use proxy::Proxy;
pub use server::{FsyncMode, Server, postgres};
