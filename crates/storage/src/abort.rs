//! The early end of a transaction.

use sealpost_domain::{Refusal, ports::StoreError};

/// The reason that ends the work of a transaction early.
#[derive(Debug)]
pub enum Abort<R = Refusal> {
    /// The request is refused. What the transaction has written so far is committed, for example the count of the
    /// request.
    Refused(R),
    /// The database failed. The transaction is rolled back.
    Store(StoreError),
}

impl<R> From<StoreError> for Abort<R> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Refusal> for Abort {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
