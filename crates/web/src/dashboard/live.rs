//! Limits the live streams, which send new entries of an event log to a browser. Each account and the whole node can
//! have a limited number of streams. For each account, only one stream at a time polls the database.

use std::{
    cmp::Reverse,
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::Arc,
};

use parking_lot::Mutex;
use sealpost_domain::AccountId;
use tokio::sync::watch;

/// The open live streams of this node.
pub(crate) struct LiveStreams {
    per_account: usize,
    per_node: usize,
    /// The open streams, the oldest first.
    open: Mutex<Vec<OpenStream>>,
    stopping: watch::Sender<bool>,
}

struct OpenStream {
    account: AccountId,
    network: Option<IpAddr>,
    end: watch::Sender<Option<StreamEnd>>,
    /// Locked during a poll, so that only one stream of the account reads the database at a time.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// An open live stream. When dropped, the stream no longer counts against the limits.
pub(super) struct LiveStream {
    streams: Arc<LiveStreams>,
    turn: Arc<tokio::sync::Mutex<()>>,
    end: watch::Receiver<Option<StreamEnd>>,
    stopping: watch::Receiver<bool>,
}

/// The reason why a stream must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamEnd {
    /// The account opened a newer stream and had reached its limit of streams.
    Replaced,
    /// The server is shutting down.
    NodeStops,
    /// An account with fewer streams opened a stream, and the node had reached its limit of streams.
    Yielded,
}

impl LiveStreams {
    /// Creates the limits. If a limit is 0, no stream can be opened.
    pub(crate) fn new(per_account: usize, per_node: usize) -> Self {
        let (stopping, _) = watch::channel(false);
        Self { per_account, per_node, open: Mutex::default(), stopping }
    }

    /// Returns true if the settings allow live streams.
    pub(super) fn is_on(&self) -> bool {
        self.per_account > 0 && self.per_node > 0
    }

    /// Ends all streams and refuses new streams.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Opens a stream. At a limit, ends another stream:
    /// - At the limit of the account, its oldest stream. The browser of this stream may have disconnected unnoticed.
    /// - At the limit of the node, a stream of an account with the most streams. Among these streams, prefers the
    ///   client network with the most streams, then the oldest stream.
    ///
    /// So an account without a stream can always open one, even if an attacker has many accounts.
    ///
    /// Returns `None` at the limit of the node if this account has a stream and no account has more. Also returns
    /// `None` if live streams are turned off, or if the node is shutting down.
    pub(super) fn open(
        self: &Arc<Self>,
        account: AccountId,
        client: Option<IpAddr>,
    ) -> Option<LiveStream> {
        if !self.is_on() || *self.stopping.borrow() {
            return None;
        }
        let mut open = self.open.lock();
        let of_account = open.iter().filter(|stream| stream.account == account).count();
        let turn = open.iter().find(|stream| stream.account == account);
        let turn = turn.map_or_else(Arc::default, |stream| Arc::clone(&stream.turn));
        if of_account >= self.per_account {
            let oldest = open.iter().position(|stream| stream.account == account)?;
            open.remove(oldest).end.send_replace(Some(StreamEnd::Replaced));
        } else if open.len() >= self.per_node {
            let yielding = yielding(&open, of_account)?;
            open.remove(yielding).end.send_replace(Some(StreamEnd::Yielded));
        }
        let (sender, end) = watch::channel(None);
        let network = client.map(network_of);
        open.push(OpenStream { account, network, end: sender, turn: Arc::clone(&turn) });
        drop(open);
        let stopping = self.stopping.subscribe();
        Some(LiveStream { streams: Arc::clone(self), turn, end, stopping })
    }
}

/// Chooses the open stream that ends if a node has its maximum number of streams and an account opens another one. It
/// is a stream of the account with the most streams: first one of the client network with the most, then the oldest
/// one.
///
/// `of_account` is the number of streams that the opening account has. Returns `None` if it has one and no account has
/// more.
fn yielding(open: &[OpenStream], of_account: usize) -> Option<usize> {
    let mut by_account = HashMap::<_, usize>::new();
    let mut by_network = HashMap::<_, usize>::new();
    for OpenStream { account, network, .. } in open {
        *by_account.entry(account).or_default() += 1;
        *by_network.entry(network).or_default() += 1;
    }
    let count = |stream: &OpenStream| {
        let of_account = by_account.get(&stream.account).copied().unwrap_or_default();
        (of_account, by_network.get(&stream.network).copied())
    };
    let all = open.iter().map(count).enumerate();
    let (index, (most, _)) = all.max_by_key(|(index, count)| (*count, Reverse(*index)))?;
    (of_account == 0 || of_account < most).then_some(index)
}

