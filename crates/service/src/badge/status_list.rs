//! Status lists: which badges were taken back, for whoever asks. Each node keeps a list for a moment, so that asking costs
//! it little.

use std::{sync::Arc, time::Duration};

use moka::sync::Cache;
use sealpost_domain::Timestamp;
use sealpost_wallet::encode_status_list;

use crate::{Error, Sealpost};

/// The lists that were asked for lately.
pub(crate) struct StatusLists(Cache<u64, Arc<str>>);

impl Default for StatusLists {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(LISTS_KEPT).time_to_live(KEPT_FOR).build())
    }
}

impl Sealpost {
    /// A status list as a signed credential; `None` where no badge is in it.
    pub fn status_list(&self, list: &str) -> Result<Option<Arc<str>>, Error> {
        let Ok(list) = list.parse::<u64>() else { return Ok(None) };
        let kept = &self.core.status_lists.0;
        if let Some(credential) = kept.get(&list) {
            return Ok(Some(credential));
        }
        let Some(revoked) = self.core.store.lookup()?.revoked_in(list)? else { return Ok(None) };
        let encoded = encode_status_list(&revoked)?;
        let now = Timestamp::from_millis(self.core.clock.now().as_seconds().saturating_mul(1000));
        let credential = self.core.author().status_list(list, &encoded, (now, now.plus(VALID_FOR)));
        let credential: Arc<str> = self.core.issuer.sign_credential(&credential)?.into();
        kept.insert(list, Arc::clone(&credential));
        Ok(Some(credential))
    }
}

/// A list that is older says nothing any more: nobody can hide a revocation behind one for long.
const VALID_FOR: Duration = Duration::from_hours(1);
const KEPT_FOR: Duration = Duration::from_secs(2);
const LISTS_KEPT: u64 = 1_000;
