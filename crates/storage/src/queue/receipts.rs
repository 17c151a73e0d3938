//! Reads sent envelopes with the data for their receipts. A receipt shows the sender what has happened to an envelope.
//!
//! Lists the envelopes of a sender in pages, newest first. No index contains the recipient. A query for one recipient
//! therefore examines at most [`EXAMINED_MAX`] envelopes for each page, and the next page continues after the last
//! examined envelope.

use std::collections::{HashMap, HashSet};

use diesel::{
    dsl::{min, sql},
    prelude::*,
    sql_query,
    sql_types::{BigInt, Bool, Nullable, Text},
};
use sealpost_domain::{
    ApiKeyId, EnvelopeId, ReceiptFacts, ReceiptPolicy, ThreadId, Timestamp,
    ports::{SentEnvelope, SentList, SentQuery, StoreError},
};

use crate::{
    connection::{AnyConnection, on_backend, query_error::QueryError, transaction::Reader},
    query::any_of::any_of,
    queue::{
        bounces::{ANNOUNCED, BOUNCED},
        waiting,
    },
    rows::{
        columns,
        envelope::{self, ContextColumns},
    },
    schema::{attempts as a, envelope_outcomes as o, envelopes as e, policies as p},
};

impl Reader {
    /// Finds an envelope that `sender` sent. `None` if this key sent no envelope with this id.
    pub fn find_sent(
        &mut self,
        id: &EnvelopeId,
        sender: &ApiKeyId,
    ) -> Result<Option<SentEnvelope>, StoreError> {
        self.run(|conn| Ok(read_sent(conn, &[id.to_string()], sender)?.pop()))
    }

    /// Lists envelopes of a sender, newest first. Examines a bounded number of envelopes, so a page can have fewer
    /// envelopes than the limit, even if more follow.
    pub fn list_sent(&mut self, query: &SentQuery) -> Result<SentList, StoreError> {
        self.run(|conn| {
            let (ids, next) = page(conn, query)?;
            let envelopes = read_sent(conn, &ids, &query.sender)?;
            Ok(SentList { envelopes, next })
        })
    }

    /// Finds the message threads of envelopes. Omits envelopes that `key` neither sent nor received.
    pub fn find_threads(
        &mut self,
        ids: &[EnvelopeId],
        key: &ApiKeyId,
    ) -> Result<HashMap<EnvelopeId, Option<ThreadId>>, StoreError> {
        let key = key.to_string();
        self.run(|conn| {
            let own = e::table
                .filter(any_of(e::id, ids.iter().map(EnvelopeId::to_string)))
                .filter(e::sender.eq(&key).or(e::recipient.eq(&key)))
                .select((e::id, (e::thread, e::reply_to, e::message_type)));
            let rows = on_backend!(conn, c => own.load::<(String, ContextColumns)>(c))?.into_iter();
            let read = |(id, context): (String, ContextColumns)| {
                Ok((columns::id(&id, "envelope")?, envelope::context(context)?.thread))
            };
            rows.map(read).collect()
        })
    }
}

/// Id, recipient, time of sealing, first opening and context of a sent envelope.
type SentColumns = (String, String, i64, Option<i64>, ContextColumns);

/// Reads envelopes of a sender with the data for their receipts, newest first. Omits envelopes of other senders.
pub(crate) fn read_sent(
    conn: &mut AnyConnection,
    ids: &[String],
    sender: &ApiKeyId,
) -> Result<Vec<SentEnvelope>, QueryError> {
    let sent = e::table
        .filter(any_of(e::id, ids))
        .filter(e::sender.eq(sender.to_string()))
        .order(e::id.desc())
        .select((
            e::id,
            e::recipient,
            e::created_at,
            e::opened_at,
            (e::thread, e::reply_to, e::message_type),
        ));
    let sent = on_backend!(conn, c => sent.load::<SentColumns>(c))?;
    let facts = StoredFacts::read(conn, &sent)?;
    let read = |(id, recipient, sent_at, opened_at, context): SentColumns| {
        Ok(SentEnvelope {
            facts: facts.facts(&id, opened_at),
            receipts: facts.receipts.get(&recipient).copied().unwrap_or_default(),
            id: columns::id(&id, "envelope")?,
            recipient: columns::id(&recipient, "envelope")?,
            sent_at: Timestamp::from_millis(sent_at),
            context: envelope::context(context)?,
        })
    };
    sent.into_iter().map(read).collect()
}