/// Returns the network that counts as one client: an IPv4 address, or an IPv6 /48, which one client may own.
fn network_of(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 80 << 80).into(),
        address @ IpAddr::V4(_) => address,
    }
}

impl LiveStream {
    /// Waits until no other stream of the account polls the database. Then runs `poll` and returns its result.
    pub(super) async fn poll<T>(&self, poll: impl Future<Output = T>) -> T {
        let _turn = self.turn.lock().await;
        poll.await
    }

    /// Waits until the stream must end, and returns the reason.
    pub(super) async fn ended(&mut self) -> StreamEnd {
        // An error means that the sender was dropped, which ends the stream too.
        tokio::select! {
            end = self.end.wait_for(Option::is_some) => {
                end.ok().and_then(|end| *end).unwrap_or(StreamEnd::Replaced)
            }
            _ = self.stopping.wait_for(|stopping| *stopping) => StreamEnd::NodeStops,
        }
    }
}

impl Drop for LiveStream {
    fn drop(&mut self) {
        let mut open = self.streams.open.lock();
        open.retain(|stream| !self.end.same_channel(&stream.end.subscribe()));
    }
}

#[cfg(test)]
mod tests {
    use sealpost_domain::Timestamp;

    use super::*;

    fn account(byte: u8) -> AccountId {
        AccountId::new(Timestamp::from_millis(0), [byte; 10])
    }

    fn open(streams: &Arc<LiveStreams>, byte: u8, client: &str) -> Option<LiveStream> {
        streams.open(account(byte), Some(client.parse().unwrap()))
    }

    #[tokio::test]
    async fn a_further_stream_of_an_account_ends_its_oldest() {
        let streams = Arc::new(LiveStreams::new(2, 3));
        let mut first = streams.open(account(1), None).unwrap();
        let second = streams.open(account(1), None).unwrap();
        let _other = streams.open(account(2), None).unwrap();
        let third = streams.open(account(1), None).unwrap();
        assert_eq!(first.ended().await, StreamEnd::Replaced);
        drop((first, second, third));
        assert_eq!(streams.open.lock().len(), 1, "a dropped stream frees its place");
    }

    #[tokio::test]
    async fn an_account_without_a_stream_replaces_one_of_the_busiest_account() {
        let streams = Arc::new(LiveStreams::new(2, 4));
        let _single = streams.open(account(1), None).unwrap();
        let mut oldest = streams.open(account(2), None).unwrap();
        let _newer = [(); 2].map(|()| streams.open(account(3), None).unwrap());
        let _pair = streams.open(account(2), None).unwrap();
        assert_eq!(streams.open.lock().len(), 4, "account 3 lost its first stream");
        let _new = streams.open(account(4), None).unwrap();
        assert_eq!(oldest.ended().await, StreamEnd::Yielded);
        assert!(streams.open(account(4), None).is_none(), "no account has more");
    }

    #[tokio::test]
    async fn many_accounts_of_one_network_cannot_keep_out_another() {
        let streams = Arc::new(LiveStreams::new(2, 3));
        let _owner = open(&streams, 1, "192.0.2.1").unwrap();
        let mut attackers =
            [2, 3].map(|byte| open(&streams, byte, &format!("2001:db8:7:{byte}::1")).unwrap());
        let _other = open(&streams, 4, "192.0.2.4").unwrap();
        assert_eq!(attackers[0].ended().await, StreamEnd::Yielded);
        let _last = open(&streams, 5, "192.0.2.5").unwrap();
        assert_eq!(open_accounts(&streams), [account(3), account(4), account(5)]);
    }

    fn open_accounts(streams: &LiveStreams) -> Vec<AccountId> {
        streams.open.lock().iter().map(|stream| stream.account).collect()
    }

    #[tokio::test]
    async fn a_stopping_node_ends_all_streams() {
        let streams = Arc::new(LiveStreams::new(2, 3));
        let mut open = streams.open(account(1), None).unwrap();
        streams.stop();
        assert_eq!(open.ended().await, StreamEnd::NodeStops);
        assert!(streams.open(account(1), None).is_none());
    }
}
