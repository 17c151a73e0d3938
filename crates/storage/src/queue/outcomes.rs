//! Records the outcomes of delivery attempts in the queue, the attempt log and the health of webhooks. Ignores an
//! outcome if its delivery is no longer leased to the caller.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    time::Duration,
};

use diesel::prelude::*;
use sealpost_domain::{
    AttemptOutcome, AttemptResult, AttemptSummary, DisabledReason, IncidentKind, Timestamp,
};

use crate::{
    connection::{AnyConnection, on_backend, query_error::QueryError},
    query::{
        any_of::any_of,
        row_lock::{Locked, RowLock},
        row_types::columns_of,
    },
    queue::{
        bounces, incidents, statements,
        success_throttle::{RecordedSuccess, SuccessThrottle},
    },
    rows::{
        attempt::FinishedAttempt,
        delivery::{DeliveryKey, DeliveryLease, FailedDelivery, SucceededDelivery},
        webhook::HealthRow,
    },
    schema::webhooks as w,
};

/// The effects of a recorded batch of outcomes.
#[derive(Default)]
pub(crate) struct Recorded {
    /// Webhooks that the batch disabled, with the reasons.
    pub(crate) disabled: Vec<(String, DisabledReason)>,
    /// The newest success of each webhook whose row the batch has updated, for [`SuccessThrottle::committed`].
    pub(crate) successes: Vec<RecordedSuccess>,
    /// Deliveries without further attempts, because their last attempt failed.
    pub(crate) exhausted: Vec<DeliveryKey>,
}

/// Parameters for recording attempts in the attempt log and in the health of webhooks.
pub(crate) struct AttemptRecording<'a> {
    pub(crate) failing_max: Duration,
    pub(crate) throttle: &'a SuccessThrottle,
}

/// Records the outcomes of attempts whose leases are still valid, and returns the effects.
///
/// If `recording` is `None`, the attempt log and the health of webhooks do not change. The log then does not show which
/// envelopes were delivered. Therefore the outcome `announced` is recorded for these envelopes, so that they do not
/// bounce.
pub(crate) fn record(
    conn: &mut AnyConnection,
    results: &[AttemptResult],
    recording: Option<&AttemptRecording<'_>>,
) -> Result<Recorded, QueryError> {
    let mut attempts = results.iter().map(FinishedAttempt::new).collect::<Result<Vec<_>, _>>()?;
    attempts.sort_unstable_by(|one, other| one.lease.key.cmp_locked(&other.lease.key));
    retry_at_changed_urls(conn, &mut attempts)?;
    let UpdatedQueue { leased, mut announced, exhausted } = update_queue(conn, &attempts)?;
    let mut attempts: Vec<_> =
        attempts.iter().filter(|attempt| leased.contains(&attempt.lease)).collect();
    if attempts.is_empty() {
        return Ok(Recorded::default());
    }
    attempts.sort_by_key(|attempt| attempt.at);
    let (mut disabled, mut successes) = (Vec::new(), Vec::new());
    if recording.is_some() {
        statements::log_attempts(conn, &attempts)?;
    } else {
        let succeeded = attempts.iter().filter(|attempt| attempt.failure.is_none());
        announced.extend(succeeded.map(|attempt| attempt.lease.key.event_id.clone()));
    }
    if let Some(last) = attempts.last() {
        let now = Timestamp::from_millis(last.at);
        bounces::end(conn, &announced, exhausted.iter().map(|key| &key.event_id), now)?;
    }
    if let Some(AttemptRecording { failing_max, throttle }) = recording {
        let (relevant, new_successes) = throttle.filter(&attempts);
        successes = new_successes;
        disabled = update_health(conn, &relevant, *failing_max)?;
    }
    Ok(Recorded { disabled, successes, exhausted })
}

/// Makes a delivery due again although its receiver responded with 410 (Gone), if the webhook has had another URL since
/// the attempt. Otherwise the response would end the delivery.
fn retry_at_changed_urls(
    conn: &mut AnyConnection,
    attempts: &mut [FinishedAttempt],
) -> Result<(), QueryError> {
    let urls = urls_of_gone(conn, &attempts.iter().collect::<Vec<_>>())?;
    for attempt in attempts {
        let url = urls.get(&attempt.lease.key.webhook_id);
        if attempt.gone_url.is_some() && url.is_some() && url != attempt.gone_url.as_ref() {
            attempt.outcome = AttemptOutcome::Failed.as_str();
            attempt.due_at = Some(attempt.at);
        }
    }
    Ok(())
}

/// Returns the present URLs of the webhooks whose receivers responded with status 410 (Gone), by the id of the webhook.
fn urls_of_gone(
    conn: &mut AnyConnection,
    attempts: &[&FinishedAttempt],
) -> Result<HashMap<String, String>, QueryError> {
    let gone = attempts.iter().filter(|attempt| attempt.gone_url.is_some());
    let ids: BTreeSet<_> = gone.map(|attempt| attempt.lease.key.webhook_id.clone()).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let urls = w::table.filter(any_of(w::id, ids)).select((w::id, w::url));
    Ok(on_backend!(conn, c => urls.load::<(String, String)>(c))?.into_iter().collect())
}

