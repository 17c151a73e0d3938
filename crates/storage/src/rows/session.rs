//! Rows of the table `sessions`. The table contains hashes of tokens, never the tokens.

use sealpost_domain::{Session, Timestamp};

use crate::{
    connection::query_error::QueryError,
    rows::{columns, row_tags::RowContent},
};

/// A row of the table `sessions`: hash of the token, id of the account, expiry in milliseconds since the Unix epoch.
pub(crate) type SessionRow = (Vec<u8>, String, i64);

pub(crate) fn read((token, account_id, expires_at): SessionRow) -> Result<Session, QueryError> {
    Ok(Session {
        token: columns::token(token, "session")?,
        account_id: columns::id(&account_id, "session")?,
        expires_at: Timestamp::from_millis(expires_at),
    })
}

/// Returns the columns that the tag of a session protects against forgery.
pub(crate) fn content(token: &[u8], account_id: &str, expires_at: i64) -> RowContent {
    RowContent::new("sessions").with(token).with(account_id).with_number(expires_at)
}

/// Returns the columns that the tag of `confirmed_at` protects against forgery. This is the time at which the client
/// last entered the login secret again in the session.
pub(crate) fn confirmation_content(token: &[u8], confirmed_at: i64) -> RowContent {
    RowContent::new("sessions.confirmed_at").with(token).with_number(confirmed_at)
}
