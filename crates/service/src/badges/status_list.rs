//! Creates status lists, the signed public lists of revoked badges.

use std::{sync::Arc, time::Duration};

use sealpost_domain::Timestamp;
use sealpost_wallet::encode_status_list;

use super::Badges;
use crate::error::Error;

/// A cached status list. Its parts have different maximum ages, because verifying all badges of a list takes longer
/// than signing the list.
#[derive(Clone)]
pub(super) struct StatusList {
    /// The signed list.
    credential: Arc<str>,
    signed_at: Timestamp,
    /// The indices of the badges whose database rows another program changed: these rows have no valid authentication
    /// tag. The list shows such badges as revoked.
    forged: Arc<[u64]>,
    verified_at: Timestamp,
}

impl Badges {
    /// Returns a status list as a signed credential, or `None` if the list contains no badge.
    pub async fn status_list(&self, list: &str) -> Result<Option<Arc<str>>, Error> {
        let Ok(list) = list.parse::<u64>() else { return Ok(None) };
        let cached = self.status_lists.get(&list);
        match cached.filter(|it| self.core.clock.now().abs_diff(it.signed_at) < SIGNED_FOR) {
            Some(it) => Ok(Some(it.credential)),
            None => self.core.block(self, move |badges| badges.sign_list(list)).await,
        }
    }

    fn sign_list(&self, list: u64) -> Result<Option<Arc<str>>, Error> {
        let now = self.core.clock.now();
        let Some(mut revoked) = self.core.store.read(|reader| reader.revoked_in(list))? else {
            return Ok(None);
        };
        let cached = self.status_lists.get(&list);
        let (forged, verified_at) =
            match cached.filter(|it| now.abs_diff(it.verified_at) < VERIFIED_FOR) {
                Some(it) => (it.forged, it.verified_at),
                None => (self.core.store.read(|reader| reader.forged_in(list, now))?.into(), now),
            };
        revoked.extend(forged.iter());
        let encoded = encode_status_list(&revoked)?;
        let from = Timestamp::from_millis(now.as_seconds().saturating_mul(1000));
        let valid = (from, from.plus(VALID_FOR));
        let credential = self.list_credential(list, &encoded, valid);
        let credential: Arc<str> = self.core.issuer.sign_credential(&credential)?.into();
        let signed =
            StatusList { credential: Arc::clone(&credential), signed_at: now, forged, verified_at };
        self.status_lists.insert(list, signed);
        Ok(Some(credential))
    }
}

/// Maximum age of a cached signed list.
const SIGNED_FOR: Duration = Duration::from_secs(2);
/// Maximum age of a cached verification of the badges of a list.
const VERIFIED_FOR: Duration = Duration::from_mins(1);
/// Validity of a signed status list. A short validity limits how long an old copy can hide a revocation.
const VALID_FOR: Duration = Duration::from_hours(1);
