//! The model of a send. A send has three parts: reading the facts (the state of both keys) and the placement (the shard
//! of the sender), one transaction in one shard, and the response.

use crate::{
    check::Violation,
    order::CommitOrder,
    world::{
        EnvelopeId, Facts, KeyNo, LIMIT, Node, Placement, RequestNo, StoredEnvelope, World, slot_of,
    },
};

/// A send requested by a caller. The number of the request also serves as its idempotency key.
#[derive(Clone, Copy)]
pub(crate) struct Request {
    pub(crate) sender: KeyNo,
    pub(crate) recipient: KeyNo,
    pub(crate) outcome: Option<Outcome>,
}

#[derive(Clone, Copy)]
pub(crate) enum Outcome {
    Stored(EnvelopeId),
    Rejected,
}

/// One attempt at a request on one node. The caller may start another attempt before this one ends.
pub(crate) struct Attempt {
    pub(crate) origin: Origin,
    step: Step,
}

#[derive(Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) request: RequestNo,
    pub(crate) node: usize,
    /// Number of the attempt, unique among all attempts.
    pub(crate) attempt: usize,
}

enum Step {
    Resolve,
    SearchFormer(Basis),
    Decide(Basis),
    Commit(EnvelopeId),
    Reply(Outcome),
}

/// The facts (states of both keys) and the placement (the sender's shard) for a send, read from the caches of the node.
#[derive(Clone)]
struct Basis {
    placement: Placement,
    sender: Facts,
    recipient: Facts,
    /// The envelope that an earlier attempt has stored in a former shard of the slot. `None` if there is no such
    /// envelope.
    known: Option<EnvelopeId>,
}

impl Attempt {
    pub(crate) const fn new(origin: Origin) -> Self {
        Self { origin, step: Step::Resolve }
    }

    /// Runs one step of the attempt. Returns `None` if the attempt has ended, with or without a response to the caller.
    pub(crate) fn step(self, world: &mut World, requests: &mut [Request]) -> Option<Self> {
        let origin = self.origin;
        let request = requests[origin.request];
        let step = match self.step {
            Step::Resolve => Step::SearchFormer(resolve(world, origin.node, request)?),
            Step::SearchFormer(basis) => search_former(world, origin.request, basis)?,
            Step::Decide(basis) if is_locked(world, &basis, request.sender) => Step::Decide(basis),
            Step::Decide(basis) => decide(world, origin, request, &basis)?,
            Step::Commit(id) => commit(world, request.sender, origin.request, id)?,
            Step::Reply(outcome) => {
                if world.random.chance(80) {
                    respond(world, &mut requests[origin.request], outcome);
                }
                return None;
            }
        };
        if world.order == CommitOrder::RepliesBeforeCommit
            && let Step::Commit(id) = step
        {
            respond(world, &mut requests[origin.request], Outcome::Stored(id));
        }
        Some(Self { origin, step })
    }

    /// Ends the attempt because the node crashes. PostgreSQL rolls the transaction back.
    pub(crate) fn crash(self, world: &mut World, requests: &[Request]) {
        if let Step::Commit(id) = self.step {
            let sender = requests[self.origin.request].sender;
            world.shards[id.shard].locked.remove(&sender);
        }
        world.history.crashed_attempts += 1;
    }
}

/// Reads the facts (states) of both keys and the placement of the sender's slot from the caches of the node. Reads
/// missing entries from the directory (the shared database). `None` if an entry is missing and the directory cannot be
/// reached.
fn resolve(world: &mut World, node: usize, request: Request) -> Option<Basis> {
    let Request { sender, recipient, .. } = request;
    let directory = (!world.directory.is_away).then_some(&world.directory);
    let Node { facts, placements, .. } = &mut world.nodes[node];
    for key in [sender, recipient] {
        facts[key] = facts[key].or_else(|| directory.map(|directory| directory.facts[key]));
    }
    let slot = slot_of(sender);
    if placements[slot].is_none() {
        placements[slot] = directory.map(|directory| directory.placements[slot].clone());
    }
    Some(Basis {
        placement: placements[slot].clone()?,
        sender: facts[sender]?,
        recipient: facts[recipient]?,
        known: None,
    })
}

/// Searches the request's idempotency key in the former shards of the slot. A former shard stores no new idempotency
/// keys for this slot, so the search needs no lock.
fn search_former(world: &mut World, request: RequestNo, mut basis: Basis) -> Option<Step> {
    if world.order == CommitOrder::ForgetsFormerShards {
        return Some(Step::Decide(basis));
    }
    for former in basis.placement.former.clone() {
        basis.known = basis.known.or(world.reach(former)?.names.get(&request).copied());
    }
    if basis.known.is_some() {
        world.history.found_in_former += 1;
    }
    Some(Step::Decide(basis))
}

fn is_locked(world: &World, basis: &Basis, sender: KeyNo) -> bool {
    world.shards[basis.placement.shard].locked.contains(&sender)
}

/// First half of the transaction: takes the shared hand-over lock, locks the usage row, and checks the gate (the
/// shard's right to store sends of the slot), the facts and the limit.
fn decide(world: &mut World, origin: Origin, request: Request, basis: &Basis) -> Option<Step> {
    let Request { sender, recipient, .. } = request;
    let Placement { epoch, shard: number, .. } = basis.placement;
    let compares_epochs = world.order != CommitOrder::IgnoresEpochs;
    let shard = world.reach(number)?;
    let gate = shard.gates[slot_of(sender)];
    if !gate.is_open || (gate.epoch != epoch && compares_epochs) {
        world.nodes[origin.node].placements[slot_of(sender)] = None;
        world.history.closed_gates += 1;
        return None;
    }
    for (key, facts) in [(sender, basis.sender), (recipient, basis.recipient)] {
        if facts.version < shard.versions[key] {
            world.nodes[origin.node].facts[key] = None;
            world.history.stale_facts += 1;
            return None;
        }
    }
    if basis.sender.is_revoked {
        return Some(Step::Reply(Outcome::Rejected));
    }
    if let Some(id) = shard.names.get(&origin.request).copied().or(basis.known) {
        world.history.replays += 1;
        return Some(Step::Reply(Outcome::Stored(id)));
    }
    if basis.recipient.is_revoked || shard.used[sender] >= LIMIT {
        return Some(Step::Reply(Outcome::Rejected));
    }
    shard.locked.insert(sender);
    world.history.decide(recipient);
    Some(Step::Commit(EnvelopeId { epoch, shard: number, attempt: origin.attempt }))
}

/// Second half of the transaction: commits the envelope, its idempotency key and the usage together, or nothing.
fn commit(world: &mut World, sender: KeyNo, request: RequestNo, id: EnvelopeId) -> Option<Step> {
    let shard = &mut world.shards[id.shard];
    shard.locked.remove(&sender);
    if shard.is_away {
        return None;
    }
    shard.envelopes.insert(id, StoredEnvelope { request, sender });
    shard.names.insert(request, id);
    shard.used[sender] += 1;
    world.history.commit(sender);
    Some(Step::Reply(Outcome::Stored(id)))
}

/// Records the first response to the caller. Later responses do not change it. Reports a violation if a later response
/// has a different envelope id.
fn respond(world: &mut World, request: &mut Request, outcome: Outcome) {
    if let (Some(Outcome::Stored(first)), Outcome::Stored(second)) = (request.outcome, outcome)
        && first != second
    {
        world.history.report(Violation::TwoResponses);
    }
    request.outcome = request.outcome.or(Some(outcome));
}
