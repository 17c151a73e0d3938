//! Replaces the tags of rows by tags under the newest key-encryption key. A tag is a code that authenticates a row.

use diesel::{
    prelude::*,
    sql_query,
    sql_types::{Binary, Nullable, Text},
};
use sealpost_domain::ports::StoreError;

use crate::{
    connection::{
        AnyConnection,
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    records::{accounts::account_content, api_tokens::ApiTokenRow, badges::BadgeRow},
    rows::{
        columns::{self, NumberRow},
        row_tags::RowContent,
        session,
    },
    schema::{accounts as a, api_tokens as t, badges as b, sessions as s},
};

/// A table whose rows have [tags](sealpost_domain::ports::RowAuthenticator). A session has a second tag, its
/// confirmation: the time at which the client last entered the login secret again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the tables")]
pub enum TaggedTable {
    Accounts,
    ApiTokens,
    Badges,
    SessionConfirmations,
    Sessions,
}

/// Selects the rows that get a new tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retagging {
    /// Rows without a tag, which an early version of the service has stored. These rows get a tag although nothing
    /// proves that their content is genuine. Skips closed accounts, revoked badges and confirmations of sessions.
    Adopt,
    /// Rows with a tag under an older key. A valid tag is replaced; an invalid tag is removed.
    Renew,
}

/// The result of [`Transaction::retag_page`] for one page of rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetaggedPage {
    /// The id of the last row. `None` if no row is left.
    pub last: Option<Vec<u8>>,
    /// Number of rows that were read.
    pub rows: u64,
    /// Number of rows with a new tag.
    pub retagged: u64,
}

struct TaggedRow {
    id: Vec<u8>,
    content: RowContent,
    tag: Option<Vec<u8>>,
}

impl TaggedTable {
    /// All tables with tags. Sessions occur twice, because they have two tags.
    pub const ALL: [Self; 5] =
        [Self::Accounts, Self::ApiTokens, Self::Badges, Self::SessionConfirmations, Self::Sessions];
}

impl Transaction {
    /// Reads up to `limit` rows of a table with ids above `after`, and replaces the tags of the rows that `retagging`
    /// selects. Fails if no key-encryption keys are attached, or if the key of a tag is missing.
    pub fn retag_page(
        &mut self,
        table: TaggedTable,
        retagging: Retagging,
        after: &[u8],
        limit: u32,
    ) -> Result<RetaggedPage, StoreError> {
        let rows = self.run(|conn| page(conn, table, after, limit))?;
        let tags = self.row_tags.clone();
        let newest = tags.newest_prefix()?;
        let mut retagged = 0;
        for row in &rows {
            let new = match (retagging, &row.tag) {
                (Retagging::Adopt, None) if table != TaggedTable::SessionConfirmations => {
                    Some(tags.tag(&row.content)?)
                }
                (Retagging::Renew, Some(tag)) if !tag.starts_with(&newest) => {
                    let is_valid = tags.is_valid(&row.content, Some(tag))?;
                    is_valid.then(|| tags.tag(&row.content)).transpose()?
                }
                (Retagging::Adopt | Retagging::Renew, _) => continue,
            };
            let changed = self.run(|conn| set_tag(conn, table, row, new.as_deref()))?;
            retagged += u64::from(changed && new.is_some());
        }
        let last = rows.last().map(|row| row.id.clone());
        Ok(RetaggedPage { last, rows: u64::try_from(rows.len()).unwrap_or(u64::MAX), retagged })
    }
}

impl Reader {
    /// Counts the tags that were made under a version of the key-encryption key.
    pub fn count_tags_under(&mut self, version: u32) -> Result<u64, StoreError> {
        self.count_tags(version, version.saturating_add(1))
    }

    /// Counts the tags that were made under versions of the key-encryption key before `version`.
    pub fn count_tags_before(&mut self, version: u32) -> Result<u64, StoreError> {
        self.count_tags(0, version)
    }

    fn count_tags(&mut self, from: u32, end: u32) -> Result<u64, StoreError> {
        let query = sql_query(COUNT_TAGS)
            .bind::<Binary, _>(from.to_be_bytes().to_vec())
            .bind::<Binary, _>(end.to_be_bytes().to_vec());
        self.run(|conn| {
            let NumberRow { number } = query.get_result(conn)?;
            columns::number(number, "number of tags")
        })
    }
}

