//! Passes a notice on to the developer's application, unchanged, and brings its answer back.

use std::time::{Duration, Instant};

use actix_web::{
    http::{
        StatusCode, Uri,
        header::{self, HeaderMap, HeaderName, HeaderValue},
    },
    web::{Bytes, BytesMut},
};
use awc::{Client, ClientResponse, error::SendRequestError};
use futures_util::StreamExt as _;
use tokio::time::timeout;

/// The way to the application.
pub(crate) struct Forwarder {
    client: Client,
    url: Uri,
    within: Duration,
}

/// What came of it. Where the application gave no answer, 502 or 504 is said in its place.
#[derive(Debug)]
pub struct Forwarded {
    /// The status that the sender gets.
    pub status: StatusCode,
    /// Of its answer, what concerns the sender.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Bytes,
    /// Why there was no answer.
    pub fault: Option<&'static str>,
    /// Time from the request to the end of the response.
    pub took: Duration,
}

impl Forwarder {
    pub(crate) fn new(url: Uri, within: Duration) -> Self {
        let client =
            Client::builder().disable_redirects().disable_timeout().no_default_headers().finish();
        Self { client, url, within }
    }

    /// Sends the very bytes, with every header but those that belong to one connection.
    pub(crate) async fn pass_on(&self, headers: &HeaderMap, body: Bytes) -> Forwarded {
        let began = Instant::now();
        let mut request = self.client.post(self.url.clone());
        for (name, value) in headers.iter().filter(|(name, _)| !is_of_one_connection(name)) {
            request.headers_mut().append(name.clone(), value.clone());
        }
        let answered = timeout(self.within, async {
            match request.send_body(body).await {
                Ok(answer) => Ok(read(answer).await),
                Err(error) => Err(fault(&error)),
            }
        });
        let mut forwarded = match answered.await {
            Ok(Ok(answered)) => answered,
            Ok(Err((status, fault))) => Forwarded::without_answer(status, fault),
            Err(_late) => Forwarded::without_answer(StatusCode::GATEWAY_TIMEOUT, LATE),
        };
        forwarded.took = began.elapsed();
        forwarded
    }
}

impl Forwarded {
    fn without_answer(status: StatusCode, fault: &'static str) -> Self {
        let body = Bytes::from(format!("sealpost listen: {fault}\n"));
        Self { status, headers: Vec::new(), body, fault: Some(fault), took: Duration::ZERO }
    }
}

/// No more of the body than the service reads of any answer.
async fn read<S>(mut answer: ClientResponse<S>) -> Forwarded
where
    S: futures_util::Stream<Item = Result<Bytes, awc::error::PayloadError>> + Unpin,
{
    let headers = [header::CONTENT_TYPE, header::RETRY_AFTER]
        .into_iter()
        .filter_map(|name| answer.headers().get(&name).cloned().map(|value| (name, value)))
        .collect();
    let mut body = BytesMut::new();
    while let Some(Ok(chunk)) = answer.next().await {
        let room = ANSWER_BYTES_MAX.saturating_sub(body.len());
        body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
        if body.len() >= ANSWER_BYTES_MAX {
            break;
        }
    }
    let status = answer.status();
    Forwarded { status, headers, body: body.freeze(), fault: None, took: Duration::ZERO }
}

fn fault(error: &SendRequestError) -> (StatusCode, &'static str) {
    match error {
        SendRequestError::Timeout => (StatusCode::GATEWAY_TIMEOUT, LATE),
        SendRequestError::Connect(_) => {
            (StatusCode::BAD_GATEWAY, "nothing answers at --forward-to; is the application up?")
        }
        _ => (StatusCode::BAD_GATEWAY, "what answers at --forward-to does not speak HTTP"),
    }
}

fn is_of_one_connection(name: &HeaderName) -> bool {
    [
        header::CONNECTION,
        header::CONTENT_LENGTH,
        header::EXPECT,
        header::HOST,
        header::PROXY_AUTHORIZATION,
        header::TE,
        header::TRAILER,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
    ]
    .contains(name)
        || name.as_str() == "keep-alive"
}

const ANSWER_BYTES_MAX: usize = 16_384;
const LATE: &str = "the application did not answer in time";
