//! Limits the number of anonymous connections. A connection is anonymous from its start, which includes the TLS
//! handshake, until a request authenticates. It is anonymous again after a request that does not authenticate.
//! Otherwise an account could authenticate once on each of many connections, and then hold them by requests that need
//! no token.
//!
//! If a limit is reached, a new connection closes the oldest anonymous connection. Honest clients authenticate within
//! milliseconds, so the oldest connections are mostly silent connections of an attacker.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    net::{IpAddr, Ipv6Addr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use futures_util::task::AtomicWaker;
use ipnet::IpNet;
use metrics::{Counter, counter};
use parking_lot::Mutex;

/// The anonymous connections of one server (of clients that have not authenticated), with their limits in total and
/// per client address.
#[derive(Debug)]
pub(crate) struct AnonymousConnections {
    total_max: usize,
    per_address_max: usize,
    /// Networks of trusted proxies. Connections from a proxy are not limited, because they carry requests of many
    /// clients.
    trusted_proxies: Vec<IpNet>,
    members: Mutex<Members>,
    evicted: Counter,
}

#[derive(Debug, Default)]
struct Members {
    /// The number of the next connection. Older connections have smaller numbers.
    next: u64,
    by_age: BTreeMap<u64, Member>,
    by_network: HashMap<IpAddr, BTreeSet<u64>>,
}

#[derive(Debug)]
struct Member {
    network: IpAddr,
    eviction: Arc<Eviction>,
}

/// Keeps a connection in the set of anonymous connections while its client has not authenticated. Dropped when the
/// connection ends.
#[derive(Debug)]
pub(super) struct Membership {
    connections: Arc<AnonymousConnections>,
    network: IpAddr,
    /// The number of the connection in `by_age`. `None` while the client is authenticated.
    number: Option<u64>,
    eviction: Arc<Eviction>,
}

/// A flag that requests the end of one connection, and the task to wake when the flag is set.
#[derive(Debug, Default)]
struct Eviction {
    is_ordered: AtomicBool,
    task: AtomicWaker,
}

impl AnonymousConnections {
    /// Creates an empty set of anonymous connections. Both limits must be at least 1.
    pub(crate) fn new(
        total_max: usize,
        per_address_max: usize,
        trusted_proxies: Vec<IpNet>,
    ) -> Arc<Self> {
        let (members, evicted) = (Mutex::default(), counter!(EVICTED));
        Arc::new(Self { total_max, per_address_max, trusted_proxies, members, evicted })
    }

    /// Returns the number of anonymous connections.
    pub(crate) fn count(&self) -> usize {
        self.members.lock().by_age.len()
    }

    /// Adds a new connection, which is anonymous (not authenticated yet), and may close the oldest anonymous connection
    /// for it. Returns `None` for a trusted proxy, whose connections are not limited.
    pub(super) fn add(self: &Arc<Self>, peer: IpAddr) -> Option<Membership> {
        let peer = peer.to_canonical();
        if self.trusted_proxies.iter().any(|net| net.contains(&peer)) {
            return None;
        }
        let (network, eviction) = (network(peer), Arc::default());
        let connections = Arc::clone(self);
        let mut membership = Membership { connections, network, number: None, eviction };
        membership.join();
        Some(membership)
    }

    /// Selects the connection to close before a connection from `network` is added, and returns its number:
    ///
    /// - If the limit per network is reached, the oldest connection from this network.
    /// - If the limit of all networks together is reached, the oldest connection of all.
    /// - Otherwise `None`.
    fn oldest_in_excess(&self, members: &Members, network: IpAddr) -> Option<u64> {
        let same = members.by_network.get(&network);
        if same.is_some_and(|same| same.len() >= self.per_address_max) {
            return same?.first().copied();
        }
        if members.by_age.len() >= self.total_max {
            return members.by_age.first_key_value().map(|(number, _)| *number);
        }
        None
    }
}

impl Members {
    fn insert(&mut self, member: Member) -> u64 {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        self.by_network.entry(member.network).or_default().insert(number);
        self.by_age.insert(number, member);
        number
    }

    fn remove(&mut self, number: u64) -> Option<Member> {
        let member = self.by_age.remove(&number)?;
        if let Some(same) = self.by_network.get_mut(&member.network) {
            same.remove(&number);
            if same.is_empty() {
                self.by_network.remove(&member.network);
            }
        }
        Some(member)
    }
}

