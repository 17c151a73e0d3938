//! Informs the correspondents of a key (keys that sent to it or received from it) of a change such as its revocation.
//!
//! A change is recorded at once, and housekeeping stores the events later. No index finds the correspondents, because
//! an index would slow every send. Housekeeping therefore reads all stored envelopes in portions, newest first. One
//! such pass finds the correspondents for several changes. Changes that are recorded during a pass wait for the next.

use std::collections::BTreeSet;

use diesel::{dsl::exists, prelude::*};
use sealpost_domain::{EnvelopeId, IdentityRotation, RotationReason, Timestamp, ports::StoreError};

use crate::{
    connection::{AnyConnection, on_backend, query_error::QueryError, transaction::Transaction},
    housekeeping::partitions::first_id,
    queue::events,
    rows::columns,
    schema::{envelopes as e, identity_rotations as r, webhooks as w},
};

impl Transaction {
    /// Records that a key was revoked, lost its handle to another key, or got a new sealing key. Housekeeping later
    /// stores events for the key's correspondents: see [`inform_correspondents`](Self::inform_correspondents).
    pub fn record_rotation(&mut self, rotation: &IdentityRotation) -> Result<(), StoreError> {
        self.run(|conn| record(conn, rotation))
    }

    /// Stores events for the correspondents of changed keys: the keys that have exchanged envelopes with them. To find
    /// the correspondents, a pass reads all envelopes that were sealed at `oldest` or later, newest first.
    ///
    /// Each call reads up to `limit` envelopes of the current pass, or starts a pass if none is running. Returns true
    /// if envelopes or changes are left. At most `informed_max` correspondents of a change get an event, one each. The
    /// deliveries are due at `now`.
    pub fn inform_correspondents(
        &mut self,
        oldest: Timestamp,
        now: Timestamp,
        informed_max: u32,
        limit: u32,
    ) -> Result<bool, StoreError> {
        self.run(|conn| {
            let mut changes = under_way(conn)?;
            if changes.is_empty() {
                if !start(conn)? {
                    return Ok(false);
                }
                changes = under_way(conn)?;
            }
            changes.retain(|change| change.informed < informed_max.into());
            let Some(read_to) = changes.iter().find_map(|change| change.read_to.clone()) else {
                return finish(conn);
            };
            let kept = e::table.filter(e::id.lt(read_to)).filter(e::id.ge(first_id(oldest)));
            let page = kept.order(e::id.desc()).limit(limit.into());
            let page = page.select((e::id, e::sender, e::recipient));
            let page = on_backend!(conn, c => page.load::<(String, String, String)>(c))?;
            for change in &changes {
                inform_of(conn, change, &page, now, informed_max.into())?;
            }
            let read = columns::number::<i64, _>(page.len(), "number of envelopes")?;
            match page.last() {
                Some((id, _, _)) if read == i64::from(limit) => {
                    let under_way = r::table.filter(r::read_to.is_not_null());
                    diesel::update(under_way).set(r::read_to.eq(id)).execute(conn)?;
                    Ok(true)
                }
                _ => finish(conn),
            }
        })
    }
}

pub(crate) fn record(
    conn: &mut AnyConnection,
    rotation: &IdentityRotation,
) -> Result<(), QueryError> {
    let row = (
        r::api_key_id.eq(rotation.api_key_id.to_string()),
        r::reason.eq(rotation.reason.as_str()),
        r::at.eq(rotation.at.as_millis()),
        r::handle.eq(rotation.handle.as_ref().map(ToString::to_string)),
        r::replaced_by.eq(rotation.replaced_by.map(|key| key.to_string())),
    );
    on_backend!(conn, c => {
        diesel::insert_into(r::table).values(row).on_conflict_do_nothing().execute(c)
    })?;
    Ok(())
}

