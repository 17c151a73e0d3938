//! The ports of the domain on SQLite and PostgreSQL, through diesel.
//!
//! [`Database`] implements [`Store`](sealpost_domain::ports::Store), [`Outbox`](sealpost_domain::ports::Outbox) and
//! [`KekMarks`](sealpost_domain::ports::KekMarks). Which database it is, is decided at run time by a [`DatabaseUrl`]:
//!
//! ```
//! use sealpost_domain::ports::{Durability, Store};
//! use sealpost_storage::{Database, DatabaseUrl, Settings};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("sealpost.db");
//! let url: DatabaseUrl = format!("sqlite:{}", path.display()).parse()?;
//! let database = Database::open(&url, Settings::default())?;
//! database.migrate()?;
//! database.check()?;
//!
//! let store: &dyn Store = &database;
//! let session = sealpost_domain::TokenHash([0; 32]);
//! store.write(Durability::Durable, |tx| tx.delete_session(&session))?;
//! # Ok(())
//! # }
//! ```
//!
//! # How it is cut
//!
//! One text serves both databases: a `schema` of portable types, and one module for each aggregate. The databases
//! are told apart in these places alone:
//!
//! - `connect`: how a connection is opened and set up;
//! - `unit`: how a transaction begins, and what it waits for at its end;
//! - `locking`: row locks, which SQLite does without because who writes is alone;
//! - `batch`: statements over whole batches, the hot path;
//! - `migrate`: who migrates first, and whether anything was migrated yet.
//!
//! `fault` is the one place that says what a driver's error means, and never by the name of a constraint.
//!
//! # What to know
//!
//! - SQLite has one writer. Those who want to write queue in the order of coming, for as long as
//!   [`Settings::connection_timeout`]; readers never wait for them.
//! - PostgreSQL runs at READ COMMITTED: every statement sees what was committed before it. What a decision depends on
//!   is therefore locked before it is read.
//! - A connection that died is replaced where nothing was lost by it: before a transaction and at a look-up outside
//!   one. A transaction under way fails with `Unavailable`; nothing of it is stored, unless it was the commit whose
//!   answer was lost.
//! - Deadlocks and time-outs are known by PostgreSQL's English messages, because the driver hides their codes. The
//!   connection asks for English; where the role may not (before PostgreSQL 15 only superusers may) and the server
//!   speaks another language, they are reported as `Refused`.
//! - Settings are made for the connection: a pooler that hands out connections by transaction, such as `PgBouncer`,
//!   needs `max_prepared_statements`, and the time-outs set on the role.

mod about;
mod account;
mod any_of;
mod audit;
mod backup;
mod badge;
mod batch;
mod channel;
mod claiming;
mod columns;
mod connect;
mod connection;
mod database;
mod delivery;
mod envelope;
mod facts;
mod fault;
mod finding;
mod former;
mod gate;
mod governance;
mod heard;
mod housekeeping;
mod idempotency;
mod issuer;
mod kek;
mod key;
mod ledger;
mod locking;
mod lookup;
mod migrate;
mod outbox;
mod owner;
mod plan;
mod pool;
mod reader;
mod retiring;
mod revocation;
mod rewrap;
mod schema;
mod settling;
mod tally;
mod unit;
mod url;
mod usage;
mod webhook;

#[cfg(test)]
mod tests;

pub use about::{About, Server};
pub use database::{Connections, Database, Settings};
pub use url::{DatabaseUrl, PostgresUrl, UrlFault};
