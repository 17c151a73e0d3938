//! Collects the contacts of a key: the keys to which it has sent a message within the retention time of envelopes.
//!
//! A policy can accept messages only from contacts. Only a key with such a policy records the recipients of its
//! messages as contacts, so that other keys need no additional write for a message. When a key chooses such a policy,
//! the contacts of its earlier messages are therefore missing. They are read from the stored envelopes.

use sealpost_domain::{AcceptPolicy, ApiKeyId, EnvelopeId, Refusal, ports::Durability};

use crate::{account::Accounts, acts::actor::ActRequest, error::Error};

impl Accounts {
    /// Stores the contacts of a key, unless the current policy of the key records them already.
    ///
    /// First changes the policy, so that each later message of the key records its recipient. The transaction of this
    /// change waits for running transactions that store messages of the key. Afterwards, the envelopes of all earlier
    /// messages can be read. If this node already collects contacts, returns [`Refusal::Unavailable`], because a
    /// collection reads many rows.
    pub(super) fn collect_contacts(&self, request: &ActRequest) -> Result<(), Error> {
        let _turn = self.contact_collection.try_lock().ok_or(Refusal::Unavailable)?;
        let key = request.key();
        let is_complete = request.write(|tx| {
            let mut policy = tx.find_policy(key)?.unwrap_or_default();
            if policy.accept == AcceptPolicy::Contacts {
                return Ok(true);
            }
            policy.records_contacts = true;
            tx.set_policy(key, &policy)?;
            Ok(false)
        })?;
        if is_complete { Ok(()) } else { self.read_sent_envelopes(key) }
    }

    fn read_sent_envelopes(&self, key: &ApiKeyId) -> Result<(), Error> {
        let Some(owner) = self.core.store.read(|reader| reader.find_key(key))? else {
            return Ok(());
        };
        let oldest =
            self.core.clock.now().minus(self.core.settings.retention).max(owner.created_at);
        let contacts_max = usize::try_from(self.core.settings.rows_per_write).unwrap_or(usize::MAX);
        let mut after = EnvelopeId::new(oldest, [0; 10]);
        while let Some(page) =
            self.core.store.read(|reader| reader.sent_page(key, &after, PAGE_ENVELOPES))?
        {
            for contacts in page.contacts.chunks(contacts_max.max(1)) {
                self.core.store.write(Durability::Durable, |tx| tx.insert_contacts(contacts))?;
            }
            after = page.last;
        }
        Ok(())
    }
}

/// Maximum number of envelopes that one statement reads.
const PAGE_ENVELOPES: u32 = 10_000;
