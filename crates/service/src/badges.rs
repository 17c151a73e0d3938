//! Badges: signed credentials based on the newest [assessment](sealpost_domain::Assessment) (measured scores) of an API
//! key. Badges can be verified, shown and revoked.

pub(crate) mod credential;
pub(crate) mod issue;
pub(crate) mod status_list;
pub(crate) mod verify;

use std::{sync::Arc, time::Duration};

use parking_lot::RwLock;
use sealpost_domain::Circuits;

use crate::{cache::aged_cache::AgedCache, sealpost::core::Core, transparency::TransparencyLog};

/// Issues, shows and verifies badges, and checks keys against compliance circuits (the checks that jurisdictions
/// require). Clones share their state.
#[derive(Clone)]
pub struct Badges {
    pub(crate) core: Arc<Core>,
    log: TransparencyLog,
    circuits: Arc<RwLock<Arc<Circuits>>>,
    /// Signed status lists (public lists of revoked badges), by the number of the list.
    status_lists: Arc<AgedCache<u64, str>>,
    /// For each status list, the indices of the badges whose database rows were changed by another program.
    forged: Arc<AgedCache<u64, [u64]>>,
}

impl Badges {
    pub(crate) fn new(core: Arc<Core>, log: TransparencyLog, circuits: Circuits) -> Self {
        Self {
            core,
            log,
            circuits: Arc::new(RwLock::new(Arc::new(circuits))),
            status_lists: Arc::new(AgedCache::new(STATUS_LIST_CACHED_FOR)),
            forged: Arc::new(AgedCache::new(FORGED_CACHED_FOR)),
        }
    }

    /// Replaces the compliance circuits (sets of checks) of all jurisdictions, and returns the previous ones.
    pub fn use_circuits(&self, circuits: Arc<Circuits>) -> Arc<Circuits> {
        let mut current = self.circuits.write();
        std::mem::replace(&mut current, circuits)
    }

    /// Returns the current compliance circuits, the sets of checks of all jurisdictions.
    pub(crate) fn circuits(&self) -> Arc<Circuits> {
        Arc::clone(&self.circuits.read())
    }
}

const STATUS_LIST_CACHED_FOR: Duration = Duration::from_secs(2);
/// Cache lifetime of [`Badges::forged`]. Longer than that of signed status lists, because verifying all badges of a
/// list takes longer than signing the list.
const FORGED_CACHED_FOR: Duration = Duration::from_mins(1);
