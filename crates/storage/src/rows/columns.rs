//! Conversions between domain types and column types. An invalid stored value is an error.

use std::str::FromStr;

use diesel::{QueryableByName, sql_types::BigInt};
use sealpost_domain::{EventKind, Handle, KeyStatus, Timestamp, TokenHash};

use crate::connection::query_error::QueryError;

/// The result of a query in plain SQL that selects one number as `number`.
#[derive(QueryableByName)]
pub(crate) struct NumberRow {
    #[diesel(sql_type = BigInt)]
    pub(crate) number: i64,
}

/// Parses an id stored as text. `row` names the row in the error.
pub(crate) fn id<T: FromStr>(text: &str, row: &'static str) -> Result<T, QueryError> {
    text.parse().ok().ok_or(QueryError::Corrupt(row))
}

/// Formats ids as text.
pub(crate) fn texts<T: ToString>(ids: &[T]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

/// Converts a number to or from the type of its column, which has another width or sign. `name` names the number in the
/// error.
pub(crate) fn number<T: TryFrom<N>, N>(number: N, name: &'static str) -> Result<T, QueryError> {
    T::try_from(number).ok().ok_or(QueryError::Corrupt(name))
}

/// Converts stored bytes to an array of fixed length. `name` names the value in the error.
pub(crate) fn bytes<const N: usize>(
    bytes: Vec<u8>,
    name: &'static str,
) -> Result<[u8; N], QueryError> {
    number(bytes, name)
}

/// Converts the stored hash of a token. `row` names the row in the error.
pub(crate) fn token(hash: Vec<u8>, row: &'static str) -> Result<TokenHash, QueryError> {
    bytes(hash, row).map(TokenHash)
}

/// Converts an optional time in milliseconds since the Unix epoch.
pub(crate) fn instant(millis: Option<i64>) -> Option<Timestamp> {
    millis.map(Timestamp::from_millis)
}

/// Parses a stored handle.
pub(crate) fn handle(text: &str) -> Result<Handle, QueryError> {
    Handle::parse(text).ok().ok_or(QueryError::Corrupt("handle"))
}

/// Parses the stored status of an API key.
pub(crate) fn key_status(name: &str) -> Result<KeyStatus, QueryError> {
    KeyStatus::from_name(name).ok_or(QueryError::Corrupt("key status"))
}

/// Parses the event names that a webhook subscribes to. Skips unknown names, which a newer version may have stored.
pub(crate) fn known_events(names: &str) -> Vec<EventKind> {
    names.split(EVENTS_SEPARATOR).filter_map(EventKind::from_name).collect()
}

/// Returns [`QueryError::Corrupt`] unless a statement changed exactly one row. `rows` is the number of changed rows,
/// and `row` names the row in the error.
pub(crate) fn one(rows: usize, row: &'static str) -> Result<(), QueryError> {
    if rows == 1 { Ok(()) } else { Err(QueryError::Corrupt(row)) }
}

/// Separates the event names in the column `events` of the table `webhooks`.
pub(crate) const EVENTS_SEPARATOR: &str = ",";
/// Maximum time in milliseconds by which a stored time of last use may be ahead of this node's clock, because the
/// clocks of two nodes can be in different hours. A later time came from a wrong clock.
pub(crate) const LAST_USE_AHEAD_MAX_MS: i64 = 3_600_000;
