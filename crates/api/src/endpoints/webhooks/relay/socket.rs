//! Serves one WebSocket of a relay, a webhook whose receiver connects to the service. Sends deliveries to the receiver,
//! and reads the answers of the receiver.

use std::{mem, sync::LazyLock, time::Duration};

use actix_web::{
    rt::time::{Instant, Interval, interval_at, timeout},
    web,
};
use actix_ws::{CloseCode, CloseReason, Item, Message, MessageStream, ProtocolError, Session};
use futures_util::StreamExt as _;
use sealpost_domain::ports::{RelayEnd, RelayMessage};
use sealpost_service::Relay;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::frames;
use crate::{connection_record::ConnectionRecord, state::ApiState};

/// The WebSocket of a relay, after the handshake.
pub(super) struct Socket {
    pub(super) app: web::Data<ApiState>,
    pub(super) relay: Relay,
    pub(super) session: Session,
    pub(super) messages: MessageStream,
    pub(super) connection: ConnectionRecord,
}

/// The fragments of a text message that is not complete yet (RFC 6455, section 5.4).
#[derive(Default)]
struct Fragments(Vec<u8>);

impl Fragments {
    /// Adds a fragment. Returns the message after its last fragment. Fails if the message is not text, or too large.
    fn add(&mut self, part: Item) -> Result<Option<String>, CloseReason> {
        let (bytes, is_last) = match part {
            Item::FirstText(bytes) | Item::Continue(bytes) => (bytes, false),
            Item::Last(bytes) => (bytes, true),
            Item::FirstBinary(_) => return Err(close(CloseCode::Unsupported, TEXT_ONLY)),
        };
        if self.0.len().saturating_add(bytes.len()) > MESSAGE_BYTES_MAX {
            return Err(close(CloseCode::Size, TOO_LARGE));
        }
        self.0.extend_from_slice(&bytes);
        if !is_last {
            return Ok(None);
        }
        let text = String::from_utf8(mem::take(&mut self.0));
        text.map(Some).map_err(|_invalid| close(CloseCode::Invalid, NO_ANSWER))
    }
}

impl Socket {
    /// Serves the socket until one side closes it. Afterwards, unanswered deliveries are attempted again.
    pub(super) async fn serve(mut self) {
        // The channel stays short, because the dispatcher limits the unanswered deliveries of a connection.
        let (sender, outgoing) = unbounded_channel();
        let link = move |message| drop(sender.send(message));
        let app = self.app.clone();
        let relay = self.relay;
        let reason = if app.sealpost.webhooks.attach_relay(relay, Box::new(link)) {
            self.exchange(outgoing).await
        } else {
            Some(reason(RelayEnd::Stopping))
        };
        // Releases the unanswered deliveries before the socket is closed, because closing can take long.
        app.sealpost.webhooks.end_relay(relay.id).await;
        drop(timeout(SILENCE_MAX, self.session.close(reason)).await);
    }