fn page(
    conn: &mut AnyConnection,
    table: TaggedTable,
    after: &[u8],
    limit: u32,
) -> Result<Vec<TaggedRow>, QueryError> {
    let (text, limit) = (String::from_utf8_lossy(after), i64::from(limit));
    Ok(match table {
        TaggedTable::Accounts => {
            type Row = (String, Vec<u8>, Option<Vec<u8>>, Option<Vec<u8>>);
            let open = a::table.filter(a::id.gt(text)).filter(a::closed_at.is_null());
            let columns = (a::id, a::login_secret, a::recovery_code, a::tag);
            let rows = open.order(a::id).limit(limit).select(columns).load::<Row>(conn)?;
            let row = |(id, secret, code, tag): Row| {
                let content = account_content(&id, &secret, code.as_deref());
                TaggedRow { id: id.into_bytes(), content, tag }
            };
            rows.into_iter().map(row).collect()
        }
        TaggedTable::ApiTokens => {
            let rows = t::table.filter(t::id.gt(text)).order(t::id).limit(limit);
            let row = |row: ApiTokenRow| {
                let content = row.content();
                TaggedRow { id: row.id.into_bytes(), content, tag: row.tag }
            };
            rows.load(conn)?.into_iter().map(row).collect()
        }
        TaggedTable::Badges => {
            let held = b::table.filter(b::id.gt(text)).filter(b::revoked_at.is_null());
            let row = |row: BadgeRow| {
                let content = row.content();
                TaggedRow { id: row.id.into_bytes(), content, tag: row.tag }
            };
            held.order(b::id).limit(limit).load(conn)?.into_iter().map(row).collect()
        }
        TaggedTable::SessionConfirmations => {
            type Row = (Vec<u8>, Option<i64>, Option<Vec<u8>>);
            let confirmed =
                s::table.filter(s::token.gt(after)).filter(s::confirmed_at.is_not_null());
            let columns = (s::token, s::confirmed_at, s::confirmation_tag);
            let rows = confirmed.order(s::token).limit(limit).select(columns).load::<Row>(conn)?;
            let row = |(token, at, tag): Row| {
                let content = session::confirmation_content(&token, at.unwrap_or_default());
                TaggedRow { id: token, content, tag }
            };
            rows.into_iter().map(row).collect()
        }
        TaggedTable::Sessions => {
            type Row = (Vec<u8>, String, i64, Option<Vec<u8>>);
            let columns = (s::token, s::account_id, s::expires_at, s::tag);
            let rows = s::table.filter(s::token.gt(after)).order(s::token).limit(limit);
            let row = |(token, account, expires_at, tag): Row| {
                let content = session::content(&token, &account, expires_at);
                TaggedRow { id: token, content, tag }
            };
            rows.select(columns).load::<Row>(conn)?.into_iter().map(row).collect()
        }
    })
}

/// Replaces the tag of a row, or removes the tag if `new` is `None`. Changes nothing and returns `false` if the tag has
/// changed since the row was read, or if the row was closed, revoked or deleted.
fn set_tag(
    conn: &mut AnyConnection,
    table: TaggedTable,
    row: &TaggedRow,
    new: Option<&[u8]>,
) -> Result<bool, QueryError> {
    let (name, column, key, condition) = match table {
        TaggedTable::Accounts => ("accounts", "tag", "id", " AND closed_at IS NULL"),
        TaggedTable::ApiTokens => ("api_tokens", "tag", "id", ""),
        TaggedTable::Badges => ("badges", "tag", "id", " AND revoked_at IS NULL"),
        TaggedTable::SessionConfirmations => ("sessions", "confirmation_tag", "token", ""),
        TaggedTable::Sessions => ("sessions", "tag", "token", ""),
    };
    let text = format!(
        "/* retag.{name} */ UPDATE {name} SET {column} = $1
         WHERE {column} IS NOT DISTINCT FROM $2 AND {key} = $3{condition}"
    );
    let update = sql_query(text)
        .bind::<Nullable<Binary>, _>(new)
        .bind::<Nullable<Binary>, _>(row.tag.as_deref());
    let updated = match table {
        TaggedTable::Accounts | TaggedTable::ApiTokens | TaggedTable::Badges => {
            update.bind::<Text, _>(String::from_utf8_lossy(&row.id)).execute(conn)?
        }
        TaggedTable::SessionConfirmations | TaggedTable::Sessions => {
            update.bind::<Binary, _>(row.id.as_slice()).execute(conn)?
        }
    };
    Ok(updated == 1)
}

/// Counts the tags in a range of key versions. A tag begins with its version, so tags sort by version.
const COUNT_TAGS: &str = "/* retag.count */
    SELECT count(*) AS number FROM (
        SELECT tag FROM accounts
        UNION ALL SELECT tag FROM api_tokens
        UNION ALL SELECT tag FROM badges
        UNION ALL SELECT tag FROM sessions
        UNION ALL SELECT confirmation_tag FROM sessions
    ) AS t WHERE tag >= $1 AND tag < $2";
