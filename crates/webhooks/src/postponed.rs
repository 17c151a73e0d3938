//! Deliveries that go back to the database, because their target does not answer: gathered, so that giving back a
//! thousand takes a few transactions, and each due no sooner than it should be.

use std::time::Duration;

use sealpost_domain::{LeasedDelivery, Timestamp};

use crate::{lane::Held, pulse::Wait};

/// Deliveries that become due together.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Release {
    pub(crate) held: Vec<Held>,
    pub(crate) due_at: Timestamp,
}

/// Gathers what is due within `grain` of each other, at the time of the latest. `jitter` gives any numbers.
pub(crate) fn gather(
    postponed: Vec<(LeasedDelivery, Wait)>,
    grain: Duration,
    jitter: impl Fn() -> u32,
) -> Vec<Release> {
    let due = |(delivery, wait): (LeasedDelivery, Wait)| {
        (wait.due_at(jitter()), (delivery.id(), delivery.lease))
    };
    let mut rows: Vec<(Timestamp, Held)> = postponed.into_iter().map(due).collect();
    rows.sort_unstable_by_key(|(due_at, _)| *due_at);
    let mut releases: Vec<Release> = Vec::new();
    let mut first_due = None;
    for (due_at, held) in rows {
        match (releases.last_mut(), first_due) {
            (Some(last), Some(first))
                if last.held.len() < ROWS_MAX && due_at.since(first) < grain =>
            {
                last.held.push(held);
                last.due_at = due_at;
            }
            _ => {
                first_due = Some(due_at);
                releases.push(Release { held: vec![held], due_at });
            }
        }
    }
    releases
}

/// How many deliveries are given back in one go.
pub(crate) const ROWS_MAX: usize = 512;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::tests::outbox::{NOW, delivery};

    #[test]
    fn many_are_given_back_in_few_goes_and_none_is_due_too_soon() {
        let wait = Wait { from: NOW, spread: Duration::from_secs(30) };
        let postponed: Vec<_> = (0..3000).map(|number| (delivery(1, number), wait)).collect();
        let (drawn, steps) = (Cell::new(0_u32), Cell::new(Vec::new()));
        let jitter = || {
            drawn.set(drawn.get().wrapping_add(0x9e37_79b9));
            let mut so_far = steps.take();
            so_far.push(wait.due_at(drawn.get()));
            steps.set(so_far);
            drawn.get()
        };
        let releases = gather(postponed.clone(), Duration::from_secs(5), jitter);
        assert!(releases.len() <= 12, "{}", releases.len());
        let wanted = steps.take();
        for (place, (delivery, _)) in postponed.iter().enumerate() {
            let held = (delivery.id(), delivery.lease);
            let due = releases.iter().find(|release| release.held.contains(&held)).unwrap().due_at;
            let late = due.since(wanted[place]);
            assert!(due >= wanted[place] && late <= Duration::from_secs(5), "{late:?}");
        }
    }

    #[test]
    fn what_is_due_at_different_times_is_given_back_apart() {
        let wait = |seconds| Wait {
            from: NOW.plus(Duration::from_secs(seconds)),
            spread: Duration::from_secs(1),
        };
        let postponed = vec![(delivery(1, 0), wait(45)), (delivery(1, 1), wait(30))];
        let releases = gather(postponed, Duration::from_secs(5), || 0);
        let due: Vec<_> = releases.iter().map(|release| release.due_at).collect();
        assert_eq!(due, [wait(30).from, wait(45).from]);
    }
}
