//! Limits the live streams of event logs: their number per account and per node, and one database poll at a time for
//! each account.

use std::{
    collections::{HashMap, VecDeque},
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

/// The open live streams of one account, the oldest first.
#[derive(Default)]
struct AccountStreams {
    open: VecDeque<watch::Sender<bool>>,
    /// Locked during a poll, so that only one stream of the account reads the database at a time.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// An open live stream. When dropped, the stream no longer counts against the limits.
pub(super) struct LiveStream {
    streams: Arc<LiveStreams>,
    account: AccountId,
    turn: Arc<tokio::sync::Mutex<()>>,
    replaced: watch::Receiver<bool>,
    stopping: watch::Receiver<bool>,
}

/// The reason why a stream must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamEnd {
    /// The account opened a newer stream and had reached its limit of streams.
    Replaced,
    /// The server is shutting down.
    NodeStops,
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

    /// Opens a stream. If the account has reached its limit, ends its oldest stream, because the browser of that stream
    /// may have left unnoticed.
    ///
    /// Returns `None` if the node has reached its limit, or is shutting down.
    pub(super) fn open(self: &Arc<Self>, account: AccountId) -> Option<LiveStream> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let on_node: usize = accounts.values().map(|streams| streams.open.len()).sum();
        let of_account = accounts.get(&account).map_or(0, |streams| streams.open.len());
        let is_full = of_account >= self.per_account;
        if !self.is_on() || *self.stopping.borrow() || (on_node >= self.per_node && !is_full) {
            return None;
        }
        let streams = accounts.entry(account).or_default();
        if is_full && let Some(oldest) = streams.open.pop_front() {
            oldest.send_replace(true);
        }
        let (sender, replaced) = watch::channel(false);
        streams.open.push_back(sender);
        let turn = Arc::clone(&streams.turn);
        drop(accounts);
        Some(LiveStream {
            streams: Arc::clone(self),
            account,
            turn,
            replaced,
            stopping: self.stopping.subscribe(),
        })
    }
}

impl LiveStream {
    /// Runs `poll` when no other stream of the account polls. Waits until then.
    pub(super) async fn poll<T>(&self, poll: impl Future<Output = T>) -> T {
        let _turn = self.turn.lock().await;
        poll.await
    }

    /// Completes when the stream must end.
    pub(super) async fn ended(&mut self) -> StreamEnd {
        // An error means that the sender was dropped, which ends the stream too.
        tokio::select! {
            _ = self.replaced.wait_for(|replaced| *replaced) => StreamEnd::Replaced,
            _ = self.stopping.wait_for(|stopping| *stopping) => StreamEnd::NodeStops,
        }
    }
}

impl Drop for LiveStream {
    fn drop(&mut self) {
        let mut accounts = self.streams.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(streams) = accounts.get_mut(&self.account) {
            streams.open.retain(|stream| !self.replaced.same_channel(&stream.subscribe()));
            if streams.open.is_empty() {
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

    #[tokio::test]
    async fn a_further_stream_of_an_account_ends_the_oldest() {
        let streams = Arc::new(LiveStreams::new(2, 3));
        let mut first = streams.open(account(1)).unwrap();
        let second = streams.open(account(1)).unwrap();
        let _other = streams.open(account(2)).unwrap();
        assert!(streams.open(account(3)).is_none(), "the node has reached its limit");
        let third = streams.open(account(1)).unwrap();
        assert_eq!(first.ended().await, StreamEnd::Replaced);
        drop(first);
        assert!(streams.open(account(3)).is_none(), "the place of the ended stream is taken");
        drop(second);
        assert!(streams.open(account(3)).is_some(), "a dropped stream frees its place");
        drop(third);
        assert_eq!(streams.accounts.lock().unwrap().len(), 1, "no account without a stream stays");
    }

    #[tokio::test]
    async fn a_stopping_node_ends_all_streams() {
        let streams = Arc::new(LiveStreams::new(2, 3));
        let mut open = streams.open(account(1)).unwrap();
        streams.stop();
        assert_eq!(open.ended().await, StreamEnd::NodeStops);
        assert!(streams.open(account(1)).is_none());
    }
}