impl Membership {
    /// Adds the connection to the set as the newest one. Closes the oldest connection of the client's address if the
    /// limit per address is reached, or the oldest connection of all if the total limit is reached. Returns false and
    /// changes nothing if the connection is in the set already.
    pub(super) fn join(&mut self) -> bool {
        if self.number.is_some() {
            return false;
        }
        self.eviction = Arc::default();
        let member = Member { network: self.network, eviction: Arc::clone(&self.eviction) };
        let mut members = self.connections.members.lock();
        let evicted = self.connections.oldest_in_excess(&members, self.network);
        let evicted = evicted.and_then(|number| members.remove(number));
        self.number = Some(members.insert(member));
        drop(members);
        if let Some(Member { eviction, .. }) = evicted {
            self.connections.evicted.increment(1);
            eviction.order();
        }
        true
    }

    /// Removes the connection from the set of anonymous connections.
    pub(super) fn leave(&mut self) {
        if let Some(number) = self.number.take() {
            self.connections.members.lock().remove(number);
        }
    }

    /// Completes when this connection must close, because a newer connection has evicted this connection from the set.
    pub(super) fn poll_evicted(&self, cx: &Context<'_>) -> Poll<()> {
        if self.number.is_none() {
            return Poll::Pending;
        }
        let is_ordered = || self.eviction.is_ordered.load(Ordering::Acquire);
        if is_ordered() {
            return Poll::Ready(());
        }
        self.eviction.task.register(cx.waker());
        // Checks again, because the eviction may have been ordered just before the task was registered.
        if is_ordered() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Eviction {
    fn order(&self) {
        self.is_ordered.store(true, Ordering::Release);
        self.task.wake();
    }
}

/// Returns the network that counts as one client: an IPv4 address, or the /64 network of an IPv6 address.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

const EVICTED: &str = "sealpost_anonymous_connections_evicted_total";

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    fn add(connections: &Arc<AnonymousConnections>, peer: &str) -> Option<Membership> {
        connections.add(peer.parse().unwrap())
    }

    fn is_evicted(membership: Option<&Membership>) -> bool {
        membership.unwrap().poll_evicted(&Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn a_new_connection_closes_the_oldest_of_its_address() {
        let connections = AnonymousConnections::new(100, 2, Vec::new());
        let other = add(&connections, "192.0.2.1");
        let first = add(&connections, "2001:db8::1");
        let second = add(&connections, "2001:db8::ffff:2");
        assert!(!is_evicted(first.as_ref()));
        let third = add(&connections, "2001:db8::3");
        assert!(is_evicted(first.as_ref()) && !is_evicted(second.as_ref()));
        drop((second, add(&connections, "2001:db8::4")));
        assert!(!is_evicted(third.as_ref()) && !is_evicted(other.as_ref()));
        assert_eq!(connections.count(), 2);
    }

    #[test]
    fn an_authenticated_connection_can_become_anonymous_again() {
        let connections = AnonymousConnections::new(100, 1, Vec::new());
        let mut first = add(&connections, "192.0.2.1").unwrap();
        assert!(!first.join(), "it counts already");
        let mut second = add(&connections, "192.0.2.1").unwrap();
        first.leave();
        assert!(!is_evicted(Some(&first)), "it has authenticated in time");
        second.leave();
        assert_eq!(connections.count(), 0);
        assert!(first.join() && second.join());
        assert!(is_evicted(Some(&first)) && !is_evicted(Some(&second)));
        assert_eq!(connections.count(), 1);
    }

    #[test]
    fn a_new_connection_closes_the_oldest_of_all() {
        let connections = AnonymousConnections::new(2, 2, Vec::new());
        let members: Vec<_> =
            ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|peer| add(&connections, peer)).into();
        let evicted: Vec<_> = members.iter().map(|member| is_evicted(member.as_ref())).collect();
        assert_eq!(evicted, [true, false, false]);
        drop(members);
        assert_eq!(connections.count(), 0);
        assert!(connections.members.lock().by_network.is_empty());
    }

    #[test]
    fn trusted_proxies_are_not_bounded() {
        let connections = AnonymousConnections::new(1, 1, vec!["192.0.2.0/24".parse().unwrap()]);
        assert!(add(&connections, "::ffff:192.0.2.1").is_none());
        assert!(add(&connections, "198.51.100.1").is_some());
    }
}