struct UpdatedQueue {
    /// The leases that were still valid when the outcomes were recorded. Outcomes under other leases are ignored.
    leased: HashSet<DeliveryLease>,
    /// Ids of delivered events that still have deliveries. The envelopes among them get the outcome `announced`, so
    /// that they do not bounce.
    announced: Vec<String>,
    /// Deliveries without further attempts, because their last attempt failed.
    exhausted: Vec<DeliveryKey>,
}

/// Deletes the succeeded deliveries, and stores the next due times of the failed ones. `attempts` must be in the order
/// in which transactions lock deliveries.
fn update_queue(
    conn: &mut AnyConnection,
    attempts: &[FinishedAttempt],
) -> Result<UpdatedQueue, QueryError> {
    let (succeeded, failed): (Vec<_>, Vec<_>) =
        attempts.iter().partition(|attempt| attempt.failure.is_none());
    let (mut announced, mut exhausted) = (Vec::new(), Vec::new());
    let mut leased = HashSet::with_capacity(attempts.len());
    if !succeeded.is_empty() && !failed.is_empty() {
        // Locks the deliveries of both statements together. Each statement alone locks its deliveries in the order that
        // all transactions use, but the second statement could lock a delivery that precedes those of the first.
        let keys: Vec<_> = attempts.iter().map(|attempt| attempt.lease.key.clone()).collect();
        statements::lock(conn, &keys)?;
    }
    if !succeeded.is_empty() {
        let mut recorded = statements::remove_succeeded(conn, &succeeded)?;
        if recorded.len() < succeeded.len() {
            recorded.extend(statements::restart_succeeded(conn, &succeeded)?);
        }
        for SucceededDelivery { lease, is_left } in recorded {
            announced.extend(is_left.then(|| lease.key.event_id.clone()));
            leased.insert(lease);
        }
    }
    if !failed.is_empty() {
        for FailedDelivery { lease, is_exhausted } in statements::record_failed(conn, &failed)? {
            exhausted.extend(is_exhausted.then(|| lease.key.clone()));
            leased.insert(lease);
        }
    }
    Ok(UpdatedQueue { leased, announced, exhausted })
}

/// Updates the health of webhooks, and stores the events about webhooks that fail or are disabled. Locks the rows in
/// the order of ids, so that two nodes cannot deadlock. Returns the webhooks that were disabled.
fn update_health(
    conn: &mut AnyConnection,
    attempts: &[&FinishedAttempt],
    failing_max: Duration,
) -> Result<Vec<(String, DisabledReason)>, QueryError> {
    let ids: BTreeSet<_> = attempts.iter().map(|attempt| &*attempt.lease.key.webhook_id).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut rows = lock_health(conn, &ids.into_iter().collect::<Vec<_>>())?;
    // At the commit, triggers lock the facts versions of the keys in the order of the updates below.
    rows.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    // Read under the lock, so that an owner cannot change the URL between this comparison and the commit.
    let urls = urls_of_gone(conn, attempts)?;
    let mut by_webhook = BTreeMap::<&str, Vec<AttemptSummary<'_>>>::new();
    for attempt in attempts {
        let webhook_id = &attempt.lease.key.webhook_id;
        by_webhook.entry(webhook_id).or_default().push(AttemptSummary {
            at: Timestamp::from_millis(attempt.at),
            failure: attempt.failure,
            error_detail: attempt.error_detail(),
            is_gone: attempt.gone_url.is_some()
                && urls.get(webhook_id) == attempt.gone_url.as_ref(),
        });
    }
    let (mut disabled, mut incidents) = (Vec::new(), Vec::new());
    for (_, row) in &mut rows {
        let Some(attempts) = by_webhook.get(&*row.id) else { continue };
        let mut health = row.read()?;
        let change = health.update(attempts, failing_max);
        disabled.extend(change.disabled.map(|reason| (row.id.clone(), reason)));
        let failing = change.failing_since.map(IncidentKind::Failing);
        let was_disabled = change.disabled.map(|it| IncidentKind::Disabled(it.into()));
        let kinds: Vec<_> = failing.into_iter().chain(was_disabled).collect();
        if let Some(at) = attempts.iter().map(|ended| ended.at).max()
            && !kinds.is_empty()
        {
            incidents.push((row.id.clone(), kinds, at));
        }
        row.write(health);
    }
    if !rows.is_empty() {
        let rows: Vec<_> = rows.into_iter().map(|(_, row)| row).collect();
        statements::set_health(conn, &rows)?;
    }
    for (webhook_id, kinds, at) in incidents {
        incidents::announce(conn, &webhook_id, &kinds, at)?;
    }
    Ok(disabled)
}

/// Locks webhooks in the order of their ids. Returns the API key and the health of each webhook.
pub(crate) fn lock_health(
    conn: &mut AnyConnection,
    ids: &[&str],
) -> Result<Vec<(String, HealthRow)>, QueryError> {
    let rows = w::table
        .filter(any_of(w::id, ids.iter().copied()))
        .order(w::id)
        .select((w::api_key_id, columns_of::<HealthRow>()));
    Ok(on_backend!(conn, c => Locked::new(rows, RowLock::Alone).load(c))?)
}
