//! What the tests of every crate share: a PostgreSQL server of their own.
//!
//! ```no_run
//! let url = sealpost_testkit::postgres().create_database();
//! assert!(url.starts_with("postgresql://"));
//! ```
//!
//! The server is started by the first test that asks for it and ends with the test process, however that ends. Where
//! `SEALPOST_TEST_POSTGRES` names a server (a URL with the right to create databases) that one is used instead.
//! Nothing is skipped in silence: where there is no server to be had, the test that asked fails and says why.

mod guard;
mod proxy;
mod server;

pub use proxy::Proxy;
pub use server::{FsyncMode, Server, postgres};
