//! Status lists: which badges were taken back, for whoever asks. Each node keeps a list for a moment, so that asking costs
//! it little.

use std::{sync::Arc, time::Duration};

use quick_cache::sync::Cache;
use sealpost_domain::Timestamp;
use sealpost_wallet::encode_status_list;

use crate::{Error, Sealpost};

/// Lists that were asked for, each with the instant of its making.
pub(crate) struct StatusLists(Cache<u64, Kept>);

#[derive(Clone)]
struct Kept {
    since: Timestamp,
    credential: Arc<str>,
}

impl Default for StatusLists {
    fn default() -> Self {
        Self(Cache::new(LISTS_KEPT))
    }
}

impl Sealpost {
    /// A status list as a signed credential; `None` where no badge is in it.
    pub fn status_list(&self, list: &str) -> Result<Option<Arc<str>>, Error> {
        let Ok(list) = list.parse::<u64>() else { return Ok(None) };
        let (lists, now) = (&self.core.status_lists.0, self.core.clock.now());
        if let Some(kept) = lists.get(&list)
            && now.abs_diff(kept.since) < KEPT_FOR
        {
            return Ok(Some(kept.credential));
        }
        let Some(revoked) = self.core.store.lookup()?.revoked_in(list)? else { return Ok(None) };
        let encoded = encode_status_list(&revoked)?;
        let from = Timestamp::from_millis(now.as_seconds().saturating_mul(1000));
        let valid = (from, from.plus(VALID_FOR));
        let credential = self.core.author().status_list(list, &encoded, valid);
        let credential: Arc<str> = self.core.issuer.sign_credential(&credential)?.into();
        lists.insert(list, Kept { since: now, credential: Arc::clone(&credential) });
        Ok(Some(credential))
    }
}

/// A list that is older says nothing any more: nobody can hide a revocation behind one for long.
const VALID_FOR: Duration = Duration::from_hours(1);
const KEPT_FOR: Duration = Duration::from_secs(2);
const LISTS_KEPT: usize = 1_000;
