//! What others did to keys that this node holds secrets of. Its own requests show some of it, when they meet it; a key
//! that nobody uses here any more would keep its secrets until they have had their time.

use sealpost_domain::{ApiKeyId, ports::StoreError};

use crate::sealpost::Core;

impl Core {
    /// Compares the keys in memory with the database, and lets go of what does not hold any more. It blocks.
    pub(crate) fn review_keys(&self) -> Result<(), StoreError> {
        let mut keys: Vec<ApiKeyId> = self.channels.parties();
        keys.extend(self.known.with_secrets());
        keys.sort_unstable();
        keys.dedup();
        for some in keys.chunks(AT_ONCE) {
            // Not held from one portion to the next: sends look up by the same connections.
            let states = self.store.lookup()?.find_key_snapshots(some)?;
            for state in &states {
                self.known.heed_state(state);
                self.channels.heed_state(state);
            }
        }
        Ok(())
    }
}

const AT_ONCE: usize = 512;
