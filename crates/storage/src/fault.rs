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

    /// What it means of the commit itself.
    pub(crate) fn of_commit(self) -> StoreError {
        match self {
            Self::Driver(error) if leaves_in_doubt(&error) => StoreError::InDoubt(error.into()),
            fault => fault.into(),
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

/// Whether a commit that fails so may have been carried out all the same. What PostgreSQL refuses it says, unless the
/// connection ends first; whether it had ended before the commit came nobody can tell any more. `UnableToSendCommand` is one
/// that was known to have ended. SQLite's log may be written when it cannot be synced.
fn leaves_in_doubt(error: &Error) -> bool {
    match error {
        Error::RollbackErrorOnCommit { commit_error, .. } => leaves_in_doubt(commit_error),
        Error::DatabaseError(Kind::ClosedConnection, _) => true,
        Error::DatabaseError(Kind::Unknown, info) => {
            is_gone(info.message()) || info.message().contains(IO_FAILED)
        }
        _ => false,
    }
}

/// A server that has become read-only was demoted: the next connection may find its successor.
fn is_fatal(error: &Error) -> bool {
    match error {
        Error::BrokenTransactionManager | Error::RollbackErrorOnCommit { .. } => true,
        Error::DatabaseError(kind, info) => match kind {
            Kind::ClosedConnection | Kind::ReadOnlyTransaction | Kind::UnableToSendCommand => true,
            Kind::Unknown => is_gone(info.message()),
            _ => false,
        },
        _ => false,
    }
}

fn is_gone(text: &str) -> bool {
    GONE.iter().any(|phrase| text.starts_with(phrase))
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
    IO_FAILED,
    "attempt to write a readonly database",
    "unable to open database file",
];

/// `SQLITE_IOERR`.
const IO_FAILED: &str = "disk I/O error";

/// How PostgreSQL and libpq say that there is no connection any more.
const GONE: [&str; 2] = ["server closed the connection unexpectedly", "terminating connection"];

#[cfg(test)]
mod tests {
    use super::*;

    fn at_commit(kind: Kind, message: &str) -> StoreError {
        let error = Error::DatabaseError(kind, Box::new(message.to_owned()));
        Fault::Driver(error).of_commit()
    }

    #[test]
    fn a_commit_whose_answer_may_have_been_lost_is_in_doubt() {
        let closed = "server closed the connection unexpectedly";
        let ended = "terminating connection due to administrator command";
        for (kind, message) in [
            (Kind::ClosedConnection, closed),
            (Kind::Unknown, ended),
            (Kind::ClosedConnection, "could not receive data from server: Connection timed out"),
            (Kind::Unknown, "disk I/O error"),
        ] {
            let said = at_commit(kind, message);
            assert!(matches!(said, StoreError::InDoubt(_)), "{said:?}");
        }
        let failed = Error::DatabaseError(Kind::Unknown, Box::new(IO_FAILED.to_owned()));
        let both = Error::RollbackErrorOnCommit {
            rollback_error: Box::new(Error::BrokenTransactionManager),
            commit_error: Box::new(failed),
        };
        let said = Fault::Driver(both).of_commit();
        assert!(matches!(said, StoreError::InDoubt(_)), "{said:?}");
    }

    #[test]
    fn a_commit_that_was_refused_or_never_sent_is_not() {
        for (kind, message) in [
            (Kind::UnableToSendCommand, "no connection to the server"),
            (Kind::Unknown, "canceling statement due to lock timeout"),
            (Kind::Unknown, "database or disk is full"),
            (Kind::ReadOnlyTransaction, "cannot execute COMMIT in a read-only transaction"),
        ] {
            let said = at_commit(kind, message);
            assert!(matches!(said, StoreError::Unavailable(_)), "{said:?}");
        }
        let said = at_commit(Kind::SerializationFailure, "could not serialize access");
        assert!(matches!(said, StoreError::Contended(_)), "{said:?}");
        let said = at_commit(Kind::RestrictViolation, "the stamp of the facts is missing");
        assert!(matches!(said, StoreError::Refused(_)), "{said:?}");
        let said = Fault::Driver(Error::BrokenTransactionManager).of_commit();
        assert!(matches!(said, StoreError::Unavailable(_)), "{said:?}");
    }
}
