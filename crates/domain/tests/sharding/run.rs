//! Runs a simulation: random interleavings of the steps of all nodes and callers. The first part of a run injects
//! faults, the second part does not.

use crate::{
    change::{self, JoinStep, VersionPush},
    check::{History, Violation, check_end},
    handover::{self, HandoverWorker},
    order::CommitOrder,
    send::{Attempt, Origin, Request},
    world::{KEYS, NODES, Node, SHARDS, SLOTS, World},
};

const REQUESTS: usize = 12;
const TICKS_WITH_FAULTS: usize = 600;
const TICKS_MAX: usize = 20_000;
const NEW_SHARD: usize = SHARDS - 1;

/// Runs the simulation with one seed. Returns the violations and the counters of the run.
pub(crate) fn run(seed: u64, order: CommitOrder) -> History {
    let mut run = Run::new(seed, order);
    for _ in 0..TICKS_WITH_FAULTS {
        run.fault();
        run.act();
    }
    run.heal();
    let is_done = (0..TICKS_MAX).any(|_| {
        run.act();
        run.is_done()
    });
    if !is_done {
        run.world.history.report(Violation::Stuck);
    }
    check_end(&mut run.world, &run.requests);
    run.world.history
}

struct Run {
    world: World,
    requests: Vec<Request>,
    attempts: Vec<Attempt>,
    attempts_begun: usize,
    /// Changes that a shard has stored, but the directory has not recorded as confirmed.
    confirmations: Vec<VersionPush>,
    /// Delayed duplicates of messages to shards.
    late: Vec<VersionPush>,
    workers: Vec<HandoverWorker>,
    join: JoinStep,
    has_faults: bool,
}

impl Run {
    fn new(seed: u64, order: CommitOrder) -> Self {
        let mut world = World::new(seed, order);
        let requests = (0..REQUESTS).map(|_| Request {
            sender: world.random.below(KEYS),
            recipient: world.random.below(KEYS),
            outcome: None,
        });
        Self {
            requests: requests.collect(),
            world,
            attempts: Vec::new(),
            attempts_begun: 0,
            confirmations: Vec::new(),
            late: Vec::new(),
            workers: Vec::new(),
            join: JoinStep::Announce,
            has_faults: true,
        }
    }

    /// Runs one step of one node or caller, chosen at random.
    fn act(&mut self) {
        let world = &mut self.world;
        match world.random.below(100) {
            0..40 => self.step_attempt(),
            40..50 => self.begin_attempt(),
            50..58 => self.push_version(),
            58..66 => self.confirm_version(),
            66..86 => self.step_handover(),
            86..90 => self.join = self.join.step(world, NEW_SHARD),
            90..96 if self.has_faults => {
                let (slot, to) = (world.random.below(SLOTS), world.random.below(SHARDS));
                handover::begin(world, slot, to);
            }
            96..98 if self.has_faults => {
                let (key, percent) = (world.random.below(KEYS), world.random.below(100));
                change::begin(world, key, percent < 40);
            }
            _ => self.deliver_late(),
        }
    }

    /// Injects at most one random fault, such as a crash of a node, a lost confirmation, a pause of a node or an outage
    /// of a database. Also ends such pauses and outages.
    fn fault(&mut self) {
        let world = &mut self.world;
        match world.random.below(200) {
            0..2 => {
                let node = world.random.below(NODES);
                self.crash(node);
            }
            2..4 => world.directory.is_away = !world.directory.is_away,
            4..7 => {
                let shard = world.random.below(SHARDS);
                world.shards[shard].is_away = !world.shards[shard].is_away;
            }
            7..10 => self.confirmations.clear(),
            10..13 => self.workers.clear(),
            13..15 => self.join = self.join.after_crash(),
            15..21 => {
                let node = world.random.below(NODES);
                world.nodes[node].is_stalled = !world.nodes[node].is_stalled;
            }
            _ => {}
        }
    }

    /// Clears the caches of the node, and ends its running attempts.
    fn crash(&mut self, node: usize) {
        self.world.nodes[node] = Node::empty();
        let (crashed, running) =
            std::mem::take(&mut self.attempts).into_iter().partition(|it| it.origin.node == node);
        self.attempts = running;
        for attempt in crashed {
            Attempt::crash(attempt, &mut self.world, &self.requests);
        }
    }

    fn heal(&mut self) {
        self.has_faults = false;
        self.world.directory.is_away = false;
        self.world.shards.iter_mut().for_each(|shard| shard.is_away = false);
        self.world.nodes.iter_mut().for_each(|node| node.is_stalled = false);
    }

    fn is_done(&self) -> bool {
        self.attempts.is_empty()
            && self.requests.iter().all(|request| request.outcome.is_some())
            && self.world.directory.changes.iter().all(|change| change.unconfirmed.is_empty())
            && self.world.directory.placements.iter().all(|placement| placement.next.is_none())
            && matches!(self.join, JoinStep::Done)
    }

    fn step_attempt(&mut self) {
        if self.attempts.is_empty() {
            return;
        }
        let chosen = self.world.random.below(self.attempts.len());
        if self.world.nodes[self.attempts[chosen].origin.node].is_stalled {
            return;
        }
        let attempt = self.attempts.swap_remove(chosen);
        self.attempts.extend(attempt.step(&mut self.world, &mut self.requests));
    }

    /// Starts an attempt at a random request that has no response yet, even if an earlier attempt still runs. With
    /// faults, sometimes repeats a request that already has a response.
    fn begin_attempt(&mut self) {
        let request = self.world.random.below(REQUESTS);
        let running = self.attempts.iter().filter(|it| it.origin.request == request).count();
        let repeats = self.has_faults && self.world.random.chance(20);
        if (repeats || self.requests[request].outcome.is_none()) && running < 3 {
            let node = self.world.random.below(NODES);
            let origin = Origin { request, node, attempt: self.attempts_begun };
            self.attempts.push(Attempt::new(origin));
            self.attempts_begun += 1;
        }
    }

    fn push_version(&mut self) {
        let Some(push) = change::unconfirmed(&mut self.world) else { return };
        if self.has_faults && self.world.random.chance(20) {
            self.late.push(push);
        }
        if change::apply(&mut self.world, push) {
            self.confirmations.push(push);
        }
    }

    fn confirm_version(&mut self) {
        if let Some(push) = self.confirmations.pop()
            && !change::confirm(&mut self.world, push)
        {
            self.confirmations.push(push);
        }
    }

    fn deliver_late(&mut self) {
        if let Some(push) = self.late.pop() {
            change::apply(&mut self.world, push);
        }
    }

    fn step_handover(&mut self) {
        let slot = self.world.random.below(SLOTS);
        if self.workers.len() < 3 {
            self.workers.extend(HandoverWorker::resume(&self.world, slot));
        }
        if !self.workers.is_empty() {
            let chosen = self.world.random.below(self.workers.len());
            let worker = self.workers.swap_remove(chosen);
            self.workers.extend(worker.step(&mut self.world));
        }
    }
}
