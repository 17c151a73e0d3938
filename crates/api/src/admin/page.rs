//! Pagination of lists: the length of a page, and the response with a page.

use schemars::JsonSchema;
use sealpost_service::ListPage;
use serde::Serialize;

use crate::request::NumberUpTo;

/// The maximum number of entries in a response.
pub(super) type PageLimit = NumberUpTo<1_000, 100>;

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
