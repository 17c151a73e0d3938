//! The receiver of a relay: a WebSocket client.

use std::{
    io,
    net::TcpStream,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tungstenite::{
    Error, HandshakeError, Message, WebSocket,
    client::IntoClientRequest as _,
    http::HeaderValue,
    protocol::frame::{
        Frame,
        coding::{Data, OpCode},
    },
};
use ureq::http::{HeaderMap, HeaderName};

use super::{Identity, Server, WebhookRequest, connect};

/// A connection to a relay.
pub(crate) struct Socket(WebSocket<TcpStream>);

impl Socket {
    /// Connects to a relay of this identity.
    #[track_caller]
    pub(crate) fn open(server: &Server, identity: &Identity, webhook: &str) -> Self {
        let opened = Self::try_open(server, &identity.token, Some(&identity.key), webhook);
        opened.unwrap_or_else(|status| panic!("refused with {status}"))
    }

    /// Connects with a token and a key. Fails with the status of the refusal.
    pub(crate) fn try_open(
        server: &Server,
        token: &str,
        key: Option<&str>,
        webhook: &str,
    ) -> Result<Self, u16> {
        let url = server.client().url();
        let uri = format!("{}/v1/webhooks/relay?webhook_id={webhook}", url.replace("http", "ws"));
        let mut request = uri.into_client_request().unwrap();
        let headers = request.headers_mut();
        headers.insert("authorization", HeaderValue::try_from(format!("Bearer {token}")).unwrap());
        if let Some(key) = key {
            headers.insert("x-did-api-key", HeaderValue::try_from(key).unwrap());
        }
        match tungstenite::client(request, connect(url)) {
            Ok((socket, response)) => {
                assert!(response.headers().contains_key("ratelimit"));
                Ok(Self(socket))
            }
            Err(HandshakeError::Failure(Error::Http(response))) => Err(response.status().as_u16()),
            Err(error) => panic!("no handshake: {error}"),
        }
    }

    /// Returns the id of the next delivery, and its request. Fails with the close code and reason if the server closes
    /// the connection. Answers pings.
    pub(crate) fn next(&mut self) -> Result<(String, WebhookRequest), (u16, String)> {
        let frame: Value = serde_json::from_str(&self.text()?).unwrap();
        let headers = frame["headers"].as_object().unwrap().iter().map(|(name, value)| {
            let value = HeaderValue::try_from(value.as_str().unwrap()).unwrap();
            (HeaderName::try_from(name.as_str()).unwrap(), value)
        });
        let request = WebhookRequest {
            path: String::new(),
            headers: headers.collect::<HeaderMap>(),
            body: frame["body"].as_str().unwrap().as_bytes().to_vec(),
            has_response: false,
            at: Instant::now(),
        };
        Ok((frame["delivery"].as_str().unwrap().to_owned(), request))
    }

    /// Returns the next delivery, and answers it with 204.
    #[track_caller]
    pub(crate) fn accept(&mut self) -> WebhookRequest {
        let (delivery, request) = self.next().unwrap();
        self.answer(&delivery, 204);
        request
    }

    pub(crate) fn answer(&mut self, delivery: &str, status: u16) {
        self.send(&json!({"delivery": delivery, "status": status}).to_string());
    }

    pub(crate) fn send(&mut self, text: &str) {
        self.0.send(Message::text(text)).unwrap();
    }

    /// Sends a text in fragments of a hundred bytes (RFC 6455, section 5.4).
    pub(crate) fn send_in_fragments(&mut self, text: &str) {
        let mut fragments = text.as_bytes().chunks(100).peekable();
        let mut kind = OpCode::Data(Data::Text);
        while let Some(fragment) = fragments.next() {
            let frame = Frame::message(fragment.to_vec(), kind, fragments.peek().is_none());
            self.0.send(Message::Frame(frame)).unwrap();
            kind = OpCode::Data(Data::Continue);
        }
    }

    /// Returns true if no delivery arrives within this time.
    pub(crate) fn is_silent_for(&mut self, time: Duration) -> bool {
        self.0.get_ref().set_read_timeout(Some(time)).unwrap();
        let until = Instant::now() + time;
        let is_silent = loop {
            match self.0.read() {
                Ok(Message::Ping(_)) if Instant::now() < until => {}
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => break true,
                _ => break Instant::now() >= until,
            }
        };
        self.0.get_ref().set_read_timeout(Some(READ_TIMEOUT)).unwrap();
        is_silent
    }

    /// Waits until the server closes the connection. Returns the close code and the reason.
    #[track_caller]
    pub(crate) fn closed(&mut self) -> (u16, String) {
        self.text().expect_err("the connection closes")
    }

    /// Waits for the end of the connection after its close frame. Returns the time until this end.
    #[track_caller]
    pub(crate) fn time_to_end(&mut self) -> Duration {
        let started = Instant::now();
        let read = self.0.read();
        assert!(matches!(read, Err(Error::ConnectionClosed)), "{read:?}");
        started.elapsed()
    }

    /// Closes the connection as the receiver, and waits for the close frame of the server.
    #[track_caller]
    pub(crate) fn close(&mut self) -> (u16, String) {
        self.0.close(None).unwrap();
        self.closed()
    }

    fn text(&mut self) -> Result<String, (u16, String)> {
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => return Ok(text.to_string()),
                Ok(Message::Close(frame)) => {
                    let frame = frame.map(|it| (u16::from(it.code), it.reason.to_string()));
                    return Err(frame.unwrap_or_default());
                }
                Ok(_) => {}
                Err(error) => return Err((0, error.to_string())),
            }
        }
    }
}

const READ_TIMEOUT: Duration = Duration::from_secs(30);
