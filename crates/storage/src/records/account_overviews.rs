//! Lists accounts for operators, and counts the keys, sessions and webhooks of an account.

use std::collections::HashMap;

use diesel::{dsl::count_star, prelude::*};
use sealpost_domain::{
    AccountId, KeyStatus, PartnerId, Timestamp,
    ports::{AccountOverview, AccountSummary, StoreError},
};

use crate::{
    connection::{on_backend, query_error::QueryError, transaction::Reader},
    rows::columns,
    schema::{accounts as a, api_keys as k, sessions, webhooks as w},
};

/// The columns of an account in a list: id, partner, and the times of creation, closing and erasure in milliseconds.
type AccountRow = (String, Option<String>, i64, Option<i64>, Option<i64>);

impl Reader {
    /// Lists up to `limit` accounts, newest first. If `below` is given, lists only accounts with smaller ids.
    pub fn accounts(
        &mut self,
        below: Option<&AccountId>,
        limit: u32,
    ) -> Result<Vec<AccountSummary>, StoreError> {
        self.run(|conn| {
            let mut page = a::table
                .select((a::id, a::partner_id, a::created_at, a::closed_at, a::erased_at))
                .order(a::id.desc())
                .limit(limit.into())
                .into_boxed();
            if let Some(below) = below {
                page = page.filter(a::id.lt(below.to_string()));
            }
            let rows = page.load::<AccountRow>(conn)?;
            let ids: Vec<_> = rows.iter().map(|(id, ..)| id.clone()).collect();
            let counts = k::table
                .filter(k::account_id.eq_any(&ids))
                .group_by(k::account_id)
                .select((k::account_id, count_star()));
            let counts = on_backend!(conn, c => counts.load::<(String, i64)>(c))?;
            let counts: HashMap<_, _> = counts.into_iter().collect();
            rows.into_iter()
                .map(|row| {
                    let keys = counts.get(&row.0).copied().unwrap_or(0);
                    summary(row, columns::number(keys, KEYS)?)
                })
                .collect()
        })
    }

    /// Finds an account, with the number of its sessions valid at `now`. `None` if the account does not exist.
    pub fn account(
        &mut self,
        id: &AccountId,
        now: Timestamp,
    ) -> Result<Option<AccountOverview>, StoreError> {
        let id = id.to_string();
        let columns = (a::id, a::partner_id, a::created_at, a::closed_at, a::erased_at);
        let row = a::table.find(&id).select(columns);
        let Some(row) = self.first(row, |row: AccountRow| Ok(row))? else { return Ok(None) };
        let keys = k::table.filter(k::account_id.eq(&id));
        let live = sessions::table
            .filter(sessions::account_id.eq(&id))
            .filter(sessions::expires_at.gt(now.as_millis()));
        let of_account = keys.filter(k::status.ne(KeyStatus::Revoked.as_str())).select(k::id);
        let webhooks = w::table.filter(w::api_key_id.eq_any(of_account));
        Ok(Some(AccountOverview {
            summary: summary(row, self.number(keys.count(), KEYS)?)?,
            sessions: self.number(live.count(), "number of sessions")?,
            webhooks: self.number(webhooks.count(), "number of webhooks")?,
        }))
    }

    /// Returns the partner of an account. `None` if the account does not exist or has no partner.
    pub fn partner_of(&mut self, id: &AccountId) -> Result<Option<PartnerId>, StoreError> {
        let partner = a::table.find(id.to_string()).select(a::partner_id);
        Ok(self.first(partner, partner_id)?.flatten())
    }
}

fn partner_id(name: Option<String>) -> Result<Option<PartnerId>, QueryError> {
    let partner = name.map(|name| PartnerId::parse(&name));
    partner.transpose().ok().ok_or(QueryError::Corrupt("partner"))
}

fn summary(
    (id, partner, created_at, closed_at, erased_at): AccountRow,
    keys: u64,
) -> Result<AccountSummary, QueryError> {
    Ok(AccountSummary {
        id: columns::id(&id, "account")?,
        partner: partner_id(partner)?,
        keys,
        created_at: Timestamp::from_millis(created_at),
        closed_at: columns::instant(closed_at),
        erased_at: columns::instant(erased_at),
    })
}

const KEYS: &str = "number of keys";
