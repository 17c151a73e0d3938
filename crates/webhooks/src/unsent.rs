//! The reasons for which an attempt could not be made. Such an attempt is not counted, and does not change the health
//! of its target.

use crate::local_fault::LocalFault;

/// The reason why an attempt could not be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unsent {
    /// This node cannot open connections.
    #[error(transparent)]
    Local(#[from] LocalFault),
    /// The receiver of a [relay](crate::relay) is not connected to this node, or the connection has ended before the
    /// answer.
    #[error("no receiver is connected to this relay, or its connection ended before the answer")]
    NotConnected,
}
