//! Rows of recipients' policies and of contacts. A contact of a key is another key to which the key has sent.

use std::collections::BTreeSet;

use diesel::prelude::*;
use sealpost_domain::{
    AcceptPolicy, ApiKeyId, GovernanceKind, GovernanceReason, GovernanceStatus, ReceiptPolicy,
    RecipientPolicy, Timestamp, ports::Contact,
};

use crate::{
    connection::query_error::QueryError,
    query::row_types::stored_row,
    rows::columns,
    schema::{contacts, governance, policies},
};

/// A row of the table `policies`: the policy of a key as a recipient.
#[derive(Debug, AsChangeset, Insertable, Queryable)]
#[diesel(table_name = policies)]
pub(crate) struct PolicyRow {
    api_key_id: String,
    accept: String,
    receipts: String,
    listed: bool,
    allowed: String,
    blocked: String,
    records_contacts: bool,
}

impl PolicyRow {
    pub(crate) fn new(key: &ApiKeyId, policy: &RecipientPolicy) -> Self {
        Self {
            api_key_id: key.to_string(),
            accept: policy.accept.as_str().to_owned(),
            receipts: policy.receipts.as_str().to_owned(),
            listed: policy.is_listed,
            allowed: list(&policy.allowed),
            blocked: list(&policy.blocked),
            records_contacts: policy.records_contacts,
        }
    }

    pub(crate) fn read(&self) -> Result<RecipientPolicy, QueryError> {
        Ok(RecipientPolicy {
            accept: AcceptPolicy::from_name(&self.accept).ok_or(CORRUPT)?,
            receipts: ReceiptPolicy::from_name(&self.receipts).ok_or(CORRUPT)?,
            is_listed: self.listed,
            allowed: keys(&self.allowed)?,
            blocked: keys(&self.blocked)?,
            records_contacts: self.records_contacts,
        })
    }
}

fn list(keys: &BTreeSet<ApiKeyId>) -> String {
    keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(SEPARATOR)
}

fn keys(list: &str) -> Result<BTreeSet<ApiKeyId>, QueryError> {
    let keys = list.split(SEPARATOR).filter(|key| !key.is_empty());
    keys.map(|key| columns::id(key, "policy")).collect()
}

stored_row! {
    /// A new row of the table `contacts`: a key to which `api_key_id` has sent, and the time of the newest send.
    pub(crate) struct ContactRow in contacts {
        api_key_id: String,
        contact: String,
        sent_at: i64,
    }
}

impl From<&Contact> for ContactRow {
    fn from(contact: &Contact) -> Self {
        Self {
            api_key_id: contact.api_key_id.to_string(),
            contact: contact.contact.to_string(),
            sent_at: contact.sent_at.as_millis(),
        }
    }
}

const CORRUPT: QueryError = QueryError::Corrupt("policy");
/// Separates the keys in the columns `allowed` and `blocked`.
const SEPARATOR: &str = ",";

/// The columns of `governance` that form a [`GovernanceReason`].
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = governance)]
pub(crate) struct ReasonRow {
    pub(crate) kind: String,
    pub(crate) status: String,
    pub(crate) reason: String,
    pub(crate) since: i64,
}

impl ReasonRow {
    pub(crate) fn read(self) -> Result<GovernanceReason, QueryError> {
        Ok(GovernanceReason {
            kind: GovernanceKind::from_name(&self.kind)
                .ok_or(QueryError::Corrupt("governance kind"))?,
            status: GovernanceStatus::from_name(&self.status)
                .ok_or(QueryError::Corrupt("governance status"))?,
            reason: self.reason,
            since: Timestamp::from_millis(self.since),
        })
    }
}
