//! The limits of live streams: their number per account and per node, and one poll at a time for each account.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use sealpost_domain::AccountId;
use tokio::sync::watch;

/// The open live streams of this node.
pub(crate) struct LiveStreams {
    per_account: usize,
    per_node: usize,
    accounts: Mutex<HashMap<AccountId, AccountStreams>>,
    stopping: watch::Sender<bool>,
}

/// The open live streams of one account.
#[derive(Default)]
struct AccountStreams {
    open: usize,
    /// Lets one stream of the account read the database at a time.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// An open live stream. Dropping the value frees its place.
pub(super) struct LiveStream {
    streams: Arc<LiveStreams>,
    account: AccountId,
    turn: Arc<tokio::sync::Mutex<()>>,
    stopping: watch::Receiver<bool>,
}

/// The limit that refuses a further live stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LiveLimit {
    /// The account has its largest number of streams.
    Account,
    /// The node has its largest number of streams, or the node is stopping.
    Node,
}

impl LiveStreams {
    /// Creates the limits. If a limit is 0, no stream can be opened.
    pub(crate) fn new(per_account: usize, per_node: usize) -> Self {
        let (stopping, _) = watch::channel(false);
        Self { per_account, per_node, accounts: Mutex::default(), stopping }
    }

    /// Returns true if the settings allow live streams.
    pub(super) fn is_on(&self) -> bool {
        self.per_account > 0 && self.per_node > 0
    }

    /// Ends all streams and refuses new streams.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Opens a stream, unless a limit is reached.
    pub(super) fn open(self: &Arc<Self>, account: AccountId) -> Result<LiveStream, LiveLimit> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let on_node: usize = accounts.values().map(|streams| streams.open).sum();
        let of_account = accounts.get(&account).map_or(0, |streams| streams.open);
        if *self.stopping.borrow() || on_node >= self.per_node {
            return Err(LiveLimit::Node);
        }
        if of_account >= self.per_account {
            return Err(LiveLimit::Account);
        }
        let streams = accounts.entry(account).or_default();
        streams.open += 1;
        let turn = Arc::clone(&streams.turn);
        drop(accounts);
        Ok(LiveStream {
            streams: Arc::clone(self),
            account,
            turn,
            stopping: self.stopping.subscribe(),
        })
    }
}

impl LiveStream {
    /// Runs a poll while no other stream of the account polls.
    pub(super) async fn poll<T>(&self, poll: impl Future<Output = T>) -> T {
        let _turn = self.turn.lock().await;
        poll.await
    }

    /// Completes when the node stops.
    pub(super) async fn stopped(&mut self) {
        // An error means that the sender was dropped, so the node has stopped too.
        drop(self.stopping.wait_for(|stopping| *stopping).await);
    }
}

impl Drop for LiveStream {
    fn drop(&mut self) {
        let mut accounts = self.streams.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(streams) = accounts.get_mut(&self.account) {
            streams.open -= 1;
            if streams.open == 0 {
                accounts.remove(&self.account);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use sealpost_domain::Timestamp;

    use super::*;

    fn account(byte: u8) -> AccountId {
        AccountId::new(Timestamp::from_millis(0), [byte; 10])
    }

    #[test]
    fn streams_are_limited_per_account_and_per_node() {
        let streams = Arc::new(LiveStreams::new(2, 3));
        let first = streams.open(account(1)).ok().unwrap();
        let _second = streams.open(account(1)).ok().unwrap();
        assert_eq!(streams.open(account(1)).err(), Some(LiveLimit::Account));
        let _other = streams.open(account(2)).ok().unwrap();
        assert_eq!(streams.open(account(3)).err(), Some(LiveLimit::Node));
        drop(first);
        assert!(streams.open(account(3)).is_ok());
        assert!(streams.open(account(1)).is_ok(), "a dropped stream frees its place");
        assert_eq!(streams.accounts.lock().unwrap().len(), 2, "no account without a stream stays");
    }

    #[test]
    fn a_stopping_node_opens_no_stream() {
        let streams = Arc::new(LiveStreams::new(2, 3));
        streams.stop();
        assert_eq!(streams.open(account(1)).err(), Some(LiveLimit::Node));
    }
}
