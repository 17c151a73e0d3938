//! Badges: signed credentials based on the newest [assessment](sealpost_domain::Assessment) (measured scores) of an API
//! key. Badges can be verified, shown and revoked.

pub(crate) mod credential;
pub(crate) mod issue;
pub(crate) mod status_list;
pub(crate) mod verify;

use std::sync::Arc;

use parking_lot::RwLock;
use quick_cache::sync::Cache;
use sealpost_domain::Circuits;

use crate::{sealpost::core::Core, transparency::TransparencyLog};

/// Issues, shows and verifies badges, and checks keys against compliance circuits (the checks that jurisdictions
/// require). Clones share their state.
#[derive(Clone)]
pub struct Badges {
    pub(crate) core: Arc<Core>,
    log: TransparencyLog,
    circuits: Arc<RwLock<Arc<Circuits>>>,
    /// Cached status lists (public lists of revoked badges), by the number of the list.
    status_lists: Arc<Cache<u64, status_list::StatusList>>,
}

impl Badges {
    pub(crate) fn new(core: Arc<Core>, log: TransparencyLog, circuits: Circuits) -> Self {
        Self {
            core,
            log,
            circuits: Arc::new(RwLock::new(Arc::new(circuits))),
            status_lists: Arc::new(Cache::new(STATUS_LISTS_CACHED_MAX)),
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

const STATUS_LISTS_CACHED_MAX: usize = 1_000;
