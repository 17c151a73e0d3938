//! Streams of the entries of long lists. A stream loads the next page when its consumer reaches the end of a page.

use std::sync::Arc;

use futures_util::{
    TryStreamExt as _,
    stream::{self, BoxStream, StreamExt as _},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{error::ClientError, request::ApiRequest, transport::Transport};

/// A stream of all entries of a list. It ends after the first error.
pub type Pages<T> = BoxStream<'static, Result<T, ClientError>>;

/// One page of a list.
pub(crate) trait Page: DeserializeOwned + Send {
    type Entry;

    /// Returns the entries, and the cursor of the next page. The cursor is `None` on the last page.
    fn into_parts(self) -> (Vec<Self::Entry>, Option<String>);
}

/// Returns a stream of the entries of all pages. `body` is the request for the first page.
pub(crate) fn pages<P: Page + 'static>(
    transport: &Arc<Transport>,
    path: &'static str,
    body: Value,
) -> Pages<P::Entry>
where
    P::Entry: Send,
{
    let transport = Arc::clone(transport);
    let next = stream::try_unfold(Some(body), move |body| {
        let transport = Arc::clone(&transport);
        async move {
            let Some(mut body) = body else { return Ok(None) };
            let page: P = transport.call(&ApiRequest::post(path, &body)?).await?;
            let (entries, cursor) = page.into_parts();
            let next = cursor.zip(body.as_object_mut()).map(|(cursor, members)| {
                members.insert("cursor".to_owned(), cursor.into());
            });
            let next = next.map(|()| body);
            Ok(Some((stream::iter(entries.into_iter().map(Ok)), next)))
        }
    });
    next.try_flatten().boxed()
}
