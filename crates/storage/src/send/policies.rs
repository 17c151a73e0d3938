//! Policies of recipients, and contacts. A contact of a key is another key to which it has sent.

use std::collections::HashSet;

use diesel::prelude::*;
use sealpost_domain::{
    ApiKeyId, RecipientPolicy, Timestamp,
    ports::{Contact, StoreError},
};

use crate::{
    connection::{AnyConnection, fault::Fault, on_backend, transaction::Transaction},
    rows::{
        columns,
        policy::{ContactRow, PolicyRow},
    },
    schema::policies,
    send::statements,
};

impl Transaction {
    /// Replaces the policy of a key that this transaction has locked.
    pub fn set_policy(
        &mut self,
        id: &ApiKeyId,
        policy: &RecipientPolicy,
    ) -> Result<(), StoreError> {
        let row = PolicyRow::new(id, policy);
        let insert = diesel::insert_into(policies::table).values(&row);
        self.run(|conn| {
            on_backend!(conn, c => {
                insert.on_conflict(policies::api_key_id).do_update().set(&row).execute(c)
            })?;
            Ok(())
        })
    }

    /// Stores contacts. If a contact is already stored, its time of the newest message changes only to one at least ten
    /// seconds later.
    pub fn insert_contacts(&mut self, contacts: &[Contact]) -> Result<(), StoreError> {
        self.run(|conn| insert_contacts(conn, contacts))
    }

    /// `pairs` contains API keys, each with a possible contact. Returns the pairs whose API key has sent a message to
    /// the contact at `since` or later.
    pub fn find_contacts(
        &mut self,
        pairs: &[(ApiKeyId, ApiKeyId)],
        since: Timestamp,
    ) -> Result<HashSet<(ApiKeyId, ApiKeyId)>, StoreError> {
        self.run(|conn| {
            let texts: Vec<_> = pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
            let found = statements::find_contacts(conn, &texts, since.as_millis())?;
            let id = |text: &str| columns::id(text, "contact");
            found.iter().map(|(key, contact)| Ok((id(key)?, id(contact)?))).collect()
        })
    }
}

/// Stores contacts, sorted by keys. All transactions lock the rows in this order, so that they cannot deadlock.
pub(crate) fn insert_contacts(conn: &mut AnyConnection, contacts: &[Contact]) -> Result<(), Fault> {
    if contacts.is_empty() {
        return Ok(());
    }
    let mut contacts = contacts.to_vec();
    contacts.sort_unstable();
    let rows: Vec<_> = contacts.iter().map(ContactRow::from).collect();
    statements::insert_contacts(conn, &rows)
}
