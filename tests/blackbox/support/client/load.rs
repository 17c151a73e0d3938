//! Load generator. Spreads sends over many API keys, because each key is limited to 20 requests per minute and 10
//! messages per second.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::support::{Client, Identity, POLL_EVERY, Receiver, SOON, eventually, text, wait_until};

/// Pairs of a sender and a recipient, and all envelopes that the server acknowledged.
pub(crate) struct Pairs {
    members: Vec<(Identity, Identity)>,
    turn: AtomicUsize,
    acknowledged: Mutex<BTreeMap<String, Letter>>,
}

#[derive(Clone)]
struct Letter {
    pair: usize,
    hash: String,
    message: String,
}

impl Pairs {
    /// Creates the pairs in several accounts, and registers the receiver as a webhook of each recipient.
    pub(crate) fn activate(client: &Client, receiver: &Receiver) -> Self {
        let accounts: Vec<_> = (0..ACCOUNTS).map(|_| client.new_identity()).collect();
        let pairs = (0..PAIRS).map(|number| {
            let sender = client.sibling(&accounts[number % ACCOUNTS]);
            let recipient = client.sibling(&accounts[(number + 1) % ACCOUNTS]);
            client.register(&recipient, &format!("{}/{number}", receiver.url));
            (sender, recipient)
        });
        Self { members: pairs.collect(), turn: AtomicUsize::new(0), acknowledged: Mutex::default() }
    }

    /// Sends from several threads. Calls `strike` after `goal` more acknowledgements, for example to kill the server.
    /// The threads stop when the server accepts no more connections.
    pub(crate) fn send_until(&self, client: &Client, goal: usize, strike: impl FnOnce()) {
        let goal = self.count() + goal;
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| self.send_until_away(client, &AtomicBool::new(false)));
            }
            wait_until("enough envelopes are acknowledged", || self.count() >= goal);
            strike();
        });
    }

    /// Sends from several threads while `work` runs. Starts `work` after some acknowledgements.
    pub(crate) fn send_during<T>(&self, client: &Client, work: impl FnOnce() -> T) -> T {
        let (goal, is_done) = (self.count() + THREADS, AtomicBool::new(false));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| self.send_until_away(client, &is_done));
            }
            wait_until("some envelopes are acknowledged", || self.count() >= goal);
            let _over = Raised(&is_done);
            work()
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns the number of acknowledged envelopes.
    pub(crate) fn count(&self) -> usize {
        self.acknowledged.lock().unwrap().len()
    }

    /// Returns the ids of the envelopes acknowledged so far.
    pub(crate) fn acknowledged(&self) -> Vec<String> {
        self.acknowledged.lock().unwrap().keys().cloned().collect()
    }

    /// Checks that each of these envelopes can be opened and contains the sent message.
    #[track_caller]
    pub(crate) fn check_open(&self, client: &Client, ids: &[String]) {
        let letters = self.acknowledged.lock().unwrap().clone();
        for id in ids {
            let letter = &letters[id];
            let opened = client.open(&self.members[letter.pair].1, id).ok();
            assert_eq!(opened["message"], letter.message);
        }
    }

    /// Checks that every acknowledged envelope can be opened and was delivered. A delivered envelope without
    /// acknowledgement must open too, because the response to its sender may have been lost. Returns the number of
    /// duplicate deliveries.
    #[track_caller]
    pub(crate) fn check(&self, client: &Client, receiver: &Receiver, within: Duration) -> usize {
        let acknowledged = self.acknowledged.lock().unwrap().clone();
        let delivered = || -> BTreeSet<(String, usize)> {
            let requests = receiver.requests();
            let delivered = requests.iter().filter(|request| request.has_response).map(|request| {
                let number = request.path.rsplit('/').next().unwrap();
                (request.id(), number.parse().unwrap())
            });
            delivered.collect()
        };
        let delivered = eventually("every envelope is delivered", within, || {
            let delivered = delivered();
            let has =
                |(id, letter): (&String, &Letter)| delivered.contains(&(id.clone(), letter.pair));
            acknowledged.iter().all(has).then_some(delivered)
        });
        for (id, pair) in &delivered {
            let opened = client.open(&self.members[*pair].1, id).ok();
            if let Some(letter) = acknowledged.get(id) {
                assert_eq!(opened["message"], letter.message);
                assert_eq!(opened["envelope_hash"], letter.hash);
            }
        }
        let answered = receiver.requests().iter().filter(|request| request.has_response).count();
        answered - delivered.len()
    }

    /// Sends until `is_done` is set, or until the server refuses connections.
    fn send_until_away(&self, client: &Client, is_done: &AtomicBool) {
        let until = Instant::now() + SOON;
        while Instant::now() < until && !is_done.load(Ordering::Relaxed) {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed);
            let pair = turn % self.members.len();
            let (sender, recipient) = &self.members[pair];
            let message = format!("letter {turn}");
            let body = json!({"to": recipient.key, "message": message});
            let response = client.post("/v1/channel/send").by(sender).json(&body).try_response();
            let Ok(response) = response else { return };
            match response.status {
                // The server is overloaded for a moment, or is stopping. If the server is stopping, the next connection
                // fails.
                429 | 503 => thread::sleep(POLL_EVERY),
                _ => {
                    let sent = response.ok();
                    let letter = Letter { pair, hash: text(&sent, "envelope_hash"), message };
                    let id = text(&sent, "envelope_id");
                    self.acknowledged.lock().unwrap().insert(id, letter);
                }
            }
        }
    }
}

/// Sets the flag when dropped, so the load ends even if the work panics.
struct Raised<'a>(&'a AtomicBool);

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

const ACCOUNTS: usize = 4;
const PAIRS: usize = 40;
const THREADS: usize = 4;
