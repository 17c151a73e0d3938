//! Replaces stored secrets by the same secrets encrypted under a new key-encryption key. Reads the secrets in pages,
//! and replaces a secret only if it has not changed since.

use diesel::prelude::*;
use sealpost_domain::{IssuerKeyId, OwnedKey, Timestamp, WebhookId, Wrapped, ports::StoreError};

use crate::{
    connection::{
        AnyConnection, on_backend,
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    query::row_lock::{Locked, RowLock},
    rows::{columns, retiring_secrets},
    schema::{api_keys as k, issuer_keys as i, kek_marks as m, kek_versions as v, webhooks as w},
};

impl Reader {
    /// Reads up to `limit` encrypted roots (secrets of identities) of API keys with ids above `after`, ordered by id.
    pub fn roots_after(
        &mut self,
        after: Option<&OwnedKey>,
        limit: u32,
    ) -> Result<Vec<(OwnedKey, Wrapped)>, StoreError> {
        let page = k::table
            .filter(k::id.gt(bound(after.map(|key| &key.id))))
            .filter(k::root.is_not_null())
            .order(k::id)
            .limit(limit.into())
            .select((k::id, k::account_id, k::root.assume_not_null()));
        self.load(page, |(id, account, root): (String, String, Vec<u8>)| {
            let account_id = columns::id(&account, "account")?;
            Ok((OwnedKey { id: columns::id(&id, "key")?, account_id }, Wrapped(root)))
        })
    }

    /// Reads the signing secrets of up to `limit` webhooks with ids above `after`, ordered by id. Includes replaced
    /// secrets still in use.
    pub fn secrets_after(
        &mut self,
        after: Option<&WebhookId>,
        limit: u32,
    ) -> Result<Vec<(WebhookId, Wrapped)>, StoreError> {
        let page = w::table
            .filter(w::id.gt(bound(after)))
            .order(w::id)
            .limit(limit.into())
            .select((w::id, w::secret, w::retiring));
        self.run(|conn| {
            let mut secrets = Vec::new();
            for (id, secret, list) in page.load::<(String, Vec<u8>, Option<Vec<u8>>)>(conn)? {
                let id = columns::id(&id, "webhook")?;
                secrets.push((id, Wrapped(secret)));
                let retiring = retiring_secrets::read(list.as_deref())?;
                secrets.extend(retiring.into_iter().map(|retiring| (id, retiring.secret)));
            }
            Ok(secrets)
        })
    }

    /// Reads up to `limit` encrypted private keys of issuer keys with ids above `after`, ordered by id.
    pub fn issuer_secrets_after(
        &mut self,
        after: Option<&IssuerKeyId>,
        limit: u32,
    ) -> Result<Vec<(IssuerKeyId, Wrapped)>, StoreError> {
        let page = i::table
            .filter(i::id.gt(bound(after)))
            .order(i::id)
            .limit(limit.into())
            .select((i::id, i::secret));
        self.load(page, |(id, secret): (String, Vec<u8>)| {
            Ok((columns::id(&id, "issuer key")?, Wrapped(secret)))
        })
    }
}

impl Transaction {
    /// Replaces the encrypted root (secret of the identity) of an API key if it still equals `old`. Otherwise returns
    /// `false`.
    pub fn replace_root(
        &mut self,
        key: &OwnedKey,
        old: &Wrapped,
        new: &Wrapped,
    ) -> Result<bool, StoreError> {
        let same = k::table.find(key.id.to_string()).filter(k::root.eq(&old.0));
        Ok(self.execute(diesel::update(same).set(k::root.eq(&new.0)))? == 1)
    }

    /// Replaces an encrypted signing secret of a webhook: the current secret, or a replaced secret still in use.
    /// Returns `false` if none of these secrets equals `old`.
    pub fn replace_secret(
        &mut self,
        id: &WebhookId,
        old: &Wrapped,
        new: &Wrapped,
    ) -> Result<bool, StoreError> {
        let same = w::table.find(id.to_string()).filter(w::secret.eq(&old.0));
        let update = diesel::update(same).set(w::secret.eq(&new.0));
        self.run(|conn| Ok(update.execute(conn)? == 1 || replace_retiring(conn, id, old, new)?))
    }

    /// Replaces the encrypted private key of an issuer key if it still equals `old`. Otherwise returns `false`.
    pub fn replace_issuer_secret(
        &mut self,
        id: &IssuerKeyId,
        old: &Wrapped,
        new: &Wrapped,
    ) -> Result<bool, StoreError> {
        let same = i::table.find(id.to_string()).filter(i::secret.eq(&old.0));
        Ok(self.execute(diesel::update(same).set(i::secret.eq(&new.0)))? == 1)
    }

    /// Locks a version of the key-encryption key (KEK) until the transaction ends. Returns `false` if no mark (a known
    /// text encrypted under the version) is stored, or if the version is already retired.
    pub fn lock_kek(&mut self, version: u32) -> Result<bool, StoreError> {
        let in_use = m::table.find(i64::from(version)).filter(m::retired_at.is_null());
        let in_use = in_use.select(m::version);
        self.run(|conn| {
            let locked = on_backend!(conn, c => {
                Locked::new(in_use, RowLock::Alone).get_result::<i64>(c).optional()
            })?;
            Ok(locked.is_some())
        })
    }

    /// Retires a version of the key-encryption key that this transaction has [locked](Self::lock_kek): the key file no
    /// longer needs to contain this version. Also deletes the copies of this version that key providers have wrapped.
    pub fn retire_kek(&mut self, version: u32, at: Timestamp) -> Result<(), StoreError> {
        let version = i64::from(version);
        let update = diesel::update(m::table.find(version)).set(m::retired_at.eq(at.as_millis()));
        self.run(|conn| {
            columns::one(update.execute(conn)?, "KEK mark")?;
            diesel::delete(v::table.filter(v::version.eq(version))).execute(conn)?;
            Ok(())
        })
    }
}

/// Replaces the encrypted form of one retiring secret (a former signing secret that has not expired). Returns false if
/// `old` is no longer stored.
fn replace_retiring(
    conn: &mut AnyConnection,
    id: &WebhookId,
    old: &Wrapped,
    new: &Wrapped,
) -> Result<bool, QueryError> {
    let webhook = w::table.find(id.to_string());
    let list = webhook.clone().select(w::retiring);
    let list = on_backend!(conn, c => {
        Locked::new(list, RowLock::Alone).get_result::<Option<Vec<u8>>>(c).optional()
    })?;
    let mut secrets = retiring_secrets::read(list.flatten().as_deref())?;
    let Some(same) = secrets.iter_mut().find(|secret| secret.secret == *old) else {
        return Ok(false);
    };
    same.secret = new.clone();
    let (list, _) = retiring_secrets::write(&secrets)?;
    diesel::update(webhook).set(w::retiring.eq(list)).execute(conn)?;
    Ok(true)
}

/// Returns a text below all ids of the next page: the last id of the previous page, or the empty text for the first
/// page.
fn bound<T: ToString>(after: Option<&T>) -> String {
    after.map_or_else(String::new, ToString::to_string)
}
