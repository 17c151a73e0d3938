//! Pagination of lists: the request members that select a page, and the response with a page.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr};

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, ApiKeyId, BadgeId, CheckName, PartnerId, Refusal, Score, Timestamp, WebhookId,
};
use sealpost_service::ListPage;
use serde::Serialize;

use crate::request::{Fields, Member};

/// The page of a list that a request selects: the position and the maximum length.
pub(super) struct PageChoice<Id> {
    pub(super) limit: u32,
    /// The id of the last entry on the previous page. `None` selects the first page.
    pub(super) cursor: Option<Id>,
}

impl<Id: FromStr<Err: Display>> PageChoice<Id> {
    /// Reads the members `limit` and `cursor`.
    pub(super) fn read_members(fields: &mut Fields) -> Result<Self, Refusal> {
        let limit = fields.optional_number("limit", LIMITS)?.unwrap_or(LIMIT_DEFAULT);
        Ok(Self { limit, cursor: fields.optional_parsed("cursor", str::parse)? })
    }
}

/// One page of a list, newest entries first.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "{T}Page")]
pub(super) struct Page<T> {
    /// The entries, newest first.
    pub(super) entries: Vec<T>,
    /// The `cursor` for the request of the next page. `null` on the last page.
    pub(super) next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// Creates the response. `id` returns the id of the last entry, which becomes the cursor of the next page.
    pub(super) fn new(page: ListPage<T>, id: impl FnOnce(&T) -> String) -> Self {
        let ListPage { entries, more } = page;
        let next_cursor = entries.last().filter(|_| more).map(id);
        Self { entries, next_cursor }
    }
}

pub(super) const LIMITS: RangeInclusive<u32> = 1..=1_000;
pub(super) const LIMIT_DEFAULT: u32 = 100;

/// Implements [`Member`] for types that are parsed from a string.
macro_rules! parsed_members {
    ($($type:ty: $parse:expr;)+) => {$(
        impl Member for $type {
            const IS_REQUIRED: bool = true;

            fn read(fields: &mut Fields, field: &'static str) -> Result<Self, Refusal> {
                let value = fields.optional_parsed(field, $parse)?;
                value.ok_or_else(|| fields.missing(field, &[]))
            }
        }
    )+};
}

parsed_members! {
    AccountId: str::parse;
    ApiKeyId: str::parse;
    BadgeId: str::parse;
    CheckName: CheckName::parse;
    PartnerId: PartnerId::parse;
    Score: str::parse;
    WebhookId: str::parse;
}

impl Member for Option<Timestamp> {
    const IS_REQUIRED: bool = false;

    fn read(fields: &mut Fields, field: &'static str) -> Result<Self, Refusal> {
        fields.optional_parsed(field, str::parse)
    }
}
