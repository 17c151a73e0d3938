//! What goes wrong inside, and the one place that decides what it means to the domain.

use diesel::result::{DatabaseErrorKind as Kind, Error};
use sealpost_domain::ports::{BoxedError, StoreError};

/// What a statement, or reading its rows, can fail with.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Somebody else was quicker, as only the statement's author can tell.
    Contended(Error),
    /// What is stored does not make sense.
    Corrupt(&'static str),
    /// Everything else that the driver reports.
    Driver(Error),
    /// A refusal of our own.
    Refused(BoxedError),
}

impl Fault {
    /// Whether the connection is of no further use.
    pub(crate) fn is_fatal(&self) -> bool {
        match self {
            Self::Contended(error) | Self::Driver(error) => is_fatal(error),
            Self::Corrupt(_) | Self::Refused(_) => false,
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Driver(error)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Contended(error) => Self::Contended(error.into()),
            Fault::Corrupt(what) => Self::Corrupt(what),
            Fault::Refused(error) => Self::Refused(error),
            Fault::Driver(error) => match meaning(&error) {
                Meaning::Away => Self::Unavailable(error.into()),
                Meaning::InTheWay => Self::Contended(error.into()),
                Meaning::Refused => Self::Refused(error.into()),
            },
        }
    }
}

/// No connection, or none in time.
pub(crate) fn unavailable(error: impl Into<BoxedError>) -> StoreError {
    StoreError::Unavailable(error.into())
}

/// A refusal of our own.
pub(crate) fn refused(error: impl Into<BoxedError>) -> StoreError {
    StoreError::Refused(error.into())
}

enum Meaning {
    Away,
    InTheWay,
    Refused,
}

fn meaning(error: &Error) -> Meaning {
    match error {
        Error::RollbackErrorOnCommit { commit_error, .. } => meaning(commit_error),
        Error::DatabaseError(Kind::SerializationFailure, _) => Meaning::InTheWay,
        Error::BrokenTransactionManager
        | Error::DatabaseError(
            Kind::ClosedConnection | Kind::ReadOnlyTransaction | Kind::UnableToSendCommand,
            _,
        ) => Meaning::Away,
        Error::DatabaseError(Kind::Unknown, info) => meaning_of_text(info.message()),
        _ => Meaning::Refused,
    }
}

/// diesel keeps neither SQLSTATE nor SQLite's code, only the text. SQLite's is fixed; PostgreSQL is asked for English
/// at connect.
fn meaning_of_text(text: &str) -> Meaning {
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    if says(&IN_THE_WAY) {
        Meaning::InTheWay
    } else if says(&AWAY) {
        Meaning::Away
    } else {
        Meaning::Refused
    }
}

/// A server that has become read-only was demoted: the next connection may find its successor.
fn is_fatal(error: &Error) -> bool {
    match error {
        Error::BrokenTransactionManager | Error::RollbackErrorOnCommit { .. } => true,
        Error::DatabaseError(kind, info) => match kind {
            Kind::ClosedConnection | Kind::ReadOnlyTransaction | Kind::UnableToSendCommand => true,
            Kind::Unknown => GONE.iter().any(|phrase| info.message().starts_with(phrase)),
            _ => false,
        },
        _ => false,
    }
}

/// 40P01; `SQLITE_BUSY` and `SQLITE_LOCKED`.
const IN_THE_WAY: [&str; 3] =
    ["deadlock detected", "database is locked", "database table is locked"];

/// 57014, 55P03, 25P03, 57P01 to 57P03, 53100, 53200; `SQLITE_FULL`, `_IOERR`, `_READONLY`, `_CANTOPEN`.
const AWAY: [&str; 10] = [
    "canceling statement due to",
    "server closed the connection unexpectedly",
    "terminating connection",
    "the database system is",
    "No space left on device",
    "out of memory",
    "database or disk is full",
    "disk I/O error",
    "attempt to write a readonly database",
    "unable to open database file",
];

/// How PostgreSQL and libpq say that there is no connection any more.
const GONE: [&str; 2] = ["server closed the connection unexpectedly", "terminating connection"];
