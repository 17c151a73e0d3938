//! Stores badges (credentials of API keys) and their positions in the public status lists, which show revoked badges.

use diesel::{dsl::max, prelude::*};
use sealpost_domain::{
    ApiKeyId, Assessment, Badge, BadgeId, Jurisdiction, Revocation, StatusPosition, Timestamp,
    ports::{JournaledAct, StoreError},
};

use crate::{
    connection::{
        AnyConnection, on_backend,
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    query::row_lock::advisory_lock,
    records::assessments::AssessmentRow,
    rows::{columns, row_tags::RowContent},
    schema::{assessments, badges as b},
};

impl Transaction {
    /// Counts the badges of a key that are neither revoked nor expired at `now`.
    pub fn count_live_badges(&mut self, key: &ApiKeyId, now: Timestamp) -> Result<u64, StoreError> {
        let live = b::table
            .filter(b::api_key_id.eq(key.to_string()))
            .filter(b::expires_at.gt(now.as_millis()))
            .filter(b::revoked_at.is_null());
        self.number(live.count(), "number of badges")
    }

    /// Finds a free position in a status list for a new badge. Tries the random indices `draws` in the newest list. If
    /// badges occupy all these positions, starts the next list. Concurrent calls wait until this transaction ends.
    pub fn lock_free_position(&mut self, draws: &[u32]) -> Result<StatusPosition, StoreError> {
        self.run(|conn| {
            advisory_lock(conn, LOCK)?;
            let list = newest(conn)?.map_or(1, |newest| StatusPosition::new(newest).list());
            for list in [list, list.saturating_add(1)] {
                if let Some(free) = free_position(conn, list, draws)? {
                    return Ok(free);
                }
            }
            Err(QueryError::Corrupt("newest status list"))
        })
    }

    /// Inserts a badge. Its position must come from `lock_free_position` in the same transaction.
    pub fn insert_badge(&mut self, badge: &Badge) -> Result<(), StoreError> {
        let mut row = BadgeRow::new(badge)?;
        if badge.revocation.is_none() {
            row.tag = Some(self.row_tags.tag(&row.content())?);
        }
        self.execute(diesel::insert_into(b::table).values(row)).map(drop)
    }

    /// Revokes a badge. Returns `false` if the badge does not exist or is already revoked.
    pub fn revoke_badge(
        &mut self,
        id: &BadgeId,
        revocation: &Revocation,
    ) -> Result<bool, StoreError> {
        let held = b::table.find(id.to_string()).filter(b::revoked_at.is_null());
        let update = diesel::update(held).set((
            b::revoked_at.eq(revocation.at.as_millis()),
            b::revoked_by.eq(&revocation.by),
            b::revocation_reason.eq(&revocation.reason),
            b::tag.eq(None::<Vec<u8>>),
        ));
        let is_revoked = self.execute(update)? == 1;
        if is_revoked {
            self.journaled_acts.add(JournaledAct::BadgeRevoked(*id));
        }
        Ok(is_revoked)
    }
}

impl Reader {
    /// Lists up to `limit` badges of a key, latest expiry first.
    pub fn badges_of(&mut self, key: &ApiKeyId, limit: u32) -> Result<Vec<Badge>, StoreError> {
        let badges = b::table
            .filter(b::api_key_id.eq(key.to_string()))
            .order((b::expires_at.desc(), b::id.desc()))
            .limit(limit.into());
        let rows = self.run(|conn| Ok(badges.load::<BadgeRow>(conn)?))?;
        rows.into_iter().map(|row| self.read_badge(row)).collect()
    }

    /// Reads the indices of the revoked badges in a status list. `None` if the list has no badges. A badge without a
    /// [tag](sealpost_domain::ports::RowAuthenticator), which protects its row against forgery, counts as revoked.
    /// [`Reader::forged_in`] finds the badges with a wrong tag.
    pub fn revoked_in(&mut self, list: u64) -> Result<Option<Vec<u64>>, StoreError> {
        self.run(|conn| {
            let Some(first) = StatusPosition::first_of(list) else { return Ok(None) };
            if newest(conn)?.is_none_or(|newest| newest < first.number()) {
                return Ok(None);
            }
            let from: i64 = columns::number(first.number(), "status list")?;
            let end = first.number().saturating_add(StatusPosition::LIST_LEN);
            let end: i64 = columns::number(end, "status list")?;
            let revoked = b::table
                .filter(b::revoked_at.is_not_null().or(b::tag.is_null()))
                .filter(b::position.ge(from))
                .filter(b::position.lt(end))
                .order(b::position)
                .select(b::position)
                .load::<i64>(conn)?;
            revoked.into_iter().map(index).collect::<Result<_, _>>().map(Some)
        })
    }

    /// Reads the indices of forged badges in a status list: their [tag](sealpost_domain::ports::RowAuthenticator) is
    /// wrong, because another program has changed the row. Omits badges that are revoked or expired at `now`, and
    /// badges without a tag.
    pub fn forged_in(&mut self, list: u64, now: Timestamp) -> Result<Vec<u64>, StoreError> {
        let rows = self.run(|conn| {
            let Some(first) = StatusPosition::first_of(list) else { return Ok(Vec::new()) };
            let from: i64 = columns::number(first.number(), "status list")?;
            let end = first.number().saturating_add(StatusPosition::LIST_LEN);
            let end: i64 = columns::number(end, "status list")?;
            let held = b::table
                .filter(b::revoked_at.is_null())
                .filter(b::tag.is_not_null())
                .filter(b::expires_at.gt(now.as_millis()))
                .filter(b::position.ge(from))
                .filter(b::position.lt(end));
            Ok(held.load::<BadgeRow>(conn)?)
        })?;
        let mut forged = Vec::new();
        for row in rows {
            if !self.row_tags.is_valid(&row.content(), row.tag.as_deref())? {
                forged.push(index(row.position)?);
            }
        }
        Ok(forged)
    }

    /// Finds a badge and its assessment. `None` if there is no badge with this id. A badge whose row may be forged (no
    /// valid [tag](sealpost_domain::ports::RowAuthenticator)) is returned as revoked.
    pub fn find_badge(&mut self, id: &BadgeId) -> Result<Option<(Badge, Assessment)>, StoreError> {
        let row = self.run(|conn| {
            let badge = b::table.inner_join(assessments::table).filter(b::id.eq(id.to_string()));
            Ok(badge.first::<(BadgeRow, AssessmentRow)>(conn).optional()?)
        })?;
        let Some((badge, assessment)) = row else { return Ok(None) };
        Ok(Some((self.read_badge(badge)?, assessment.read()?)))
    }

    fn read_badge(&mut self, mut row: BadgeRow) -> Result<Badge, StoreError> {
        let is_held = row.revoked_at.is_none();
        if is_held && !self.row_tags.is_unsuspicious(&row.content(), row.tag.as_deref())? {
            row.revoked_at = Some(row.issued_at);
            row.revocation_reason = Some(WITHOUT_TAG.to_owned());
        }
        Ok(row.read()?)
    }
}

fn index(position: i64) -> Result<u64, QueryError> {
    columns::number(position, ROW).map(|number| StatusPosition::new(number).index())
}

/// Returns the first free position of a status list among the random indices `draws`; `None` if badges occupy all of
/// them.
fn free_position(
    conn: &mut AnyConnection,
    list: u64,
    draws: &[u32],
) -> Result<Option<StatusPosition>, QueryError> {
    let Some(first) = StatusPosition::first_of(list) else { return Ok(None) };
    let indices = draws.iter().map(|draw| u64::from(*draw) % StatusPosition::LIST_LEN);
    let positions: Vec<i64> = indices
        .map(|index| columns::number(first.number().saturating_add(index), ROW))
        .collect::<Result<_, _>>()?;
    let taken: Vec<i64> = on_backend!(conn, c => {
        b::table.filter(b::position.eq_any(&positions)).select(b::position).load(c)
    })?;
    let free = positions.into_iter().find(|position| !taken.contains(position));
    free.map(|position| columns::number(position, ROW).map(StatusPosition::new)).transpose()
}

/// Returns the highest position of a badge in the status lists, which is in the newest list; `None` if there is no
/// badge.
fn newest(conn: &mut AnyConnection) -> Result<Option<u64>, QueryError> {
    let newest = b::table.select(max(b::position)).first::<Option<i64>>(conn)?;
    newest.map(|position| columns::number(position, ROW)).transpose()
}

/// A row of the table `badges`.
#[derive(Debug, Insertable, Queryable)]
#[diesel(table_name = b)]
pub(crate) struct BadgeRow {
    pub(crate) id: String,
    api_key_id: String,
    assessment_id: String,
    subject: String,
    jurisdiction: Option<String>,
    circuits_version: Option<i64>,
    position: i64,
    issued_at: i64,
    expires_at: i64,
    revoked_at: Option<i64>,
    revoked_by: Option<String>,
    revocation_reason: Option<String>,
    pub(crate) tag: Option<Vec<u8>>,
}

impl BadgeRow {
    fn new(badge: &Badge) -> Result<Self, QueryError> {
        let (compliance, revocation) = (badge.compliance.as_ref(), badge.revocation.as_ref());
        Ok(Self {
            id: badge.id.to_string(),
            api_key_id: badge.api_key_id.to_string(),
            assessment_id: badge.assessment_id.to_string(),
            subject: badge.subject.clone(),
            jurisdiction: compliance.map(|(jurisdiction, _)| jurisdiction.to_string()),
            circuits_version: compliance.map(|(_, version)| i64::from(*version)),
            position: columns::number(badge.position.number(), ROW)?,
            issued_at: badge.issued_at.as_millis(),
            expires_at: badge.expires_at.as_millis(),
            revoked_at: revocation.map(|revocation| revocation.at.as_millis()),
            revoked_by: revocation.map(|revocation| revocation.by.clone()),
            revocation_reason: revocation.map(|revocation| revocation.reason.clone()),
            tag: None,
        })
    }

    /// Returns the columns that the tag of the row protects against forgery. A row with a revocation has no tag.
    pub(crate) fn content(&self) -> RowContent {
        RowContent::new("badges")
            .with(&self.id)
            .with(&self.api_key_id)
            .with(&self.assessment_id)
            .with(&self.subject)
            .with_optional(self.jurisdiction.as_ref())
            .with_optional(self.circuits_version.map(i64::to_be_bytes))
            .with_number(self.position)
            .with_number(self.issued_at)
            .with_number(self.expires_at)
    }

    fn read(self) -> Result<Badge, QueryError> {
        let compliance = match (self.jurisdiction, self.circuits_version) {
            (Some(name), Some(version)) => {
                let name = Jurisdiction::parse(&name).ok_or(QueryError::Corrupt(ROW))?;
                Some((name, columns::number(version, ROW)?))
            }
            _ => None,
        };
        Ok(Badge {
            id: columns::id(&self.id, ROW)?,
            api_key_id: columns::id(&self.api_key_id, ROW)?,
            assessment_id: columns::id(&self.assessment_id, ROW)?,
            subject: self.subject,
            compliance,
            position: StatusPosition::new(columns::number(self.position, ROW)?),
            issued_at: Timestamp::from_millis(self.issued_at),
            expires_at: Timestamp::from_millis(self.expires_at),
            revocation: self.revoked_at.map(|at| Revocation {
                at: Timestamp::from_millis(at),
                by: self.revoked_by.unwrap_or_default(),
                reason: self.revocation_reason.unwrap_or_default(),
            }),
        })
    }
}

const ROW: &str = "badge";
/// The shown reason if a badge counts as revoked, because another program has changed its row.
const WITHOUT_TAG: &str = "the stored badge was changed";
/// Number of the advisory lock for reserving a position in a status list: `badge` in ASCII. A row lock is not
/// sufficient, because there may be no row yet.
const LOCK: i64 = 0x62_6164_6765;
