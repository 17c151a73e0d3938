//! What attempts came to, written down: in the queue, in the log, and at the webhooks, each only where the lease
//! still held.

use std::{
    collections::{BTreeMap, HashSet},
    time::Duration,
};

use diesel::prelude::*;
use sealpost_domain::{
    AttemptOutcome, AttemptResult, AttemptSummary, DisabledReason, HealthReport, LastFailure,
    Outcome, Timestamp, WebhookHealth, WebhookStatus,
};

use crate::{
    any_of::any_of,
    batch::{self, End, HealthRow, Held},
    columns,
    connection::{AnyConnection, on_backend},
    fault::Fault,
    heard::{Heard, Told},
    locking::{Locked, RowLock},
    schema::webhooks as w,
};

/// What settling came to.
#[derive(Default)]
pub(crate) struct Settled {
    /// Which webhooks it disabled.
    pub(crate) disabled: Vec<(String, DisabledReason)>,
    /// What is on record now of webhooks.
    pub(crate) told: Vec<Told>,
}

/// Writes them down.
pub(crate) fn settle(
    conn: &mut AnyConnection,
    results: &[AttemptResult],
    failing_max: Duration,
    heard: &Heard,
) -> Result<Settled, Fault> {
    let ends = results.iter().map(end).collect::<Result<Vec<_>, _>>()?;
    let written = write_queue(conn, &ends)?;
    let mut held: Vec<_> = ends.iter().filter(|end| written.contains(&end.held)).collect();
    if held.is_empty() {
        return Ok(Settled::default());
    }
    held.sort_by_key(|end| end.at);
    batch::log(conn, &held)?;
    let (news, told) = heard.news(&held);
    let disabled = tell_webhooks(conn, &news, failing_max)?;
    Ok(Settled { disabled, told })
}

/// Which of them were still held.
fn write_queue(conn: &mut AnyConnection, ends: &[End]) -> Result<HashSet<Held>, Fault> {
    let (succeeded, failed): (Vec<_>, Vec<_>) = ends.iter().partition(|end| end.failure.is_none());
    let mut written = HashSet::with_capacity(ends.len());
    if !succeeded.is_empty() {
        written.extend(batch::remove(conn, &succeeded)?);
    }
    if !failed.is_empty() {
        written.extend(batch::keep(conn, &failed)?);
    }
    Ok(written)
}

/// Two nodes may have news for the same webhooks: locked in the order of ids, they never wait in a circle.
fn tell_webhooks(
    conn: &mut AnyConnection,
    ends: &[&End],
    failing_max: Duration,
) -> Result<Vec<(String, DisabledReason)>, Fault> {
    let mut ended = BTreeMap::<&str, Vec<AttemptSummary>>::new();
    for end in ends {
        ended.entry(&end.held.id.webhook_id).or_default().push(AttemptSummary {
            at: Timestamp::from_millis(end.at),
            failure: end.failure,
            is_gone: end.is_gone,
        });
    }
    if ended.is_empty() {
        return Ok(Vec::new());
    }
    let mut rows = lock_health(conn, &ended.keys().copied().collect::<Vec<_>>())?;
    let mut disabled = Vec::new();
    for row in &mut rows {
        let Some(ended) = ended.get(&*row.webhook_id) else { continue };
        let mut health = row.read()?;
        if health.update(&HealthReport::of(ended), failing_max) {
            disabled.extend(health.disabled_reason.map(|why| (row.webhook_id.clone(), why)));
        }
        row.write(health);
    }
    if !rows.is_empty() {
        batch::set_health(conn, &rows)?;
    }
    Ok(disabled)
}

pub(crate) fn lock_health(conn: &mut AnyConnection, ids: &[&str]) -> Result<Vec<HealthRow>, Fault> {
    let rows = w::table.filter(any_of(w::id, ids)).order(w::id).select((
        w::id,
        w::status,
        w::disabled_reason,
        w::failing_since,
        w::last_success_at,
        w::last_failure_at,
        w::last_failure,
    ));
    Ok(on_backend!(conn, c => Locked::new(rows, RowLock::Alone).load(c))?)
}

impl HealthRow {
    fn read(&self) -> Result<WebhookHealth, Fault> {
        let status = WebhookStatus::from_name(&self.status);
        let failed_at = columns::instant(self.last_failure_at);
        Ok(WebhookHealth {
            status: status.ok_or(Fault::Corrupt("webhook status"))?,
            disabled_reason: reason(self.disabled_reason.as_deref())?,
            failing_since: columns::instant(self.failing_since),
            last_success_at: columns::instant(self.last_success_at),
            last_failure: failed_at
                .zip(self.last_failure.clone())
                .map(|(at, error)| LastFailure { at, error }),
        })
    }

    fn write(&mut self, health: WebhookHealth) {
        health.status.as_str().clone_into(&mut self.status);
        self.disabled_reason = health.disabled_reason.map(|reason| reason.as_str().to_owned());
        self.failing_since = health.failing_since.map(Timestamp::as_millis);
        self.last_success_at = health.last_success_at.map(Timestamp::as_millis);
        self.last_failure_at = health.last_failure.as_ref().map(|last| last.at.as_millis());
        self.last_failure = health.last_failure.map(|last| last.error);
    }
}

/// Why a webhook is disabled, as it was stored.
pub(crate) fn reason(name: Option<&str>) -> Result<Option<DisabledReason>, Fault> {
    let read = |name| DisabledReason::from_name(name).ok_or(Fault::Corrupt("disabled reason"));
    name.map(read).transpose()
}

fn end(settlement: &AttemptResult) -> Result<End, Fault> {
    let (outcome, failure, due_at) = match settlement.outcome {
        Outcome::Exhausted(failure) => (AttemptOutcome::Exhausted, Some(failure.as_str()), None),
        Outcome::Gone => (AttemptOutcome::Exhausted, Some("http_status"), None),
        Outcome::Retry { failure, due_at } => {
            (AttemptOutcome::Failed, Some(failure.as_str()), Some(due_at.as_millis()))
        }
        Outcome::Succeeded => (AttemptOutcome::Succeeded, None, None),
    };
    let response = settlement.response.as_ref();
    Ok(End {
        held: Held::new(&settlement.id, settlement.lease),
        attempts: columns::number(settlement.attempts, "number of attempts")?,
        at: settlement.at.as_millis(),
        duration_ms: i32::try_from(settlement.duration_ms).unwrap_or(i32::MAX),
        outcome: outcome.as_str(),
        failure,
        status_code: response.map(|response| response.status.into()),
        excerpt: response.and_then(|response| excerpt(&response.excerpt)),
        due_at,
        is_gone: matches!(settlement.outcome, Outcome::Gone),
    })
}

/// As much as is kept, and nothing that PostgreSQL takes for no text: one receiver's answer must not keep the outcomes
/// of a whole batch from being written.
fn excerpt(text: &str) -> Option<String> {
    let kept = text.get(..text.floor_char_boundary(EXCERPT_BYTES_MAX)).unwrap_or_default();
    (!kept.is_empty()).then(|| kept.replace('\0', " "))
}

const EXCERPT_BYTES_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_cut_between_characters_and_has_no_nul() {
        assert_eq!(excerpt(""), None);
        assert_eq!(excerpt("a\0b").unwrap(), "a b");
        assert_eq!(excerpt(&"ü".repeat(600)).unwrap(), "ü".repeat(512));
        assert_eq!(excerpt(&format!("x{}", "ü".repeat(600))).unwrap().len(), 1023);
    }
}
