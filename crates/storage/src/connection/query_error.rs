//! Classifies errors of SQL statements as [`StoreError`]: temporary, in conflict with another transaction, or refused.

use diesel::result::{DatabaseErrorKind as Kind, Error};
use sealpost_domain::ports::{BoxedError, StoreError};

/// An error of a statement, or of reading its rows.
#[derive(Debug)]
pub(crate) enum QueryError {
    /// A conditional statement or an insert failed, because another transaction changed the row first.
    Contended(Error),
    /// A stored value is invalid. The text names the value.
    Corrupt(&'static str),
    /// Any other error of the database driver.
    Driver(Error),
    /// This crate refused the operation, without an error of the database.
    Refused(BoxedError),
}

impl QueryError {
    /// Returns true if the connection can no longer be used.
    pub(crate) fn is_fatal(&self) -> bool {
        match self {
            Self::Contended(error) | Self::Driver(error) => is_fatal(error),
            Self::Corrupt(_) | Self::Refused(_) => false,
        }
    }

    /// Classifies the error of a COMMIT. Returns [`StoreError::InDoubt`] if the transaction may be stored although
    /// COMMIT failed.
    pub(crate) fn at_commit(self) -> StoreError {
        match self {
            Self::Driver(error) if leaves_in_doubt(&error) => StoreError::InDoubt(error.into()),
            fault => fault.into(),
        }
    }
}

impl From<Error> for QueryError {
    fn from(error: Error) -> Self {
        Self::Driver(error)
    }
}

impl From<QueryError> for StoreError {
    fn from(fault: QueryError) -> Self {
        match fault {
            QueryError::Contended(error) => Self::Contended(error.into()),
            QueryError::Corrupt(value) => Self::Corrupt(value),
            QueryError::Refused(error) => Self::Refused(error),
            QueryError::Driver(error) => match classify(&error) {
                ErrorClass::Unavailable => Self::Unavailable(error.into()),
                ErrorClass::Contended => Self::Contended(error.into()),
                ErrorClass::Refused => Self::Refused(error.into()),
            },
        }
    }
}

/// Wraps an error as [`StoreError::Unavailable`]: the database could not be used at this time.
pub(crate) fn unavailable(error: impl Into<BoxedError>) -> StoreError {
    StoreError::Unavailable(error.into())
}

/// Wraps an error as [`StoreError::Refused`]: the operation is refused, and repeating it does not help.
pub(crate) fn refused(error: impl Into<BoxedError>) -> StoreError {
    StoreError::Refused(error.into())
}

enum ErrorClass {
    Contended,
    Refused,
    Unavailable,
}

fn classify(error: &Error) -> ErrorClass {
    match error {
        Error::RollbackErrorOnCommit { commit_error, .. } => classify(commit_error),
        Error::DatabaseError(Kind::SerializationFailure, _) => ErrorClass::Contended,
        Error::BrokenTransactionManager
        | Error::DatabaseError(
            Kind::ClosedConnection | Kind::ReadOnlyTransaction | Kind::UnableToSendCommand,
            _,
        ) => ErrorClass::Unavailable,
        Error::DatabaseError(Kind::Unknown, info) => classify_text(info.message()),
        _ => ErrorClass::Refused,
    }
}

/// Classifies an error by its text, because diesel drops the SQLSTATE code and SQLite's error code. The texts of SQLite
/// are fixed. PostgreSQL is configured to send English texts.
fn classify_text(text: &str) -> ErrorClass {
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    if has(&CONTENDED) {
        ErrorClass::Contended
    } else if has(&UNAVAILABLE) {
        ErrorClass::Unavailable
    } else {
        ErrorClass::Refused
    }
}

/// Returns whether a COMMIT may have taken effect although it failed with this error.
fn leaves_in_doubt(error: &Error) -> bool {
    match error {
        Error::RollbackErrorOnCommit { commit_error, .. } => leaves_in_doubt(commit_error),
        // The connection ended before the response, so COMMIT may have arrived.
        Error::DatabaseError(Kind::ClosedConnection, _) => true,
        Error::DatabaseError(Kind::Unknown, info) => {
            // SQLite may write the log and then fail to sync.
            is_connection_lost(info.message()) || info.message().contains(IO_FAILED)
        }
        // Also `UnableToSendCommand`: the connection was closed before COMMIT was sent.
        _ => false,
    }
}

/// Returns true if the connection must be replaced: if it is lost, or if the server has become read-only. Such a server
/// is no longer the primary, and a new connection may reach the new primary.
fn is_fatal(error: &Error) -> bool {
    match error {
        Error::BrokenTransactionManager | Error::RollbackErrorOnCommit { .. } => true,
        Error::DatabaseError(kind, info) => match kind {
            Kind::ClosedConnection | Kind::ReadOnlyTransaction | Kind::UnableToSendCommand => true,
            Kind::Unknown => is_connection_lost(info.message()),
            _ => false,
        },
        _ => false,
    }
}

fn is_connection_lost(text: &str) -> bool {
    CONNECTION_LOST.iter().any(|phrase| text.starts_with(phrase))
}

/// Texts of errors that report a conflict with another transaction. PostgreSQL: code 40P01. SQLite: `SQLITE_BUSY` and
/// `SQLITE_LOCKED`.
const CONTENDED: [&str; 3] =
    ["deadlock detected", "database is locked", "database table is locked"];

/// Texts of temporary errors, after which a later attempt may succeed. PostgreSQL: codes 57014, 55P03, 25P03, 57P01 to
/// 57P03, 53100, 53200. SQLite: `SQLITE_FULL`, `_IOERR`, `_READONLY`, `_CANTOPEN`.
const UNAVAILABLE: [&str; 10] = [
    "canceling statement due to",
    "server closed the connection unexpectedly",
    "terminating connection",
    "the database system is",
    "No space left on device",
    "out of memory",
    "database or disk is full",
    IO_FAILED,
    "attempt to write a readonly database",
    "unable to open database file",
];

/// Text of the error `SQLITE_IOERR`.
const IO_FAILED: &str = "disk I/O error";

/// Texts with which PostgreSQL and libpq report a lost connection.
const CONNECTION_LOST: [&str; 2] =
    ["server closed the connection unexpectedly", "terminating connection"];

#[cfg(test)]
mod tests {
    use super::*;

