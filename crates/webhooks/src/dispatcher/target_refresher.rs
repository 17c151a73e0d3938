//! Reads the targets of queued deliveries again, so that a webhook that was changed, paused, disabled or deleted on any
//! node gets no attempt with old data.
//!
//! Runs on a separate thread, because a claim of the [sweeper](super::sweeper), which leases due deliveries, can take
//! longer than the maximum age of a target.

use std::{collections::HashSet, mem, sync::Arc, time::Duration};

use sealpost_domain::WebhookId;

use super::{
    outage_log::OutageLog,
    shared_state::SharedState,
    worker_inboxes::{TargetRefresh, WorkerInboxes},
};

pub(super) struct TargetRefresher {
    pub(super) workers: Arc<WorkerInboxes>,
    pub(super) shared: Arc<SharedState>,
}

impl TargetRefresher {
    /// Reads the targets that delivery workers report, until the shutdown. If a query fails, the deliveries to its
    /// targets wait until the workers report these targets again.
    pub(super) fn run(self) {
        let mut outage = OutageLog::new("read targets");
        while !self.shared.shutdown.is_raised() {
            let aging = mem::take(&mut *self.shared.aging_targets.lock());
            let aging: Vec<_> = aging.into_iter().collect();
            for ids in aging.chunks(TARGETS_PER_QUERY_MAX) {
                self.refresh(ids, &mut outage);
            }
            self.shared.shutdown.sleep(REFRESH_INTERVAL);
        }
    }

    fn refresh(&self, ids: &[WebhookId], outage: &mut OutageLog) {
        let read_at = self.shared.clock.now();
        let active = outage.record(self.shared.outbox.active_targets(ids));
        let Some(active) = active else { return };
        let found: HashSet<_> = active.iter().map(|target| target.webhook_id).collect();
        let inactive = ids.iter().filter(|id| !found.contains(id)).copied().collect();
        self.workers.refresh(TargetRefresh { active, inactive, read_at });
    }
}

const REFRESH_INTERVAL: Duration = Duration::from_millis(250);
const TARGETS_PER_QUERY_MAX: usize = 1000;
