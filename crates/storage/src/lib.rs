//! Stores all data of the service in SQLite or PostgreSQL, through the library diesel.
//!
//! A [`Database`] opens a [`Transaction`], which reads and writes, or a [`Reader`], which only reads. A database also
//! implements [`Outbox`](sealpost_domain::ports::Outbox), the interface through which the webhook dispatcher uses the
//! delivery queue. A [`DatabaseUrl`] selects SQLite or PostgreSQL at run time:
//!
//! ```
//! use sealpost_domain::ports::Durability;
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
//! let session = sealpost_domain::TokenHash([0; 32]);
//! database.write(Durability::Durable, |tx| tx.delete_session(&session))?;
//! # Ok(())
//! # }
//! ```
//!
//! # Layout
//!
//! | folder | content |
//! |---|---|
//! | `account` | activity, details of sessions, closing of accounts |
//! | `connection` | URL, opening, pools, transactions, the write queue of SQLite, driver errors |
//! | `query` | fragments of SQL: row locks, lists of values, prepared statements, column lists |
//! | `rows` | the types of rows, each with a column list |
//! | `records` | accounts, keys, webhooks, envelopes, badges, governance and audit |
//! | `send` | the send path: admission facts (the rows that a send is decided on), batch statements, idempotency keys |
//! | `queue` | the delivery queue: claims, leases, outcomes, and making deliveries due again |
//! | `housekeeping` | retention, daily counts, deletion of the rows of deleted webhooks |
//! | `moving` | moving of an embedded database into PostgreSQL |
//! | `kek_rotation` | encrypting stored secrets again under a new key-encryption key |
//!
//! Most queries have the same SQL text for both databases. Most differences between the databases are in these places:
//!
//! - `connection/connect` and `connection/encryption`: opening, configuring and encrypting a connection;
//! - `connection/transaction`: beginning a transaction and its durability;
//! - `query/row_lock`: row locks, which SQLite with its one writer does not need;
//! - `send/statements`, `queue/statements` and `housekeeping/expired_envelopes`: statements over whole batches;
//! - `migrations`: the lock and the table of applied migrations.
//!
//! `connection/fault` classifies driver errors by their kind or message, and never by the name of a constraint.
//!
//! # Behaviour
//!
//! - SQLite has one writer. Writers queue in order of arrival, for at most [`Settings::connection_timeout`]. Readers
//!   never wait for a writer.
//! - PostgreSQL runs at READ COMMITTED: every statement sees the rows committed before it. If a decision depends on
//!   rows, the transaction therefore locks these rows before it reads them.
//! - [`Database::write`] repeats a transaction that a deadlock ends, up to three attempts in total. To prevent
//!   deadlocks on PostgreSQL, transactions lock several rows of one table in the order of their primary keys, and rows
//!   of different tables in this order:
//!   1. advisory locks of the audit trail, the transparency log and the issuer keys; the right to run a
//!      housekeeping task
//!   2. accounts
//!   3. usage rows: the lock of a key for its sends, its changes, and the owner's changes of its webhooks
//!   4. the advisory lock of badges; keys, handles, policies
//!   5. deliveries, envelopes, waiting envelopes, requested transfers, rows of `envelope_outcomes`
//!   6. webhooks, contacts, idempotency keys
//!   7. sessions, API tokens, activity, the mark of the revocation journal
//!   8. at the commit, by triggers: connections of relays, facts versions, the transfer that a revocation requests
//! - If a connection is dead at the start of a transaction, or during reads outside a transaction, the work runs on
//!   another connection. If the connection dies later in a transaction, the transaction fails with `Unavailable` and
//!   stores nothing. If only the response to COMMIT is lost, the error is `InDoubt`.
//! - Deadlocks and timeouts are recognised by PostgreSQL's English messages, because the driver hides the codes. Each
//!   connection selects English. Before PostgreSQL 15, only superusers may select the language. If another language
//!   stays selected, these errors become `Refused`.
//! - The service sets timeouts and planner settings on each connection. Behind a pooler in transaction mode, such as
//!   `PgBouncer`, clients share server connections. The database role then needs these settings as its defaults. A
//!   pooler without prepared statements needs [`Settings::has_pooler`].

mod account;
mod backup;
mod connection;
mod database;
mod disk_space;
mod housekeeping;
mod journal_marks;
mod kek_rotation;
mod migrations;
mod moving;
pub mod owned_file;
mod query;
mod queue;
mod records;
mod rows;
mod schema;
mod send;
mod settings;

#[cfg(test)]
mod tests;

pub use account::used_forms::UsedForm;
pub use backup::{BackupError, backup_identity, check_backup};
pub use connection::access_hook::Access;
pub use connection::encryption::{Encryption, EncryptionError, SslMode};
pub use connection::schema_checks::MissingRights;
pub use connection::server_info::{DatabaseInfo, ServerInfo};
pub use connection::transaction::Reader;
pub use connection::transaction::Transaction;
pub use connection::url::{DatabaseUrl, PostgresUrl, UrlError};
pub use connection::work::Abort;
pub use connection::write_gate::{LastCommit, WriteError};
pub use database::{Database, PoolState};
pub use kek_rotation::kek_versions::WrappedKek;
pub use kek_rotation::retag::{RetaggedPage, Retagging, TaggedTable};
pub use moving::{MoveSource, MovedRows};
pub use settings::Settings;
