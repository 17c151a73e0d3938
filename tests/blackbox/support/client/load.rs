//! Load that keeps within the limits: a key has 20 requests a minute and 10 messages a second, so there are many keys.

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

use crate::support::{Client, Identity, POLL_EVERY, Receiver, SOON, eventually, text};

/// Senders with a recipient each, and all that was acknowledged to them.
pub(crate) struct Pairs {
    /// Sender and recipient.
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
    /// Of several accounts; every recipient has its notices sent to the receiver.
    pub(crate) fn activate(client: &Client, receiver: &Receiver) -> Self {
        let accounts: Vec<_> = (0..ACCOUNTS).map(|_| client.newcomer()).collect();
        let pairs = (0..PAIRS).map(|number| {
            let sender = client.sibling(&accounts[number % ACCOUNTS]);
            let recipient = client.sibling(&accounts[(number + 1) % ACCOUNTS]);
            client.register(&recipient, &format!("{}/{number}", receiver.url));
            (sender, recipient)
        });
        Self { members: pairs.collect(), turn: AtomicUsize::new(0), acknowledged: Mutex::default() }
    }

    /// Sends from several threads; once `goal` more are acknowledged, `strike` does something to the server, and the
    /// threads go on until the server takes no more.
    pub(crate) fn send_until(&self, client: &Client, goal: usize, strike: impl FnOnce()) {
        let goal = self.count() + goal;
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| self.send_until_away(client, &AtomicBool::new(false)));
            }
            eventually("enough is acknowledged", SOON, || (self.count() >= goal).then_some(()));
            strike();
        });
    }

    /// Sends from several threads while `work` is done, which begins when some are acknowledged.
    pub(crate) fn send_during<T>(&self, client: &Client, work: impl FnOnce() -> T) -> T {
        let (goal, is_done) = (self.count() + THREADS, AtomicBool::new(false));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| self.send_until_away(client, &is_done));
            }
            eventually("some are acknowledged", SOON, || (self.count() >= goal).then_some(()));
            let _over = Raised(&is_done);
            work()
        })
    }

    /// How many pairs there are.
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// How many envelopes were acknowledged.
    pub(crate) fn count(&self) -> usize {
        self.acknowledged.lock().unwrap().len()
    }

    /// The envelopes that are acknowledged by now.
    pub(crate) fn acknowledged(&self) -> Vec<String> {
        self.acknowledged.lock().unwrap().keys().cloned().collect()
    }

    /// Each of these opens, and says what was sent.
    #[track_caller]
    pub(crate) fn check_open(&self, client: &Client, ids: &[String]) {
        let letters = self.acknowledged.lock().unwrap().clone();
        for id in ids {
            let letter = &letters[id];
            let opened = client.open(&self.members[letter.pair].1, id).ok();
            assert_eq!(opened["message"], letter.message);
        }
    }

    /// Every acknowledged envelope opens, and its notice was answered; every envelope that a notice tells of opens, also
    /// where its sender was told nothing. Says how many notices were answered although they had been before.
    #[track_caller]
    pub(crate) fn check(&self, client: &Client, receiver: &Receiver, within: Duration) -> usize {
        let acknowledged = self.acknowledged.lock().unwrap().clone();
        let told = || -> BTreeSet<(String, usize)> {
            let notices = receiver.notices();
            let told = notices.iter().filter(|notice| notice.is_answered).map(|notice| {
                let number = notice.path.rsplit('/').next().unwrap();
                (notice.id(), number.parse().unwrap())
            });
            told.collect()
        };
        let told = eventually("every notice arrives and is answered", within, || {
            let told = told();
            let has = |(id, letter): (&String, &Letter)| told.contains(&(id.clone(), letter.pair));
            acknowledged.iter().all(has).then_some(told)
        });
        for (id, pair) in &told {
            let opened = client.open(&self.members[*pair].1, id).ok();
            if let Some(letter) = acknowledged.get(id) {
                assert_eq!(opened["message"], letter.message);
                assert_eq!(opened["envelope_hash"], letter.hash);
            }
        }
        let answered = receiver.notices().iter().filter(|notice| notice.is_answered).count();
        answered - told.len()
    }

    /// Each thread ends when it is told, or when the server is gone.
    fn send_until_away(&self, client: &Client, is_done: &AtomicBool) {
        let until = Instant::now() + SOON;
        while Instant::now() < until && !is_done.load(Ordering::Relaxed) {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed);
            let pair = turn % self.members.len();
            let (sender, recipient) = &self.members[pair];
            let message = format!("letter {turn}");
            let body = json!({"to": recipient.key, "message": message});
            let answer = client.post("/v1/channel/send").by(sender).json(&body).try_answer();
            let Ok(answer) = answer else { return };
            match answer.status {
                // Refused for a moment, or by one that stops: then the next finds nobody.
                429 | 503 => thread::sleep(POLL_EVERY),
                _ => {
                    let sent = answer.ok();
                    let letter = Letter { pair, hash: text(&sent, "envelope_hash"), message };
                    let id = text(&sent, "envelope_id");
                    self.acknowledged.lock().unwrap().insert(id, letter);
                }
            }
        }
    }
}

/// Ends the load also where what is done meanwhile fails.
struct Raised<'a>(&'a AtomicBool);

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

const ACCOUNTS: usize = 4;
const PAIRS: usize = 40;
const THREADS: usize = 4;
