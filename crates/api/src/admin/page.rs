//! Pagination of lists: the request members that select a page, and the response with a page.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr};

use schemars::JsonSchema;
use sealpost_domain::Refusal;
use sealpost_service::ListPage;
use serde::Serialize;

use crate::request::{Fields, invalid};

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
        Ok(Self { limit, cursor: parsed(fields, "cursor")? })
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

/// Reads an optional member of the body, and parses its text as `T`.
pub(super) fn parsed<T: FromStr<Err: Display>>(
    fields: &mut Fields,
    field: &'static str,
) -> Result<Option<T>, Refusal> {
    let text = fields.optional_text(field)?;
    let value = text.map(|text| text.parse::<T>()).transpose();
    value.map_err(|fault| invalid(field, fault.to_string()))
}

/// Reads a required member of the body, and parses its text as `T`.
pub(super) fn parsed_required<T: FromStr<Err: Display>>(
    fields: &mut Fields,
    field: &'static str,
) -> Result<T, Refusal> {
    parsed(fields, field)?.ok_or_else(|| fields.missing(field, &[]))
}

pub(super) const LIMITS: RangeInclusive<u32> = 1..=1_000;
pub(super) const LIMIT_DEFAULT: u32 = 100;
