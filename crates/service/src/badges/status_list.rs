//! Creates status lists, the signed public lists of revoked badges.

use std::{sync::Arc, time::Duration};

use sealpost_domain::Timestamp;
use sealpost_wallet::encode_status_list;

use super::Badges;
use crate::error::Error;

impl Badges {
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
