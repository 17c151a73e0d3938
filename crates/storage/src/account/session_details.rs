//! Reads sessions with their start, last use and client, and updates their last use.

use std::net::IpAddr;

use diesel::prelude::*;
use sealpost_domain::{
    AccountId, RequestSource, Session, SessionDetails, Timestamp, TokenHash, UserAgent,
    ports::StoreError,
};

use crate::{
    connection::{
        on_backend,
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    query::{any_of::any_token, row_types::columns_of},
    rows::{columns, session},
    schema::sessions as s,
};

impl Transaction {
    /// Inserts a session that begins at `started_at`, by a login from `source`.
    pub fn insert_session(
        &mut self,
        session: &Session,
        started_at: Timestamp,
        source: &RequestSource,
    ) -> Result<(), StoreError> {
        let (account_id, expires_at) =
            (session.account_id.to_string(), session.expires_at.as_millis());
        let content = session::content(&session.token.0, &account_id, expires_at);
        let tag = self.row_tags.tag(&content)?;
        let row = SessionDetailsRow {
            token: session.token.0.to_vec(),
            account_id,
            expires_at,
            started_at: started_at.as_millis(),
            last_used_at: None,
            client_address: source.address.map(|address| address.to_string()),
            user_agent: source.user_agent.as_ref().map(UserAgent::to_string),
            tag: Some(tag),
        };
        self.execute(diesel::insert_into(s::table).values(row)).map(drop)
    }

    /// Sets the time of last use of sessions to `hour`, the start of an hour. Ignores sessions that no longer exist.
    ///
    /// Does not change a stored time up to one hour after `hour`, because the clocks of two nodes can be in different
    /// hours. A stored time after that came from a wrong clock, and is replaced.
    pub fn set_session_uses(
        &mut self,
        sessions: &[TokenHash],
        hour: Timestamp,
    ) -> Result<(), StoreError> {
        self.run(|conn| {
            let hour = hour.as_millis();
            let is_wrong = s::last_used_at.gt(hour.saturating_add(columns::LAST_USE_AHEAD_MAX_MS));
            let outdated = s::table
                .filter(any_token(s::token, sessions))
                .filter(s::last_used_at.is_null().or(s::last_used_at.lt(hour)).or(is_wrong));
            let update = diesel::update(outdated).set(s::last_used_at.eq(hour));
            on_backend!(conn, c => update.execute(c))?;
            Ok(())
        })
    }
}

impl Reader {
    /// Lists up to `limit` sessions of the account that are valid at `now`, latest expiry first.
    pub fn sessions_of(
        &mut self,
        account: &AccountId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<SessionDetails>, StoreError> {
        let live = s::table
            .filter(s::account_id.eq(account.to_string()))
            .filter(s::expires_at.gt(now.as_millis()))
            .order(s::expires_at.desc())
            .limit(limit.into())
            .select(columns_of::<SessionDetailsRow>());
        self.load(live, SessionDetailsRow::read)
    }

    /// Finds the token of the account's session with this [short name](TokenHash::short_name) that is valid at `now`.
    pub fn find_session_named(
        &mut self,
        account: &AccountId,
        name: &str,
        now: Timestamp,
    ) -> Result<Option<TokenHash>, StoreError> {
        let Some((lowest, highest)) = TokenHash::range_of(name) else { return Ok(None) };
        let named = s::table
            .filter(s::token.between(lowest.0.to_vec(), highest.0.to_vec()))
            .filter(s::account_id.eq(account.to_string()))
            .filter(s::expires_at.gt(now.as_millis()))
            .select(s::token);
        self.first(named, |token| columns::token(token, "session"))
    }
}

/// A row of the table `sessions`, without the time at which the login secret was last entered again.
#[derive(Debug, Insertable, Queryable, Selectable)]
#[diesel(table_name = s, treat_none_as_default_value = false)]
struct SessionDetailsRow {
    token: Vec<u8>,
    account_id: String,
    expires_at: i64,
    started_at: i64,
    last_used_at: Option<i64>,
    client_address: Option<String>,
    user_agent: Option<String>,
    tag: Option<Vec<u8>>,
}

impl SessionDetailsRow {
    fn read(self) -> Result<SessionDetails, QueryError> {
        let address = self.client_address.map(|text| columns::id::<IpAddr>(&text, "address"));
        Ok(SessionDetails {
            session: session::read((self.token, self.account_id, self.expires_at))?,
            started_at: Timestamp::from_millis(self.started_at),
            last_used_at: columns::instant(self.last_used_at),
            source: RequestSource {
                address: address.transpose()?,
                user_agent: self.user_agent.and_then(|text| UserAgent::new(text.as_bytes())),
            },
        })
    }
}
