//! The reasons for which an attempt could not be made: faults of this node, and relays without a connection. The
//! receiver has no part in them, so such an attempt does not affect its webhook.

use std::{error::Error, io, net::UdpSocket};

use rustix::io::Errno;

/// This node cannot open a connection, because the operating system has no file descriptor, memory or port left.
/// Contains the error code of the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this node cannot open connections: {}", io::Error::from_raw_os_error(*.0))]
pub(crate) struct LocalError(i32);

/// The reason why an attempt could not be made. Such an attempt is not counted, and does not change the health of its
/// target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unsent {
    /// This node cannot open connections.
    #[error(transparent)]
    Local(#[from] LocalError),
    /// The receiver of a [relay](crate::relay) is not connected to this node, or the connection has ended before the
    /// answer.
    #[error("no receiver is connected to this relay, or its connection ended before the answer")]
    NotConnected,
}

impl LocalError {
    /// Returns the local fault that caused an error. `None` if the receiver or the network may have caused the error.
    pub(crate) fn new(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            let io_error = error.downcast_ref::<io::Error>();
            if let Some(code) = io_error.and_then(io::Error::raw_os_error) {
                let is_local = LOCAL.iter().any(|local| local.raw_os_error() == code);
                return is_local.then_some(Self(code));
            }
            next = match io_error.and_then(io::Error::get_ref) {
                Some(inner) => Some(inner),
                None => error.source(),
            };
        }
        None
    }

    /// Opens a socket for a test. Returns the fault if the operating system refuses the socket.
    pub(crate) fn probe() -> Option<Self> {
        Self::new(&UdpSocket::bind("0.0.0.0:0").err()?)
    }

    /// Returns true if the fault can concern a single address of the target: this node has no local address or port for
    /// the connection (`EADDRNOTAVAIL`). If another address fails for another reason, that failure is reported.
    pub(crate) fn is_of_one_address(self) -> bool {
        self.0 == Errno::ADDRNOTAVAIL.raw_os_error()
    }
}

const LOCAL: [Errno; 5] =
    [Errno::ADDRNOTAVAIL, Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exhausted_resources_of_this_node_are_local() {
        for (code, is_local) in [
            (Errno::MFILE, true),
            (Errno::NFILE, true),
            (Errno::NOMEM, true),
            (Errno::NOBUFS, true),
            (Errno::ADDRNOTAVAIL, true),
            (Errno::CONNREFUSED, false),
            (Errno::CONNRESET, false),
            (Errno::HOSTUNREACH, false),
            (Errno::NETUNREACH, false),
            (Errno::TIMEDOUT, false),
        ] {
            let code = code.raw_os_error();
            let error = io::Error::from_raw_os_error(code);
            assert_eq!(LocalError::new(&error).is_some(), is_local, "{error}");
            let wrapped = io::Error::other(io::Error::other(error));
            assert_eq!(LocalError::new(&wrapped).is_some(), is_local, "{wrapped}");
        }
        assert_eq!(LocalError::new(&io::Error::from(io::ErrorKind::AddrNotAvailable)), None);
        assert_eq!(LocalError::probe(), None);
    }
}
