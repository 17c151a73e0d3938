//! A hook that runs before each transaction and before each read outside a transaction. Tests use the hook to inject
//! errors.

use std::{fmt, sync::Arc};

use sealpost_domain::ports::{Durability, StoreError};

/// The kind of database access before which a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads outside a transaction.
    Read,
    /// A transaction.
    Write(Durability),
}

pub(crate) type Hook = dyn Fn(Access) -> Result<(), StoreError> + Send + Sync;

#[derive(Clone, Default)]
pub(crate) struct AccessHook(pub(crate) Option<Arc<Hook>>);

impl fmt::Debug for AccessHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AccessHook").field(&self.0.is_some()).finish()
    }
}
