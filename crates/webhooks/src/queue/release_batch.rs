//! Groups leased deliveries with similar due times into batches, to release them together. One SQL statement ends the
//! leases of a whole batch and sets the same due time for all its deliveries. Therefore the release of a thousand
//! deliveries takes only a few transactions.

use std::time::Duration;

use sealpost_domain::{DeliveryId, LeaseToken, LeasedDelivery, Timestamp};

use crate::circuit_breaker::deferral::Deferral;

/// The id and the lease token of a leased delivery.
pub(crate) type HeldDelivery = (DeliveryId, LeaseToken);

/// Leased deliveries that one SQL statement returns to the database, all with the same due time.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReleaseBatch {
    pub(crate) held: Vec<HeldDelivery>,
    pub(crate) due_at: Timestamp,
}

/// Groups deliveries into batches of at most [`RELEASE_BATCH_MAX`], with due times that differ by less than `window`.
/// All deliveries of a batch get the latest of their due times, so none is due too early. `jitter` returns random
/// numbers, which spread the due times.
pub(crate) fn batch_releases(
    deferred: Vec<(LeasedDelivery, Deferral)>,
    window: Duration,
    jitter: impl Fn() -> u32,
) -> Vec<ReleaseBatch> {
    let due = |(delivery, deferral): (LeasedDelivery, Deferral)| {
        (deferral.due_at(jitter()), (delivery.id(), delivery.lease))
    };
    let mut rows: Vec<(Timestamp, HeldDelivery)> = deferred.into_iter().map(due).collect();
    rows.sort_unstable_by_key(|(due_at, _)| *due_at);
    let mut batches: Vec<ReleaseBatch> = Vec::new();
    let mut first_due = None;
    for (due_at, held) in rows {
        match (batches.last_mut(), first_due) {
            (Some(last), Some(first))
                if last.held.len() < RELEASE_BATCH_MAX && due_at.since(first) < window =>
            {
                last.held.push(held);
                last.due_at = due_at;
            }
            _ => {
                first_due = Some(due_at);
                batches.push(ReleaseBatch { held: vec![held], due_at });
            }
        }
    }
    batches
}

/// Maximum number of deliveries that one SQL statement returns to the database or makes due earlier.
pub(crate) const RELEASE_BATCH_MAX: usize = 512;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::tests::memory_outbox::{NOW, delivery};

    #[test]
    fn many_deliveries_are_released_in_few_batches_and_none_is_due_early() {
        let deferral = Deferral { from: NOW, spread: Duration::from_secs(30) };
        let deferred: Vec<_> = (0..3000).map(|number| (delivery(1, number), deferral)).collect();
        let (drawn, steps) = (Cell::new(0_u32), Cell::new(Vec::new()));
        let jitter = || {
            drawn.set(drawn.get().wrapping_add(0x9e37_79b9));
            let mut so_far = steps.take();
            so_far.push(deferral.due_at(drawn.get()));
            steps.set(so_far);
            drawn.get()
        };
        let releases = batch_releases(deferred.clone(), Duration::from_secs(5), jitter);
        assert!(releases.len() <= 12, "{}", releases.len());
        let wanted = steps.take();
        for (index, (delivery, _)) in deferred.iter().enumerate() {
            let held = (delivery.id(), delivery.lease);
            let due = releases.iter().find(|release| release.held.contains(&held)).unwrap().due_at;
            let late = due.since(wanted[index]);
            assert!(due >= wanted[index] && late <= Duration::from_secs(5), "{late:?}");
        }
    }

    #[test]
    fn different_due_times_give_different_batches() {
        let deferral = |seconds| Deferral {
            from: NOW.plus(Duration::from_secs(seconds)),
            spread: Duration::from_secs(1),
        };
        let deferred = vec![(delivery(1, 0), deferral(45)), (delivery(1, 1), deferral(30))];
        let releases = batch_releases(deferred, Duration::from_secs(5), || 0);
        let due: Vec<_> = releases.iter().map(|release| release.due_at).collect();
        assert_eq!(due, [deferral(30).from, deferral(45).from]);
    }
}
