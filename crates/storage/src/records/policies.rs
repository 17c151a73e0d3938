//! Stores the policies of recipients and the contacts of keys, and reads the profiles of keys. A contact of a key is
//! another key to which the key has sent.

use std::collections::{HashMap, HashSet};

use diesel::{dsl::max, prelude::*};
use sealpost_domain::{
    ApiKeyId, EnvelopeId, Label, RecipientPolicy, Timestamp,
    ports::{Contact, KeyProfile, SentPage, StoreError},
};

use crate::{
    connection::{
        AnyConnection, on_backend,
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    query::any_of::any_of,
    rows::{
        columns,
        policy::{ContactRow, PolicyRow},
    },
    schema::{api_keys as k, envelopes as e, handles as h, policies as p},
    send::statements,
};

impl Reader {
    /// Finds the profile of a key: its status, its handle, and its label unless the policy hides the label. `None` if
    /// no key has this id.
    pub fn find_profile(&mut self, id: &ApiKeyId) -> Result<Option<KeyProfile>, StoreError> {
        Ok(self.find_profiles(&[*id])?.remove(id))
    }

    /// Finds the profiles of several keys: status, handle, and the label unless the policy hides it. Omits unknown
    /// keys.
    pub fn find_profiles(
        &mut self,
        ids: &[ApiKeyId],
    ) -> Result<HashMap<ApiKeyId, KeyProfile>, StoreError> {
        self.run(|conn| {
            let profiles = k::table
                .left_join(h::table)
                .left_join(p::table)
                .filter(any_of(k::id, ids.iter().map(ApiKeyId::to_string)))
                .select((k::id, k::label, k::status, h::handle.nullable(), p::listed.nullable()));
            let read = |(id, label, status, handle, is_listed): ProfileColumns| {
                let label = Label::parse(&label).ok().ok_or(QueryError::Corrupt("label"))?;
                let profile = KeyProfile {
                    handle: handle.as_deref().map(columns::handle).transpose()?,
                    label: is_listed.unwrap_or(true).then_some(label),
                    status: columns::key_status(&status)?,
                };
                Ok((columns::id(&id, "API key")?, profile))
            };
            on_backend!(conn, c => profiles.load::<ProfileColumns>(c))?
                .into_iter()
                .map(read)
                .collect()
        })
    }

    /// Finds the policy of a key as a recipient; `None` if the key has the default policy.
    pub fn find_policy(&mut self, id: &ApiKeyId) -> Result<Option<RecipientPolicy>, StoreError> {
        self.first(p::table.find(id.to_string()), |row: PolicyRow| row.read())
    }

    /// Finds the sender of an envelope to `recipient`; `None` if there is no such envelope.
    pub fn find_sender(
        &mut self,
        envelope: &EnvelopeId,
        recipient: &ApiKeyId,
    ) -> Result<Option<ApiKeyId>, StoreError> {
        let addressed =
            e::table.find(envelope.to_string()).filter(e::recipient.eq(recipient.to_string()));
        self.first(addressed.select(e::sender), |sender: String| columns::id(&sender, "envelope"))
    }

    /// Finds contacts of `sender` among the next `limit` stored envelopes of all senders, in the order of ids, after
    /// the id `after`. Returns the id of the last of these envelopes, and the recipients of those that `sender` sent.
    /// `None` if no envelope has an id above `after`.
    pub fn sent_page(
        &mut self,
        sender: &ApiKeyId,
        after: &EnvelopeId,
        limit: u32,
    ) -> Result<Option<SentPage>, StoreError> {
        self.run(|conn| {
            let after = after.to_string();
            let ids = e::table.filter(e::id.gt(&after)).select(e::id);
            let full_page = ids.order(e::id).offset(i64::from(limit.max(1)) - 1);
            let last = match full_page.first::<String>(conn).optional()? {
                Some(last) => Some(last),
                None => ids.order(e::id.desc()).first::<String>(conn).optional()?,
            };
            let Some(last) = last else { return Ok(None) };
            let sent = e::table
                .filter(e::id.gt(&after))
                .filter(e::id.le(&last))
                .filter(e::sender.eq(sender.to_string()))
                .group_by(e::recipient)
                .select((e::recipient, max(e::created_at)))
                .load::<(String, Option<i64>)>(conn)?;
            let contact = |(recipient, sent_at): (String, Option<i64>)| {
                Ok(Contact {
                    api_key_id: *sender,
                    contact: columns::id(&recipient, "envelope")?,
                    sent_at: Timestamp::from_millis(sent_at.unwrap_or_default()),
                })
            };
            let contacts = sent.into_iter().map(contact).collect::<Result<_, QueryError>>()?;
            Ok(Some(SentPage { last: columns::id(&last, "envelope")?, contacts }))
        })
    }
}

impl Transaction {
    /// Replaces the policy of a key that this transaction has locked.
    pub fn set_policy(
        &mut self,
        id: &ApiKeyId,
        policy: &RecipientPolicy,
    ) -> Result<(), StoreError> {
        let row = PolicyRow::new(id, policy);
        let insert = diesel::insert_into(p::table).values(&row);
        self.run(|conn| {
            on_backend!(conn, c => {
                insert.on_conflict(p::api_key_id).do_update().set(&row).execute(c)
            })?;
            Ok(())
        })
    }

    /// Stores contacts. If a contact is already stored, changes its time of the newest message only if the new time is
    /// at least ten seconds later.
    pub fn insert_contacts(&mut self, contacts: &[Contact]) -> Result<(), StoreError> {
        self.run(|conn| insert_contacts(conn, contacts))
    }

    /// Returns those of `pairs` whose key has sent to the contact at `since` or later. Each pair contains an API key
    /// and a possible contact.
    pub fn find_contacts(
        &mut self,
        pairs: &[(ApiKeyId, ApiKeyId)],
        since: Timestamp,
    ) -> Result<HashSet<(ApiKeyId, ApiKeyId)>, StoreError> {
        self.run(|conn| {
            let found = statements::find_contacts(conn, pairs, since.as_millis())?;
            let id = |text: &str| columns::id(text, "contact");
            found.iter().map(|(key, contact)| Ok((id(key)?, id(contact)?))).collect()
        })
    }
}

/// Stores contacts, sorted by keys. All transactions lock the rows in this order, so that they cannot deadlock.
pub(crate) fn insert_contacts(
    conn: &mut AnyConnection,
    contacts: &[Contact],
) -> Result<(), QueryError> {
    if contacts.is_empty() {
        return Ok(());
    }
    let mut contacts = contacts.to_vec();
    contacts.sort_unstable();
    let rows: Vec<_> = contacts.iter().map(ContactRow::from).collect();
    statements::insert_contacts(conn, &rows)
}

/// Id, label, status and handle of a key, and whether the key is listed.
type ProfileColumns = (String, String, String, Option<String>, Option<bool>);
