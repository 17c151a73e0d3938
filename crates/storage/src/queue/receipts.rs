//! Reads the facts for receipts (the states of sent envelopes) from envelopes, recorded outcomes, waiting envelopes and
//! the attempt log.

use std::collections::HashMap;

use diesel::{
    dsl::{exists, sql},
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use sealpost_domain::{
    ApiKeyId, EnvelopeId, ReceiptFacts, ThreadId, Timestamp,
    ports::{ReceiptLookup, SentEnvelope, StoreError},
};

use crate::{
    connection::{
        AnyConnection, fault::Fault, on_backend, reader::Reader, transaction::Transaction,
    },
    query::any_of::any_of,
    queue::bounces::{ANNOUNCED, BOUNCED},
    rows::{
        columns,
        envelope::{self, ContextColumns},
    },
    schema::{envelope_outcomes as o, envelopes as e, waiting_envelopes as w},
};

macro_rules! look_up_on {
    ($runner:ty) => {
        impl ReceiptLookup for $runner {
            fn find_sent(
                &mut self,
                id: &EnvelopeId,
                sender: &ApiKeyId,
            ) -> Result<Option<SentEnvelope>, StoreError> {
                self.run(|conn| find_sent(conn, &id.to_string(), sender))
            }

            fn find_threads(
                &mut self,
                ids: &[EnvelopeId],
                key: &ApiKeyId,
            ) -> Result<HashMap<EnvelopeId, Option<ThreadId>>, StoreError> {
                self.run(|conn| find_threads(conn, ids, &key.to_string()))
            }
        }
    };
}

look_up_on!(Reader<'_>);
look_up_on!(Transaction);

fn find_sent(
    conn: &mut AnyConnection,
    id: &str,
    sender: &ApiKeyId,
) -> Result<Option<SentEnvelope>, Fault> {
    let sent = e::table.find(id).filter(e::sender.eq(sender.to_string())).select((
        e::recipient,
        e::created_at,
        e::opened_at,
        (e::thread, e::reply_to, e::message_type),
    ));
    let sent = sent.first::<(String, i64, Option<i64>, ContextColumns)>(conn).optional()?;
    let Some((recipient, sent_at, opened_at, context)) = sent else { return Ok(None) };
    let outcome = o::table.find(id).select((o::outcome, o::at));
    let outcome = outcome.first::<(String, i64)>(conn).optional()?;
    let is_waiting = diesel::select(exists(w::table.find(id))).get_result(conn)?;
    let announced_at = outcome.as_ref().filter(|(outcome, _)| outcome == ANNOUNCED);
    let succeeded_at = first_success(conn, id)?;
    let notified_at = [announced_at.map(|(_, at)| *at), succeeded_at].into_iter().flatten().min();
    Ok(Some(SentEnvelope {
        id: columns::id(id, "envelope")?,
        recipient: columns::id(&recipient, "envelope")?,
        sent_at: Timestamp::from_millis(sent_at),
        context: envelope::context(context)?,
        facts: ReceiptFacts {
            is_bounced: outcome.is_some_and(|(outcome, _)| outcome == BOUNCED),
            is_waiting,
            notified_at: columns::instant(notified_at),
            opened_at: columns::instant(opened_at),
        },
    }))
}

fn find_threads(
    conn: &mut AnyConnection,
    ids: &[EnvelopeId],
    key: &str,
) -> Result<HashMap<EnvelopeId, Option<ThreadId>>, Fault> {
    let own = e::table
        .filter(any_of(e::id, ids.iter().map(EnvelopeId::to_string)))
        .filter(e::sender.eq(key).or(e::recipient.eq(key)))
        .select((e::id, (e::thread, e::reply_to, e::message_type)));
    let rows = on_backend!(conn, c => own.load::<(String, ContextColumns)>(c))?.into_iter();
    let read = |(id, context): (String, ContextColumns)| {
        Ok((columns::id(&id, "envelope")?, envelope::context(context)?.thread))
    };
    rows.map(read).collect()
}

/// Returns the end of the first successful attempt of an event. The outcome is a literal in the SQL text instead of a
/// parameter, so that both databases use the partial index.
fn first_success(conn: &mut AnyConnection, id: &str) -> Result<Option<i64>, Fault> {
    let first = sql::<Nullable<BigInt>>(
        "(SELECT min(at) FROM attempts WHERE outcome = 'succeeded' AND envelope_id = ",
    );
    Ok(diesel::select(first.bind::<Text, _>(id).sql(")")).get_result(conn)?)
}
