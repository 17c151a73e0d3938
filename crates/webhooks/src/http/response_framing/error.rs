//! The reasons why the bytes of a receiver are not a valid response. The owner of the webhook can read their texts.

/// The reason why the bytes of a receiver are not a valid response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ResponseError {
    #[error("the chunked body of the response is malformed")]
    Chunk,
    #[error("the connection ended before the response")]
    Cut,
    #[error("the response has an invalid Content-Length, or several that differ")]
    Length,
    #[error("the head of the response is malformed: {0}")]
    Malformed(httparse::Error),
    #[error("the response does not begin with HTTP/1.")]
    NotHttp,
    #[error("the status {0} of the response is invalid")]
    Status(u16),
    #[error("the response switches protocols (status 101), which the request did not ask for")]
    Switch,
    #[error("the heads of the response exceed 64 KiB or 94 fields")]
    TooLarge,
}
