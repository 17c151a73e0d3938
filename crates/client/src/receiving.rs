//! Receives events and opens their envelopes.

#[cfg(feature = "actix")]
pub mod actix;
#[cfg(feature = "axum")]
pub mod axum;
mod receiver;
mod seen;

pub use receiver::{ReceivedEvent, Receiver};
pub use seen::SeenEvents;

/// Maximum length of the body of a webhook request. The largest event has less than 20,000 bytes.
#[cfg(any(feature = "actix", feature = "axum"))]
const BODY_BYTES_MAX: usize = 64 * 1024;

/// Returns the status of the response to a webhook request. Logs the reason for status 500.
#[cfg(any(feature = "actix", feature = "axum"))]
async fn status_of<'a>(
    receiver: &Receiver,
    headers: impl Iterator<Item = (&'a str, &'a [u8])>,
    body: &[u8],
) -> u16 {
    let headers = headers.filter_map(|(name, value)| Some((name, str::from_utf8(value).ok()?)));
    let status = receiver.receive(&headers.collect(), body).await;
    status.unwrap_or_else(|error| {
        tracing::error!(error = &*error, "an event was not processed");
        500
    })
}