/// Stores the events about one change for the correspondents in `page`. A row of `page` contains the id, the sender and
/// the recipient of an envelope.
fn inform_of(
    conn: &mut AnyConnection,
    change: &ChangeRow,
    page: &[(String, String, String)],
    now: Timestamp,
    informed_max: i64,
) -> Result<(), QueryError> {
    // Skips envelopes of a later millisecond, because they were sent after the change.
    let after = EnvelopeId::new(Timestamp::from_millis(change.at + 1), [0; 10]).to_string();
    let key = &change.api_key_id;
    let other = |(id, sender, recipient): &(String, String, String)| match () {
        () if *id >= after => None,
        () if sender == key => Some(recipient.clone()),
        () if recipient == key => Some(sender.clone()),
        () => None,
    };
    let correspondents: BTreeSet<_> =
        page.iter().filter_map(other).filter(|it| it != key).collect();
    if correspondents.is_empty() {
        return Ok(());
    }
    let rotation = change.read()?;
    let new = correspondents
        .iter()
        .map(|key| Ok(rotation.event_for(&columns::id(key, "envelope")?)))
        .collect::<Result<Vec<_>, QueryError>>()?;
    let (mut informed, mut rest) = (change.informed, &*new);
    while !rest.is_empty() && informed < informed_max {
        // `events::store_due_at` skips events that are already stored, and skips keys without a subscribed webhook.
        // Skipped keys do not count as informed, so the loop continues with further keys until the maximum is reached.
        let room = usize::try_from(informed_max - informed).unwrap_or(0);
        let (some, others) = rest.split_at(room.min(rest.len()));
        let stored = events::store_due_at(conn, some, |_| now)?;
        informed += columns::number::<i64, _>(stored.len(), "events")?;
        rest = others;
    }
    let row = r::table.find((key, &change.reason, change.at));
    diesel::update(row).set(r::informed.eq(informed)).execute(conn)?;
    Ok(())
}

/// A change of a key, as recorded in the table `identity_rotations`.
#[derive(Debug, Queryable)]
struct ChangeRow {
    api_key_id: String,
    reason: String,
    at: i64,
    handle: Option<String>,
    replaced_by: Option<String>,
    /// The id down to which the current pass has read the envelopes, newest first. `None` if the change waits for the
    /// next pass.
    read_to: Option<String>,
    /// Number of correspondents that were informed.
    informed: i64,
}

impl ChangeRow {
    fn read(&self) -> Result<IdentityRotation, QueryError> {
        let replaced_by = self.replaced_by.as_deref();
        Ok(IdentityRotation {
            api_key_id: columns::id(&self.api_key_id, "rotation")?,
            handle: self.handle.as_deref().map(columns::handle).transpose()?,
            replaced_by: replaced_by.map(|key| columns::id(key, "rotation")).transpose()?,
            reason: RotationReason::from_name(&self.reason)
                .ok_or(QueryError::Corrupt("reason of a rotation"))?,
            at: Timestamp::from_millis(self.at),
        })
    }
}

/// Returns the changes of keys for which the current pass over the envelopes finds the correspondents, oldest first.
fn under_way(conn: &mut AnyConnection) -> Result<Vec<ChangeRow>, QueryError> {
    let under_way = r::table.filter(r::read_to.is_not_null()).order((r::at, r::api_key_id));
    Ok(on_backend!(conn, c => under_way.load::<ChangeRow>(c))?)
}

/// Starts a pass over the envelopes, which finds the correspondents of changed keys. The pass handles the oldest
/// waiting changes, at most [`CHANGES_READ_TOGETHER`]. If no webhook subscribes to `identity.rotated`, deletes
/// all waiting changes instead. Returns whether a pass has started.
fn start(conn: &mut AnyConnection) -> Result<bool, QueryError> {
    let waiting = r::table.filter(r::read_to.is_null());
    let oldest = waiting.order((r::at, r::api_key_id)).limit(CHANGES_READ_TOGETHER);
    let oldest = oldest.select((r::api_key_id, r::reason, r::at));
    let oldest = on_backend!(conn, c => oldest.load::<(String, String, i64)>(c))?;
    if oldest.is_empty() {
        return Ok(false);
    }
    let subscribed = w::table.filter(w::events.like(SUBSCRIBED));
    if !diesel::select(exists(subscribed)).get_result::<bool>(conn)? {
        diesel::delete(waiting).execute(conn)?;
        return Ok(false);
    }
    for change in oldest {
        diesel::update(r::table.find(change)).set(r::read_to.eq(ABOVE_ALL)).execute(conn)?;
    }
    Ok(true)
}

/// Ends a pass over the envelopes: deletes the processed changes from the table `identity_rotations`. Returns true if
/// other changes wait for the next pass.
fn finish(conn: &mut AnyConnection) -> Result<bool, QueryError> {
    diesel::delete(r::table.filter(r::read_to.is_not_null())).execute(conn)?;
    Ok(diesel::select(exists(r::table.select(r::at))).get_result(conn)?)
}

/// Maximum number of changes for which one pass over the envelopes finds the correspondents.
const CHANGES_READ_TOGETHER: i64 = 100;
/// A text that sorts after the ids of all envelopes.
const ABOVE_ALL: &str = "env_~";
/// The `LIKE` pattern that matches the column `events` of webhooks that subscribe to `identity.rotated`.
const SUBSCRIBED: &str = "%identity.rotated%";
