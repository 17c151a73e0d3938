//! Changes webhooks in random sequences of sends, updates, pauses, failures and crashes, over all nodes. No event may be
//! lost. No attempt may start more than two seconds after its URL was replaced, or its webhook was paused.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::support::{Database, Identity, Reaction, Receiver, Server, eventually, on_both, text};

on_both!(no_event_is_lost_and_none_goes_to_a_replaced_url);

fn no_event_is_lost_and_none_goes_to_a_replaced_url(database: &Database) {
    let mut run = Run::start(database, Random(SEED));
    for _ in 0..STEPS {
        run.step();
    }
    run.finish();
}

/// The reaction of a receiver to its next requests.
#[derive(Debug, Clone, Copy)]
enum Mood {
    Closes,
    Fails,
    Slow,
    Works,
}

/// A receiver, and whether each of its requests succeeded.
struct Target {
    receiver: Receiver,
    mood: Arc<Mutex<Mood>>,
    succeeded: Arc<Mutex<Vec<bool>>>,
}

impl Target {
    fn start() -> Self {
        let mood = Arc::new(Mutex::new(Mood::Works));
        let succeeded = Arc::new(Mutex::new(Vec::new()));
        let (shared_mood, log) = (Arc::clone(&mood), Arc::clone(&succeeded));
        let receiver = Receiver::reacting(move |nth| {
            let mood = *shared_mood.lock().unwrap();
            let mut log = log.lock().unwrap();
            let length = log.len().max(nth + 1);
            log.resize(length, false);
            log[nth] = matches!(mood, Mood::Works | Mood::Slow);
            drop(log);
            match mood {
                Mood::Closes => Reaction::Close,
                Mood::Fails => Reaction::Status(500),
                Mood::Slow => {
                    thread::sleep(Duration::from_millis(150));
                    Reaction::Status(204)
                }
                Mood::Works => Reaction::Status(204),
            }
        });
        Self { receiver, mood, succeeded }
    }

    /// Returns the ids of the events that arrived and were accepted.
    fn accepted(&self) -> Vec<String> {
        let requests = self.receiver.requests();
        let succeeded = self.succeeded.lock().unwrap();
        let accepted = requests.iter().zip(succeeded.iter()).filter(|(_, ok)| **ok);
        accepted.map(|(request, _)| request.id()).collect()
    }
}

/// A state of the webhook, from the start of the request that set it to the response that replaced it.
#[derive(Debug, Clone, Copy)]
struct Period {
    from: Instant,
    until: Option<Instant>,
}

impl Period {
    /// Whether the period overlaps the two seconds before `at`.
    fn allows(&self, at: Instant) -> bool {
        self.from <= at && self.until.is_none_or(|until| at <= until + BOUND)
    }
}

struct Run<'a> {
    database: &'a Database,
    random: Random,
    nodes: Vec<Server>,
    sender: Identity,
    recipient: Identity,
    webhook_id: String,
    targets: Vec<Target>,
    /// The periods in which each target was the URL of the webhook.
    current: Vec<Vec<Period>>,
    present: usize,
    /// The periods in which the webhook was not paused.
    active: Vec<Period>,
    is_paused: bool,
    sent: Vec<String>,
}

impl<'a> Run<'a> {
    fn start(database: &'a Database, random: Random) -> Self {
        let nodes = database.serve_on_every_node_with(FLAGS);
        let client = nodes[0].client();
        let (sender, recipient) = database.busy_pair(client);
        let targets: Vec<_> = (0..3).map(|_| Target::start()).collect();
        let from = Instant::now();
        let registered = client.register(&recipient, &targets[0].receiver.url);
        let webhook_id = text(&registered, "webhook_id");
        let first = Period { from, until: None };
        let current = vec![vec![first], Vec::new(), Vec::new()];
        Self {
            database,
            random,
            nodes,
            sender,
            recipient,
            webhook_id,
            targets,
            current,
            present: 0,
            active: vec![first],
            is_paused: false,
            sent: Vec::new(),
        }
    }

