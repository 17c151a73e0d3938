//! Between the domain's types and the columns' types.

use std::str::FromStr;

use sealpost_domain::{Timestamp, TokenHash};

use crate::fault::Fault;

/// An id that was stored as text; `what` names the row in the error.
pub(crate) fn id<T: FromStr>(text: &str, what: &'static str) -> Result<T, Fault> {
    text.parse().ok().ok_or(Fault::Corrupt(what))
}

/// Ids as they are stored.
pub(crate) fn texts<T: ToString>(ids: &[T]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

/// A number that was stored in a wider or signed column, or is about to be.
pub(crate) fn number<T: TryFrom<N>, N>(number: N, what: &'static str) -> Result<T, Fault> {
    T::try_from(number).ok().ok_or(Fault::Corrupt(what))
}

/// Bytes of a fixed length.
pub(crate) fn bytes<const N: usize>(bytes: Vec<u8>, what: &'static str) -> Result<[u8; N], Fault> {
    number(bytes, what)
}

/// The hash of a token.
pub(crate) fn token(hash: Vec<u8>, what: &'static str) -> Result<TokenHash, Fault> {
    bytes(hash, what).map(TokenHash)
}

/// An instant that may not have come.
pub(crate) fn instant(millis: Option<i64>) -> Option<Timestamp> {
    millis.map(Timestamp::from_millis)
}

/// The one row that a statement had to find; `what` names it in the error.
pub(crate) fn one(rows: usize, what: &'static str) -> Result<(), Fault> {
    if rows == 1 { Ok(()) } else { Err(Fault::Corrupt(what)) }
}
