//! A simulation of sharding by the design in `docs/scaling.md`. Tests the order of commits with sends, revocations of
//! keys, moves of slots (sets of keys) between shards, and a new shard. The faults are crashes between steps, lost
//! responses, retries and stale caches.
//!
//! `SHARDING_SEEDS=1000000 cargo test --release -p sealpost-domain --test sharding`
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints what it has reached"
)]

mod change;
mod check;
mod handover;
mod order;
mod random;
mod run;
mod send;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use self::{check::Violation, order::CommitOrder, run::run};

const SEEDS: u64 = 2_000;

#[test]
fn no_send_is_lost_doubled_or_stored_after_a_revocation() {
    let mut totals: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..seeds() {
        let history = run(seed, CommitOrder::Designed);
        assert!(history.violations.is_empty(), "seed {seed}: {:?}", history.violations);
        for (name, count) in history.counters() {
            *totals.entry(name).or_default() += count;
        }
    }
    println!("{totals:#?}");
    assert!(totals.values().all(|count| *count > 100), "the runs reach too little: {totals:?}");
}

#[test]
fn every_wrong_order_is_found() {
    use CommitOrder as Order;
    use Violation::{DecidedAfterRevocation, Doubled, LimitExceeded, Lost, StoredAfterRevocation};

    check_found(Order::AcknowledgesBeforeShards, &[StoredAfterRevocation, DecidedAfterRevocation]);
    check_found(Order::AppliesOlderVersions, &[StoredAfterRevocation, DecidedAfterRevocation]);
    check_found(Order::IgnoresUsageLock, &[StoredAfterRevocation]);
    check_found(Order::OpensBeforeClose, &[Doubled, LimitExceeded]);
    check_found(Order::IgnoresRunningBatches, &[LimitExceeded]);
    check_found(Order::ForgetsFormerShards, &[Doubled]);
    check_found(Order::IgnoresEpochs, &[Doubled]);
    check_found(Order::JoinsWithoutVersions, &[StoredAfterRevocation, DecidedAfterRevocation]);
    check_found(Order::RepliesBeforeCommit, &[Lost]);
}

/// Fails unless the simulation finds each of these violations with at least one seed.
fn check_found(order: CommitOrder, violations: &[Violation]) {
    let mut missing: BTreeSet<_> = violations.iter().copied().collect();
    for seed in 0..5 * seeds() {
        let found = run(seed, order).violations;
        missing.retain(|violation| !found.contains(violation));
        if missing.is_empty() {
            println!("{order:?}: {violations:?} found within {} seeds", seed + 1);
            return;
        }
    }
    panic!("{order:?}: no seed finds {missing:?}");
}

/// Returns the number of seeds to run: the environment variable `SHARDING_SEEDS`, or [`SEEDS`] if it is not set.
fn seeds() -> u64 {
    let Some(number) = std::env::var_os("SHARDING_SEEDS") else { return SEEDS };
    let number = number.to_str().and_then(|number| number.parse().ok());
    number.expect("SHARDING_SEEDS must be a number")
}