    fn step(&mut self) {
        let node = self.random.below(self.nodes.len());
        match self.random.below(16) {
            0..=5 => self.send(node),
            6..=8 => self.update(node),
            9 | 10 => self.pause(node, !self.is_paused),
            11 if self.random.below(4) == 0 => self.crash(node),
            11..=14 => self.change_mood(),
            _ => thread::sleep(BOUND + Duration::from_millis(500)),
        }
        thread::sleep(Duration::from_millis(self.random.below(120).try_into().unwrap()));
    }

    fn send(&mut self, node: usize) {
        for _ in 0..=self.random.below(20) {
            let sent = self.nodes[node].send(&self.sender, &self.recipient.key, "x");
            self.sent.push(text(&sent.ok(), "envelope_id"));
        }
    }

    fn update(&mut self, node: usize) {
        let next = (self.present + 1 + self.random.below(2)) % self.targets.len();
        let from = Instant::now();
        self.change(node, "url", &json!(self.targets[next].receiver.url));
        self.current[self.present].last_mut().unwrap().until = Some(Instant::now());
        self.current[next].push(Period { from, until: None });
        self.present = next;
    }

    fn pause(&mut self, node: usize, is_paused: bool) {
        let from = Instant::now();
        self.change(node, "paused", &json!(is_paused));
        if is_paused {
            self.active.last_mut().unwrap().until = Some(Instant::now());
        } else {
            self.active.push(Period { from, until: None });
        }
        self.is_paused = is_paused;
    }

    fn change(&self, node: usize, name: &str, value: &serde_json::Value) {
        let body = json!({"webhook_id": self.webhook_id, name: value});
        self.nodes[node].act(&self.recipient, "/v1/webhooks/update", &body).ok();
    }

    fn change_mood(&mut self) {
        let moods = [Mood::Closes, Mood::Fails, Mood::Slow, Mood::Works];
        let target = self.random.below(self.targets.len());
        *self.targets[target].mood.lock().unwrap() = moods[self.random.below(moods.len())];
    }

    fn crash(&mut self, node: usize) {
        self.nodes.remove(node).kill();
        self.nodes.push(self.database.serve_with(FLAGS));
    }

    /// Lets everything work again, waits until all events have arrived, and checks the times of all requests.
    fn finish(&mut self) {
        for target in &self.targets {
            *target.mood.lock().unwrap() = Mood::Works;
        }
        if self.is_paused {
            self.pause(0, false);
        }
        eventually("all events arrive", Duration::from_secs(40), || {
            let accepted: BTreeSet<_> = self.targets.iter().flat_map(Target::accepted).collect();
            self.sent.iter().all(|id| accepted.contains(id)).then_some(())
        });
        for (target, current) in self.targets.iter().zip(&self.current) {
            for request in target.receiver.requests() {
                let is_in = |periods: &[Period]| periods.iter().any(|it| it.allows(request.at));
                assert!(is_in(current), "an attempt at a replaced URL, with the seed {SEED}");
                assert!(is_in(&self.active), "an attempt while paused, with the seed {SEED}");
            }
        }
    }
}

/// A deterministic generator: `SplitMix64`.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(bound).unwrap()).unwrap()
    }
}

const SEED: u64 = 37;
const STEPS: usize = 60;
/// Time after which a change holds on every node.
const BOUND: Duration = Duration::from_secs(2);
/// Short leases, so that another node soon takes over the deliveries of a crashed node. More retries than a run needs.
const FLAGS: &[&str] = &[
    "--webhook-timeout=2s",
    "--webhook-lease=12s",
    "--webhook-retry-schedule=300ms,300ms,300ms,300ms,300ms,300ms,300ms,300ms,300ms,300ms,2s,2s,2s,2s,2s,\
2s,2s,2s,2s,2s,2s,2s,2s,2s,2s,2s,2s,2s,2s,2s,2s,2s",
];