/// The data for the receipts of envelopes, by envelope id, and the receipt policies of their recipients.
struct StoredFacts {
    outcomes: HashMap<String, (String, i64)>,
    waiting: HashSet<String>,
    first_successes: HashMap<String, Option<i64>>,
    receipts: HashMap<String, ReceiptPolicy>,
}

impl StoredFacts {
    fn read(conn: &mut AnyConnection, sent: &[SentColumns]) -> Result<Self, QueryError> {
        let ids = || sent.iter().map(|(id, ..)| id);
        let outcomes = o::table.filter(any_of(o::envelope_id, ids()));
        let outcomes = outcomes.select((o::envelope_id, (o::outcome, o::at)));
        let outcomes: Vec<(String, (String, i64))> = on_backend!(conn, c => outcomes.load(c))?;
        // The outcome is a literal in the SQL text instead of a parameter, so that both databases use the partial
        // index.
        let first_successes = a::table
            .filter(sql::<Bool>("outcome = 'succeeded'"))
            .filter(any_of(a::event_id, ids()))
            .group_by(a::event_id)
            .select((a::event_id, min(a::at)));
        let first_successes: Vec<(String, Option<i64>)> =
            on_backend!(conn, c => first_successes.load(c))?;
        let recipients: HashSet<_> = sent.iter().map(|(_, recipient, ..)| recipient).collect();
        let policies = p::table.filter(any_of(p::api_key_id, recipients));
        let policies = policies.select((p::api_key_id, p::receipts));
        let policies: Vec<(String, String)> = on_backend!(conn, c => policies.load(c))?;
        let policy = |(key, receipts): (String, String)| {
            let receipts =
                ReceiptPolicy::from_name(&receipts).ok_or(QueryError::Corrupt("policy"))?;
            Ok((key, receipts))
        };
        Ok(Self {
            outcomes: outcomes.into_iter().collect(),
            waiting: waiting::still_waiting(conn, ids())?,
            first_successes: first_successes.into_iter().collect(),
            receipts: policies.into_iter().map(policy).collect::<Result<_, QueryError>>()?,
        })
    }

    fn facts(&self, id: &str, opened_at: Option<i64>) -> ReceiptFacts {
        let outcome = self.outcomes.get(id);
        let announced_at = outcome.filter(|(outcome, _)| outcome == ANNOUNCED).map(|(_, at)| *at);
        let succeeded_at = self.first_successes.get(id).copied().flatten();
        ReceiptFacts {
            is_bounced: outcome.is_some_and(|(outcome, _)| outcome == BOUNCED),
            is_waiting: self.waiting.contains(id),
            notified_at: columns::instant([announced_at, succeeded_at].into_iter().flatten().min()),
            opened_at: columns::instant(opened_at),
        }
    }
}

/// Returns the ids of the envelopes of a page, and the id after which the next page begins; `None` on the last page.
fn page(
    conn: &mut AnyConnection,
    query: &SentQuery,
) -> Result<(Vec<String>, Option<EnvelopeId>), QueryError> {
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
    Ok((ids, next))
}

/// Returns the newest envelopes that match the query, for any recipient.
fn examine(
    conn: &mut AnyConnection,
    query: &SentQuery,
    limit: usize,
) -> Result<Vec<ExaminedRow>, QueryError> {
    // Without the name of the index, SQLite reads all envelopes of the sender to find a thread.
    let index = match conn {
        AnyConnection::Sqlite(_) if query.thread.is_some() => INDEX_OF_THREADS,
        _ => "",
    };
    // PostgreSQL can use the index of threads for `thread = $5`, and the index of senders by time for `$5 IS NULL`.
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

/// Returns the exclusive end of the page's time range in milliseconds: the end in the query, but at most 1 ms after the
/// last envelope of the previous page. The id of that envelope contains its time.
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

/// Maximum number of envelopes that are examined for one page, if the query selects a recipient.
const EXAMINED_MAX: usize = 2000;

const INDEX_OF_THREADS: &str = "INDEXED BY ix_envelopes__sender__thread__created_at";

/// A text that sorts after the ids of all envelopes.
const ABOVE_ALL: &str = "env_~";
