//! Streams of the entries of long lists. A stream loads the next page when its consumer reaches the end of a page.

use std::sync::Arc;

use futures_util::{
    TryStreamExt as _,
    stream::{self, BoxStream, StreamExt as _},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{error::ClientError, transport::Transport};

/// A stream of all entries of a list. The stream ends after the first error.
pub type Pages<T> = BoxStream<'static, Result<T, ClientError>>;

/// One page of a list. The lists of the API have different names for the member with the entries, so the field has an
/// alias for each name.
#[derive(Deserialize)]
struct Page<T> {
    #[serde(alias = "deliveries", alias = "envelopes")]
    entries: Vec<T>,
    /// The cursor of the next page. `None` on the last page.
    next_cursor: Option<String>,
}

/// Returns a stream of the entries of all pages. `body` is the request for the first page.
pub(crate) fn pages<T: DeserializeOwned + Send + 'static>(
    transport: &Arc<Transport>,
    path: &'static str,
    body: Value,
) -> Pages<T> {
    let transport = Arc::clone(transport);
    let next = stream::try_unfold(Some(body), move |body| {
        let transport = Arc::clone(&transport);
        async move {
            let Some(mut body) = body else { return Ok(None) };
            let page: Page<T> = transport.post(path, &body).await?;
            let next = page.next_cursor.zip(body.as_object_mut()).map(|(cursor, members)| {
                members.insert("cursor".to_owned(), cursor.into());
            });
            let next = next.map(|()| body);
            Ok(Some((stream::iter(page.entries.into_iter().map(Ok)), next)))
        }
    });
    next.try_flatten().boxed()
}
