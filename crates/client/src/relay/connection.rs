//! One WebSocket connection of a relay, over which the deliveries of a webhook arrive.

use std::{fmt, time::Duration};

use futures_util::{SinkExt as _, StreamExt as _};
use reqwest::{Upgraded, header::SEC_WEBSOCKET_ACCEPT};
use sealpost_domain::WebhookId;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error as SocketError, Message,
        handshake::{client::generate_key, derive_accept_key},
        protocol::{CloseFrame, Role, WebSocketConfig, frame::coding::CloseCode},
    },
};

use super::frames::{RelayResponse, RelayedRequest, ResponseFrame};
use crate::{
    client::Client,
    error::ClientError,
    request::{ApiRequest, RELAY},
    transport::unreachable,
};

/// One connection of a relay, for programs that respond to deliveries themselves. Unlike a [`Relay`](super::Relay),
/// this type does not reconnect.
pub struct RelayConnection {
    socket: WebSocketStream<Upgraded>,
    /// Time at which the last frame arrived.
    heard_at: Instant,
}

impl Client {
    /// Opens one connection to a webhook with the URL `relay:`. If the connection is dropped, the service repeats the
    /// deliveries to which the program has not responded.
    pub async fn open_relay(&self, webhook_id: WebhookId) -> Result<RelayConnection, ClientError> {
        let key = generate_key();
        let accepted = derive_accept_key(key.as_bytes());
        let request = ApiRequest {
            query: Some(format!("webhook_id={webhook_id}")),
            needs_credentials: true,
            websocket_key: Some(key),
            ..ApiRequest::get(RELAY)
        };
        let response = self.transport.attempt(&request).await?;
        if response.headers().get(SEC_WEBSOCKET_ACCEPT).is_none_or(|value| *value != *accepted) {
            let (path, status) = (RELAY.to_owned(), response.status().as_u16());
            return Err(ClientError::NotSealpost { path, status, retry_after: None });
        }
        let upgraded = response.upgrade().await.map_err(|source| unreachable(RELAY, source))?;
        let limits = WebSocketConfig::default()
            .max_message_size(Some(FRAME_BYTES_MAX))
            .max_frame_size(Some(FRAME_BYTES_MAX));
        let socket = WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(limits)).await;
        Ok(RelayConnection { socket, heard_at: Instant::now() })
    }
}

impl RelayConnection {
    /// Returns the next delivery. Fails if the connection has ended, or if no frame has arrived for a minute. If the
    /// returned future is dropped, no delivery is lost.
    pub async fn next(&mut self) -> Result<RelayedRequest, ClientError> {
        loop {
            let message = timeout_at(self.heard_at + SILENCE_MAX, self.socket.next()).await;
            let Ok(message) = message else { return Err(broken("the service was silent")) };
            self.heard_at = Instant::now();
            match message {
                Some(Ok(Message::Text(text))) => {
                    // Skips frames of other kinds, which newer services may send.
                    if let Ok(request) = serde_json::from_str(&text) {
                        return Ok(request);
                    }
                }
                Some(Ok(Message::Close(frame))) => return Err(closed(frame)),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(broken(error)),
                None => return Err(broken(SocketError::ConnectionClosed)),
            }
        }
    }

    /// Sends the response to a delivery of this connection, with the first 1,024 characters of its body.
    pub async fn respond(
        &mut self,
        request: &RelayedRequest,
        response: &RelayResponse,
    ) -> Result<(), ClientError> {
        self.send(&request.id, response).await
    }

    pub(super) async fn send(
        &mut self,
        delivery: &str,
        response: &RelayResponse,
    ) -> Result<(), ClientError> {
        // Sends only the beginning of the body. The log of the service keeps 1,024 bytes, and the service refuses
        // frames above 64 KiB.
        let body = response.body.as_ref().map(|body| body.chars().take(EXCERPT_MAX).collect());
        let RelayResponse { status, retry_after, .. } = *response;
        let response = &RelayResponse { status, retry_after, body };
        let frame = serde_json::to_string(&ResponseFrame { delivery, response });
        let frame = frame.map_err(|source| ClientError::Build(source.into()))?;
        match timeout(SILENCE_MAX, self.socket.send(frame.into())).await {
            Ok(sent) => sent.map_err(broken),
            Err(_elapsed) => Err(broken("the service does not read responses")),
        }
    }

    /// Closes the connection. The service attempts unanswered deliveries again, over other connections.
    pub async fn close(mut self) {
        let frame = CloseFrame { code: CloseCode::Normal, reason: "".into() };
        let ended = async {
            // Ignores an error, which means that the connection has ended already.
            if self.socket.close(Some(frame)).await.is_ok() {
                while let Some(Ok(message)) = self.socket.next().await {
                    if message.is_close() {
                        break;
                    }
                }
            }
        };
        timeout(CLOSE_MAX, ended).await.ok();
    }
}

impl fmt::Debug for RelayConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelayConnection").finish_non_exhaustive()
    }
}

fn closed(frame: Option<CloseFrame>) -> ClientError {
    let Some(CloseFrame { code, reason }) = frame else { return broken("no reason was given") };
    ClientError::RelayClosed { code: Some(code.into()), reason: reason.as_str().to_owned() }
}

fn broken(fault: impl fmt::Display) -> ClientError {
    ClientError::RelayClosed { code: None, reason: fault.to_string() }
}

/// Maximum length of a frame in bytes. The largest delivery has a body of less than 20,000 bytes, and a few headers.
const FRAME_BYTES_MAX: usize = 256 * 1024;
/// Maximum number of characters of a response body that are sent.
const EXCERPT_MAX: usize = 1024;
/// Time without a frame from the service after which the connection is treated as lost. The service pings every 20
/// seconds. Also the maximum time to send a response.
const SILENCE_MAX: Duration = Duration::from_mins(1);
/// Maximum time that the service may take to confirm the end of a connection.
const CLOSE_MAX: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_silent_connection_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let service = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            tokio_tungstenite::accept_async(stream).await.unwrap()
        });
        let client = Client::builder(&url).token("kt_1").build().unwrap();
        let webhook_id = "wh_01h455vb4pex5vsknk084sn02q".parse().unwrap();
        let mut connection = client.open_relay(webhook_id).await.unwrap();
        let _socket = service.await.unwrap();
        connection.heard_at = Instant::now().checked_sub(SILENCE_MAX).unwrap();
        let ended = connection.next().await.unwrap_err();
        assert!(
            matches!(ended, ClientError::RelayClosed { code: None, reason } if reason.contains("silent"))
        );
    }
}
