//! Badges: signed credentials based on the newest [assessment](sealpost_domain::Assessment) (measured scores) of an API
//! key. Badges can be verified, shown and revoked.

pub(crate) mod credential;
pub(crate) mod issue;
pub(crate) mod verify;

use std::{sync::Arc, time::Duration};

use parking_lot::RwLock;
use sealpost_domain::{Circuits, Timestamp};
use sealpost_wallet::encode_status_list;

use crate::{
    cache::aged_cache::AgedCache, error::Error, sealpost::core::Core, transparency::TransparencyLog,
};

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

    /// Returns a status list as a signed credential, or `None` if the list contains no badge.
    pub async fn status_list(&self, list: &str) -> Result<Option<Arc<str>>, Error> {
        let Ok(list) = list.parse::<u64>() else { return Ok(None) };
        if let Some(credential) = self.status_lists.get(&list, self.core.clock.now()) {
            return Ok(Some(credential));
        }
        self.core.block(self, move |badges| badges.sign_list(list)).await
    }

    fn sign_list(&self, list: u64) -> Result<Option<Arc<str>>, Error> {
        let now = self.core.clock.now();
        let Some(mut revoked) = self.core.store.read(|reader| reader.revoked_in(list))? else {
            return Ok(None);
        };
        revoked.extend(self.forged_in(list, now)?.iter());
        let encoded = encode_status_list(&revoked)?;
        let from = Timestamp::from_millis(now.as_seconds().saturating_mul(1000));
        let valid = (from, from.plus(VALID_FOR));
        let credential = self.list_credential(list, &encoded, valid);
        let credential: Arc<str> = self.core.issuer.sign_credential(&credential)?.into();
        self.status_lists.insert(list, now, Arc::clone(&credential));
        Ok(Some(credential))
    }

    /// Returns the indices of the forged badges in a list. Another program changed the database rows of these badges,
    /// so the rows have no valid authentication tag. The status list shows the badges as revoked. Caches the result for
    /// a minute, because it verifies all badges of the list.
    fn forged_in(&self, list: u64, now: Timestamp) -> Result<Arc<[u64]>, Error> {
        if let Some(forged) = self.forged.get(&list, now) {
            return Ok(forged);
        }
        let forged: Arc<[u64]> = self.core.store.read(|reader| reader.forged_in(list, now))?.into();
        self.forged.insert(list, now, Arc::clone(&forged));
        Ok(forged)
    }
}

/// Validity of a signed status list. A short validity limits how long an old copy can hide a revocation.
const VALID_FOR: Duration = Duration::from_hours(1);
const STATUS_LIST_CACHED_FOR: Duration = Duration::from_secs(2);
/// Cache lifetime of [`Badges::forged`]. Longer than that of signed status lists, because verifying all badges of a
/// list takes longer than signing the list.
const FORGED_CACHED_FOR: Duration = Duration::from_mins(1);
