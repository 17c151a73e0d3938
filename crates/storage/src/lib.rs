//! The ports of the domain on SQLite and PostgreSQL, through diesel.
mod account;
mod audit;
mod batch;
mod columns;
mod connect;
mod connection;
mod database;
mod envelope;
mod facts;
mod fault;
mod gate;
mod governance;
mod housekeeping;
mod idempotency;
mod kek;
mod key;
mod ledger;
mod locking;
mod lookup;
mod migrate;
mod outbox;
mod plan;
mod pool;
mod reader;
mod revocation;
mod rewrap;
mod schema;
mod unit;
mod url;
mod usage;
mod webhook;

#[cfg(test)]
mod tests;

pub use database::{Database, Settings};
pub use url::{DatabaseUrl, PostgresUrl, UrlFault};
