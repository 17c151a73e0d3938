//! Stores API tokens: bearer tokens of an account, with scopes and an expiry.

use diesel::prelude::*;
use sealpost_domain::{
    AccountId, ApiToken, ApiTokenId, Label, Timestamp, TokenHash, TokenScope, TokenScopes,
    ports::{JournaledAct, StoreError},
};

use crate::{
    connection::{
        on_backend,
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    query::any_of::any_token,
    rows::{columns, row_tags::RowContent},
    schema::api_tokens as t,
};

impl Reader {
    /// Finds the API tokens with these hashes, even if they have expired, in any order. Omits unknown tokens, and rows
    /// that may be forged (without a valid [tag](sealpost_domain::ports::RowAuthenticator)).
    pub fn find_api_tokens(&mut self, hashes: &[TokenHash]) -> Result<Vec<ApiToken>, StoreError> {
        let rows = self.run(|conn| {
            let wanted = t::table.filter(any_token(t::token, hashes));
            Ok(on_backend!(conn, c => wanted.load::<ApiTokenRow>(c))?)
        })?;
        let mut tokens = Vec::new();
        for row in rows {
            if self.row_tags.is_valid(&row.content(), row.tag.as_deref())? {
                tokens.push(row.read()?);
            }
        }
        Ok(tokens)
    }

    /// Lists the API tokens of an account that have not expired at `now`, oldest first.
    pub fn api_tokens_of(
        &mut self,
        account: &AccountId,
        now: Timestamp,
    ) -> Result<Vec<ApiToken>, StoreError> {
        let live = t::table
            .filter(t::account_id.eq(account.to_string()))
            .filter(t::expires_at.gt(now.as_millis()))
            .order(t::id);
        self.load(live, ApiTokenRow::read)
    }
}

impl Transaction {
    /// Inserts a token.
    pub fn insert_api_token(&mut self, token: &ApiToken) -> Result<(), StoreError> {
        let mut row = ApiTokenRow::new(token);
        row.tag = Some(self.row_tags.tag(&row.content())?);
        self.execute(diesel::insert_into(t::table).values(row)).map(drop)
    }

    /// Counts the tokens of an account that have not expired at `now`.
    pub fn count_api_tokens(
        &mut self,
        account: &AccountId,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let live = t::table
            .filter(t::account_id.eq(account.to_string()))
            .filter(t::expires_at.gt(now.as_millis()));
        self.number(live.count(), "number of API tokens")
    }

    /// Deletes a token of `account`, or of any account if `account` is `None`. Returns the deleted token; `None` if
    /// there is no such token.
    pub fn delete_api_token(
        &mut self,
        id: &ApiTokenId,
        account: Option<&AccountId>,
    ) -> Result<Option<ApiToken>, StoreError> {
        let deleted = self.run(|conn| {
            let row = t::table.find(id.to_string()).first::<ApiTokenRow>(conn).optional()?;
            let token = row.map(ApiTokenRow::read).transpose()?;
            let is_wanted = |token: &ApiToken| account.is_none_or(|it| *it == token.account_id);
            let Some(token) = token.filter(is_wanted) else { return Ok(None) };
            let deleted = diesel::delete(t::table.find(id.to_string())).execute(conn)?;
            Ok((deleted == 1).then_some(token))
        })?;
        if deleted.is_some() {
            self.journaled_acts.add(JournaledAct::ApiTokenRevoked(*id));
        }
        Ok(deleted)
    }

    /// Deletes all tokens of an account. Returns their number.
    pub fn delete_api_tokens_of(&mut self, account: &AccountId) -> Result<u64, StoreError> {
        let of_account = t::table.filter(t::account_id.eq(account.to_string()));
        let ids = self.run(|conn| {
            let delete = diesel::delete(of_account).returning(t::id);
            let ids = on_backend!(conn, c => delete.get_results::<String>(c))?;
            ids.iter().map(|id| columns::id(id, "API token")).collect::<Result<Vec<_>, _>>()
        })?;
        for id in &ids {
            self.journaled_acts.add(JournaledAct::ApiTokenRevoked(*id));
        }
        Ok(u64::try_from(ids.len()).unwrap_or(u64::MAX))
    }

    /// Deletes up to `limit` tokens of all accounts. Returns their number.
    pub fn end_api_tokens(&mut self, limit: u32) -> Result<u64, StoreError> {
        let some = t::table.select(t::id).order(t::id).limit(limit.into());
        let ids = self.load(some, |id: String| columns::id(&id, "API token"))?;
        let mut ended = 0_u64;
        for id in &ids {
            ended = ended.saturating_add(self.delete_api_token(id, None)?.map_or(0, |_| 1));
        }
        Ok(ended)
    }

    /// Sets the time of last use of API tokens to `hour`, the start of an hour. Does not change a stored time up to one
    /// hour after `hour`, because the clocks of two nodes can be in different hours. A stored time after that came from
    /// a wrong clock, and is replaced.
    pub fn set_api_token_uses(
        &mut self,
        tokens: &[TokenHash],
        hour: Timestamp,
    ) -> Result<(), StoreError> {
        self.run(|conn| {
            let hour = hour.as_millis();
            let is_wrong = t::last_used_at.gt(hour.saturating_add(columns::LAST_USE_AHEAD_MAX_MS));
            let outdated = t::table
                .filter(any_token(t::token, tokens))
                .filter(t::last_used_at.is_null().or(t::last_used_at.lt(hour)).or(is_wrong));
            let update = diesel::update(outdated).set(t::last_used_at.eq(hour));
            on_backend!(conn, c => update.execute(c))?;
            Ok(())
        })
    }
}

/// A row of the table `api_tokens`.
#[derive(Debug, Insertable, Queryable)]
#[diesel(table_name = t)]
pub(crate) struct ApiTokenRow {
    pub(crate) id: String,
    token: Vec<u8>,
    account_id: String,
    api_key_id: String,
    name: String,
    scopes: String,
    created_at: i64,
    expires_at: i64,
    last_used_at: Option<i64>,
    pub(crate) tag: Option<Vec<u8>>,
}

impl ApiTokenRow {
    fn new(token: &ApiToken) -> Self {
        let scopes: Vec<_> = token.scopes.iter().map(TokenScope::as_str).collect();
        Self {
            id: token.id.to_string(),
            token: token.token.0.to_vec(),
            account_id: token.account_id.to_string(),
            api_key_id: token.api_key_id.to_string(),
            name: token.name.to_string(),
            scopes: scopes.join(SCOPES_SEPARATOR),
            created_at: token.created_at.as_millis(),
            expires_at: token.expires_at.as_millis(),
            last_used_at: token.last_used_at.map(Timestamp::as_millis),
            tag: None,
        }
    }

    /// Returns the columns that the tag of the row protects against forgery.
    pub(crate) fn content(&self) -> RowContent {
        RowContent::new("api_tokens")
            .with(&self.id)
            .with(&self.token)
            .with(&self.account_id)
            .with(&self.api_key_id)
            .with(&self.name)
            .with(&self.scopes)
            .with_number(self.created_at)
            .with_number(self.expires_at)
    }

    fn read(self) -> Result<ApiToken, QueryError> {
        Ok(ApiToken {
            id: columns::id(&self.id, "API token")?,
            token: columns::token(self.token, "API token")?,
            account_id: columns::id(&self.account_id, "API token")?,
            api_key_id: columns::id(&self.api_key_id, "API token")?,
            name: Label::parse(&self.name)
                .ok()
                .ok_or(QueryError::Corrupt("name of an API token"))?,
            scopes: known_scopes(&self.scopes),
            created_at: Timestamp::from_millis(self.created_at),
            expires_at: Timestamp::from_millis(self.expires_at),
            last_used_at: columns::instant(self.last_used_at),
        })
    }
}

/// Reads the names of scopes. Skips unknown names, which a newer version may have stored.
fn known_scopes(names: &str) -> TokenScopes {
    names.split(SCOPES_SEPARATOR).filter_map(TokenScope::from_name).collect()
}

/// Separates the names in the column `scopes`.
const SCOPES_SEPARATOR: &str = ",";
