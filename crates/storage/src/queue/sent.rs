//! Lists the envelopes of a sender in pages, newest first.
//!
//! An index orders the envelopes of a sender by time, and another one those of each thread. No index contains the
//! recipient. With a recipient, a page therefore examines up to [`EXAMINED_MAX`] envelopes, and the next page continues
//! after the last examined envelope.

use diesel::{
    prelude::*,
    sql_query,
    sql_types::{BigInt, Nullable, Text},
};
use sealpost_domain::{EnvelopeId, Timestamp, ports::SentQuery};

use crate::{
    connection::{AnyConnection, fault::Fault},
    rows::columns,
};

/// The ids of the envelopes of a page, and the id after which the next page begins. `next` is `None` on the last page.
pub(crate) struct SentPage {
    pub(crate) ids: Vec<String>,
    pub(crate) next: Option<EnvelopeId>,
}

pub(crate) fn page(conn: &mut AnyConnection, query: &SentQuery) -> Result<SentPage, Fault> {
    let limit: usize = columns::number(query.limit, "limit")?;
    let recipient = query.recipient.as_ref().map(ToString::to_string);
    let examined_max = if recipient.is_some() { EXAMINED_MAX } else { limit };
    let mut examined = examine(conn, query, examined_max.saturating_add(1))?;
    let is_cut = examined.len() > examined_max;
    examined.truncate(examined_max);
    let last = examined.last().filter(|_| is_cut).map(|row| row.id.clone());
    examined.retain(|row| recipient.as_ref().is_none_or(|recipient| row.recipient == *recipient));
    let is_full = examined.len() > limit;
    examined.truncate(limit);
    let ids: Vec<_> = examined.into_iter().map(|row| row.id).collect();
    let next = if is_full { ids.last().cloned() } else { last };
    let next = next.map(|id| columns::id(&id, "envelope")).transpose()?;
    Ok(SentPage { ids, next })
}

/// Returns the newest envelopes of the sender, with any recipient.
fn examine(
    conn: &mut AnyConnection,
    query: &SentQuery,
    limit: usize,
) -> Result<Vec<ExaminedRow>, Fault> {
    // Without the name of the index, SQLite reads all envelopes of the sender to find a thread.
    let index = match conn {
        AnyConnection::Sqlite(_) if query.thread.is_some() => INDEX_OF_THREADS,
        _ => "",
    };
    // With the first condition, PostgreSQL can use the index of threads; with the second, the index of senders by time.
    let thread = if query.thread.is_some() { "thread = $5" } else { "$5 IS NULL" };
    let text = format!(
        "/* sent.examine */ SELECT id, recipient FROM envelopes {index}
         WHERE substr(sender, 24) = substr($1, 24) AND sender = $1
             AND created_at >= $2 AND created_at < $3 AND id < $4 AND {thread}
         ORDER BY created_at DESC, id DESC LIMIT $6"
    );
    let sender = query.sender.to_string();
    let newest = sql_query(text)
        .bind::<Text, _>(sender)
        .bind::<BigInt, _>(query.since.as_millis())
        .bind::<BigInt, _>(before(query))
        .bind::<Text, _>(query.below.map_or_else(|| ABOVE_ALL.to_owned(), |id| id.to_string()))
        .bind::<Nullable<Text>, _>(query.thread.as_ref().map(|thread| thread.as_str().to_owned()))
        .bind::<BigInt, _>(columns::number::<i64, _>(limit, "limit")?);
    Ok(newest.load::<ExaminedRow>(conn)?)
}

/// Returns the end of the time range in milliseconds, exclusive. The last id of the previous page ends the range too,
/// because the id of an envelope contains its time.
fn before(query: &SentQuery) -> i64 {
    let until = query.until.map_or(i64::MAX, Timestamp::as_millis);
    let below = query.below.map(|id| id.timestamp().as_millis().saturating_add(1));
    below.map_or(until, |below| until.min(below))
}

#[derive(Debug, QueryableByName)]
struct ExaminedRow {
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Text)]
    recipient: String,
}

/// Maximum number of envelopes that a page with a recipient examines.
const EXAMINED_MAX: usize = 2000;

const INDEX_OF_THREADS: &str = "INDEXED BY ix_envelopes__sender__thread__created_at";

/// A text above all ids of envelopes.
const ABOVE_ALL: &str = "env_~";
