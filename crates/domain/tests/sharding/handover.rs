//! A hand-over moves a slot (a set of keys) to another shard. The old shard stops accepting sends, the usage counters
//! are copied, the new shard starts accepting sends, and the directory publishes the new placement. Envelopes and
//! idempotency keys stay in the old shard.

use crate::{
    order::CommitOrder,
    world::{Gate, KEYS, KeyNo, Membership, ShardNo, SlotNo, World, slot_of},
};

/// The work of one node on a hand-over. Several nodes may work on the same hand-over at the same time.
pub(crate) struct HandoverWorker {
    slot: SlotNo,
    from: ShardNo,
    to: ShardNo,
    /// Epoch (version number) of the slot's old placement. The new placement has the next epoch.
    epoch: usize,
    step: Step,
}

enum Step {
    Close,
    ReadUsage,
    Open(Vec<(KeyNo, usize)>),
    Publish,
}

/// Stores in the directory the intent to move the slot to the shard `to`. Does nothing if this move is not possible
/// now.
pub(crate) fn begin(world: &mut World, slot: SlotNo, to: ShardNo) {
    let directory = &mut world.directory;
    let placement = &mut directory.placements[slot];
    let may_move = placement.next.is_none() && placement.shard != to;
    if may_move && !directory.is_away && directory.members[to] == Membership::Open {
        placement.next = Some(to);
    }
}

impl HandoverWorker {
    /// Creates a worker for the hand-over that is stored in the directory, also after a crash. `None` if no hand-over
    /// of the slot is stored, or if the directory cannot be reached.
    pub(crate) fn resume(world: &World, slot: SlotNo) -> Option<Self> {
        let placement = &world.directory.placements[slot];
        let to = placement.next.filter(|_| !world.directory.is_away)?;
        let step = if world.order == CommitOrder::OpensBeforeClose {
            Step::ReadUsage
        } else {
            Step::Close
        };
        Some(Self { slot, from: placement.shard, to, epoch: placement.epoch, step })
    }

    /// Runs one step. Returns `None` if no step is left, because this worker or another one has finished the hand-over.
    pub(crate) fn step(mut self, world: &mut World) -> Option<Self> {
        let order = world.order;
        let slot = self.slot;
        self.step = match self.step {
            Step::Close => {
                let Some(shard) = world.reach(self.from) else { return Some(self) };
                if !shard.locked.is_empty() && order != CommitOrder::IgnoresRunningBatches {
                    world.history.waits_for_batch += 1;
                    return Some(self);
                }
                let gate = &mut shard.gates[slot];
                if gate.epoch != self.epoch {
                    return None;
                }
                gate.is_open = false;
                if order == CommitOrder::OpensBeforeClose {
                    return None;
                }
                Step::ReadUsage
            }
            Step::ReadUsage => {
                let Some(shard) = world.reach(self.from) else { return Some(self) };
                if shard.gates[slot].epoch != self.epoch {
                    return None;
                }
                let keys = (0..KEYS).filter(|key| slot_of(*key) == slot);
                Step::Open(keys.map(|key| (key, shard.used[key])).collect())
            }
            Step::Open(ref used) => {
                let Some(shard) = world.reach(self.to) else { return Some(self) };
                if shard.gates[slot].epoch <= self.epoch {
                    for (key, used) in used {
                        shard.used[*key] = *used;
                    }
                    shard.gates[slot] = Gate { epoch: self.epoch + 1, is_open: true };
                }
                Step::Publish
            }
            Step::Publish => {
                if world.directory.is_away {
                    return Some(self);
                }
                self.publish(world);
                if order != CommitOrder::OpensBeforeClose {
                    return None;
                }
                Step::Close
            }
        };
        Some(self)
    }

    /// Publishes the new placement of the slot in the directory, unless another worker has published it.
    fn publish(&self, world: &mut World) {
        let placement = &mut world.directory.placements[self.slot];
        if placement.epoch == self.epoch {
            placement.epoch += 1;
            placement.shard = self.to;
            placement.former.insert(self.from);
            placement.former.remove(&self.to);
            placement.next = None;
            world.history.handovers += 1;
        }
    }
}
