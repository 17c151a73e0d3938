//! The decision on a batch of sends: pure, on facts that the transaction holds locked. Each command gets its own
//! verdict; what was decided for one counts for the next.

use std::{collections::BTreeSet, sync::Arc};

use sealpost_domain::{
    ApiKeyId, Code, Envelope, Handle, KeyStatus, LeaseToken, LeasedDelivery, Refusal, Timestamp,
    Usage,
    ports::{Changes, Facts, Wanted},
};
use sealpost_limits::{Terms, admit_message};

use crate::{
    admission::{Act, admit},
    credentials::Caller,
};

/// One request of a batch.
pub(crate) struct Command {
    pub(crate) caller: Caller,
    /// What to store; `None` where the request is only to be admitted and counted.
    pub(crate) outgoing: Option<Outgoing>,
}

/// A sealed envelope on its way into the store.
pub(crate) struct Outgoing {
    pub(crate) envelope: Arc<Envelope>,
    /// The handle that was resolved, where the caller named one.
    pub(crate) handle: Option<Handle>,
    /// The version of the recipient's key that it is sealed to.
    pub(crate) sealing_version: u32,
}

/// What became of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Admitted and counted, nothing to store.
    Admitted,
    /// Refused; nothing of it is stored.
    Refused(Refusal),
    /// The recipient is not what the sender remembered: look it up and seal again. Not counted.
    Stale,
    /// Stored, with its deliveries.
    Stored,
}

/// How this node holds the deliveries of the batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hold {
    pub(crate) room: usize,
    pub(crate) lease: LeaseToken,
    pub(crate) lease_until: Timestamp,
}

/// What the batch asks the store about.
pub(crate) fn wanted(commands: &[&Command]) -> Wanted {
    let (mut sessions, mut callers, mut recipients) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for command in commands {
        sessions.insert(command.caller.session);
        callers.insert(command.caller.key);
        recipients.extend(command.outgoing.as_ref().map(|out| out.envelope.meta.recipient));
    }
    Wanted {
        sessions: sessions.into_iter().collect(),
        callers: callers.into_iter().collect(),
        recipients: recipients.into_iter().collect(),
    }
}

/// Decides the batch in its order.
pub(crate) fn decide(
    mut facts: Facts,
    commands: &[&Command],
    now: Timestamp,
    hold: Hold,
) -> (Vec<Verdict>, Changes) {
    let mut changes = Changes::default();
    let mut touched = BTreeSet::new();
    let mut verdicts = Vec::new();
    for command in commands {
        let before = facts.usage.get(&command.caller.key).copied();
        let verdict = match verdict(&mut facts, command, now) {
            Ok(None) => Verdict::Admitted,
            Ok(Some(outgoing)) => {
                store(&mut changes, &facts, outgoing, hold);
                Verdict::Stored
            }
            Err(setback) => {
                if setback.counts_for_nothing() {
                    facts.usage.insert(command.caller.key, before.unwrap_or(Usage::UNUSED));
                }
                setback.into()
            }
        };
        touched.insert(command.caller.key);
        verdicts.push(verdict);
    }
    changes.usage = counted(&facts, touched);
    (verdicts, changes)
}

enum Setback {
    Refused(Refusal),
    Stale,
}

impl Setback {
    /// What a limit refused does not count against another one; what is tried again counts then.
    fn counts_for_nothing(&self) -> bool {
        match self {
            Self::Refused(refusal) => {
                matches!(refusal.code(), Code::RateLimitExceeded | Code::MonthlyLimitExceeded)
            }
            Self::Stale => true,
        }
    }
}

impl From<Setback> for Verdict {
    fn from(setback: Setback) -> Self {
        match setback {
            Setback::Refused(refusal) => Self::Refused(refusal),
            Setback::Stale => Self::Stale,
        }
    }
}

impl From<Refusal> for Setback {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

fn verdict<'c>(
    facts: &mut Facts,
    command: &'c Command,
    now: Timestamp,
) -> Result<Option<&'c Outgoing>, Setback> {
    admit(facts, &command.caller, Act::Execute, now)?;
    let Some(outgoing) = &command.outgoing else { return Ok(None) };
    check_recipient(facts, outgoing)?;
    let sender = facts.keys.get(&command.caller.key);
    let terms = sender.map(|key| Terms::of(&key.plan)).ok_or(Setback::Stale)?;
    let usage = facts.usage.entry(command.caller.key).or_insert(Usage::UNUSED);
    admit_message(&terms, usage, now)?;
    Ok(Some(outgoing))
}

fn check_recipient(facts: &Facts, outgoing: &Outgoing) -> Result<(), Setback> {
    let field = Some("to");
    let recipient = &outgoing.envelope.meta.recipient;
    let key = facts.keys.get(recipient).ok_or(Refusal::KeyNotFound { field })?;
    if outgoing.handle.is_some() && outgoing.handle != key.handle {
        return Err(Setback::Stale);
    }
    if key.status != KeyStatus::Active {
        return Err(Refusal::KeyInactive { status: key.status, field }.into());
    }
    if key.standing.is_blocked() {
        return Err(Refusal::GovernanceBlocked { field }.into());
    }
    if outgoing.sealing_version != key.sealing_version {
        return Err(Setback::Stale);
    }
    Ok(())
}

fn store(changes: &mut Changes, facts: &Facts, outgoing: &Outgoing, hold: Hold) {
    let envelope = &outgoing.envelope;
    let meta = Arc::new(envelope.meta.clone());
    for target in facts.targets.get(&envelope.meta.recipient).into_iter().flatten() {
        let delivery = LeasedDelivery {
            meta: Arc::clone(&meta),
            target: Arc::clone(target),
            attempts: 0,
            lease: hold.lease,
            lease_until: hold.lease_until,
        };
        if changes.leased.len() < hold.room {
            changes.leased.push(delivery);
        } else {
            changes.unleased.push(delivery);
        }
    }
    changes.envelopes.push(Arc::clone(envelope));
}

fn counted(facts: &Facts, callers: BTreeSet<ApiKeyId>) -> Vec<(ApiKeyId, Usage)> {
    let known = callers.into_iter().filter(|key| facts.keys.contains_key(key));
    known.filter_map(|key| facts.usage.get(&key).map(|usage| (key, *usage))).collect()
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