    fn at_commit(kind: Kind, message: &str) -> StoreError {
        let error = Error::DatabaseError(kind, Box::new(message.to_owned()));
        QueryError::Driver(error).at_commit()
    }

    #[test]
    fn a_commit_with_a_lost_response_is_in_doubt() {
        let closed = "server closed the connection unexpectedly";
        let ended = "terminating connection due to administrator command";
        for (kind, message) in [
            (Kind::ClosedConnection, closed),
            (Kind::Unknown, ended),
            (Kind::ClosedConnection, "could not receive data from server: Connection timed out"),
            (Kind::Unknown, "disk I/O error"),
        ] {
            let error = at_commit(kind, message);
            assert!(matches!(error, StoreError::InDoubt(_)), "{error:?}");
        }
        let failed = Error::DatabaseError(Kind::Unknown, Box::new(IO_FAILED.to_owned()));
        let both = Error::RollbackErrorOnCommit {
            rollback_error: Box::new(Error::BrokenTransactionManager),
            commit_error: Box::new(failed),
        };
        let error = QueryError::Driver(both).at_commit();
        assert!(matches!(error, StoreError::InDoubt(_)), "{error:?}");
    }

    #[test]
    fn a_refused_or_unsent_commit_is_not_in_doubt() {
        for (kind, message) in [
            (Kind::UnableToSendCommand, "no connection to the server"),
            (Kind::Unknown, "canceling statement due to lock timeout"),
            (Kind::Unknown, "database or disk is full"),
            (Kind::ReadOnlyTransaction, "cannot execute COMMIT in a read-only transaction"),
        ] {
            let error = at_commit(kind, message);
            assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
        }
        let error = at_commit(Kind::SerializationFailure, "could not serialize access");
        assert!(matches!(error, StoreError::Contended(_)), "{error:?}");
        let error = at_commit(Kind::RestrictViolation, "a revoked key stays revoked");
        assert!(matches!(error, StoreError::Refused(_)), "{error:?}");
        let error = QueryError::Driver(Error::BrokenTransactionManager).at_commit();
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    }
}