    /// Exchanges frames until one side ends the connection. Returns the reason to send to the receiver. Returns `None`
    /// if the connection is broken, or if the receiver closed it without a reason.
    async fn exchange(
        &mut self,
        mut outgoing: UnboundedReceiver<RelayMessage>,
    ) -> Option<CloseReason> {
        let mut ping = pings();
        let mut heard_at = Instant::now();
        let mut unasked = 0_u32;
        let mut fragments = Fragments::default();
        loop {
            tokio::select! {
                sent = outgoing.recv() => match sent? {
                    RelayMessage::Close(end) => return Some(reason(end)),
                    RelayMessage::Delivery(frame) => {
                        let sent = self.session.text(frames::render(*frame));
                        timeout(SILENCE_MAX, sent).await.ok()?.ok()?;
                    }
                },
                received = self.messages.next() => {
                    self.connection.consume_body();
                    heard_at = Instant::now();
                    let text = match received? {
                        Ok(Message::Text(text)) => Some(text.into()),
                        Ok(Message::Continuation(part)) => match fragments.add(part) {
                            Ok(whole) => whole,
                            Err(reason) => return Some(reason),
                        },
                        Ok(Message::Ping(bytes)) => {
                            unasked += 1;
                            timeout(SILENCE_MAX, self.session.pong(&bytes)).await.ok()?.ok()?;
                            None
                        }
                        Ok(Message::Pong(_) | Message::Nop) => {
                            unasked += 1;
                            None
                        }
                        Ok(Message::Close(reason)) => return reason,
                        Ok(Message::Binary(_)) => {
                            return Some(close(CloseCode::Unsupported, TEXT_ONLY));
                        }
                        Err(ProtocolError::Overflow) => {
                            return Some(close(CloseCode::Size, TOO_LARGE));
                        }
                        Err(_malformed) => return Some(close(CloseCode::Protocol, MALFORMED)),
                    };
                    if let Some(text) = text {
                        let Some(answer) = frames::parse(&text) else {
                            return Some(close(CloseCode::Invalid, NO_ANSWER));
                        };
                        if !self.app.sealpost.webhooks.answer_relay(self.relay.id, answer) {
                            unasked += 1;
                        }
                    }
                    if unasked > UNASKED_MAX {
                        return Some(close(CloseCode::Policy, FLOOD));
                    }
                }
                _ = ping.tick() => {
                    if heard_at.elapsed() >= SILENCE_MAX {
                        return Some(close(CloseCode::Policy, SILENT));
                    }
                    unasked = 0;
                    timeout(SILENCE_MAX, self.session.ping(b"")).await.ok()?.ok()?;
                }
            }
        }
    }
}

/// Returns the interval of the pings. Connections that opened in the same [`PING_SLOT`] get the same ticks, so that a
/// thread wakes up once for many pings.
fn pings() -> Interval {
    static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);
    let since = EPOCH.elapsed().div_duration_f64(PING_SLOT).ceil();
    interval_at(*EPOCH + PING_SLOT.mul_f64(since), PING_INTERVAL)
}

fn reason(end: RelayEnd) -> CloseReason {
    let code = match end {
        RelayEnd::Forgotten | RelayEnd::Stopping | RelayEnd::Yielded => CloseCode::Away,
        _ => CloseCode::Policy,
    };
    close(code, end.as_str())
}

fn close(code: CloseCode, description: &str) -> CloseReason {
    CloseReason { code, description: Some(description.to_owned()) }
}

const PING_INTERVAL: Duration = Duration::from_secs(20);
/// Length of a time slot. The pings of a connection start at the end of the slot in which it opened, so connections of
/// the same slot are pinged at the same time.
const PING_SLOT: Duration = Duration::from_millis(500);
/// Time without a received frame after which a connection is closed. Checked before each ping. Also the maximum time to
/// send a frame.
const SILENCE_MAX: Duration = Duration::from_mins(1);
/// Maximum number of frames from the receiver between two pings of the server. Answers to deliveries do not count.
const UNASKED_MAX: u32 = 1_000;
/// Maximum length in bytes of a message, in one frame or in several. The WebSocket library has the same limit for a
/// frame. A connection with a longer frame may stay open until the next ping: the library checks only whole frames, and
/// the HTTP server does not read the whole frame before a ping.
const MESSAGE_BYTES_MAX: usize = 65_536;

const FLOOD: &str = "too many frames that answer no delivery";
const MALFORMED: &str = "a frame is malformed";
const NO_ANSWER: &str = "a frame is no answer: send {\"delivery\": \"…\", \"status\": …}";
/// Reason for closing the connection of a silent receiver, which may connect again. Clients recognise it by the word
/// "silent", because reasons that forbid another connection have the same close code.
const SILENT: &str = "the receiver was silent for 60 seconds";
const TEXT_ONLY: &str = "send text frames";
const TOO_LARGE: &str = "a message has more than 65,536 bytes: shorten the body of the answer";
