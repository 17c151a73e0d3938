//! The live stream of an event log: server-sent events (WHATWG HTML, section 9.2) with each new entry as HTML.
//!
//! A stream polls every two seconds and holds no thread between polls. Each poll checks the session again.

mod stream_position;

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{self, HeaderName},
    rt::time::sleep,
    web::{self, Bytes},
};
use askama::Template;
use sealpost_domain::{AttemptNumber, Timestamp, WebhookStatus};
use sealpost_service::{EventLogCursor, EventLogEntry};

use self::stream_position::StreamPosition;
use super::{
    events::{ENTRIES_PER_PAGE, EventsQuery},
    logged_event::LoggedDelivery,
    scope::{Scope, tab_of},
};
use crate::{
    dashboard::{
        live::{LiveStream, StreamEnd},
        session::SignedInUser,
        text::{ago, attempt_result, handle_of, name_of, url_parts, why_no_attempt},
    },
    html::{
        PageResponse,
        text::{short_id, thousands},
    },
};

#[derive(Template)]
#[template(path = "dashboard/log_event.html")]
struct LogEvent<'a> {
    base: &'a str,
    now: Timestamp,
    scope: &'a Scope,
    event: [LoggedDelivery; 1],
    with_webhook: bool,
}

/// The state of a stream between two polls.
struct Follower {
    user: SignedInUser,
    stream: LiveStream,
    scope: Scope,
    query: EventsQuery,
    opened_at: Instant,
    position: StreamPosition,
    has_polled: bool,
    is_over: bool,
}

/// Opens the live stream of the event log of the account, or of the identity in the path.
pub(crate) async fn follow(
    user: SignedInUser,
    query: web::Query<EventsQuery>,
    request: HttpRequest,
) -> Result<HttpResponse, PageResponse> {
    if !query.begins_with_newest_attempt() {
        return Err(PageResponse::not_found(user.frame()));
    }
    let scope = Scope::load(&user, tab_of(&request), &query.identity).await?;
    let stream = user.app.live.open(user.account_id(), user.source.address);
    let stream = stream.ok_or_else(|| PageResponse::live_limit(user.frame()))?;
    // A browser sends this header when it opens the stream again after a lost connection.
    let last_event_id = request.headers().get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
    let follower = Follower {
        scope,
        position: StreamPosition::after(query.newest_shown(last_event_id)),
        query: query.into_inner(),
        opened_at: Instant::now(),
        user,
        stream,
        has_polled: false,
        is_over: false,
    };
    let chunks = futures_util::stream::unfold(follower, async |mut follower| {
        let chunk = follower.next().await?;
        Some((Ok::<_, actix_web::Error>(Bytes::from(chunk)), follower))
    });
    Ok(HttpResponse::Ok()
        .content_type("text/event-stream")
        .insert_header((header::CACHE_CONTROL, "no-store"))
        // Turns off the buffering of proxies such as nginx, which would delay the events.
        .insert_header(("x-accel-buffering", "no"))
        .streaming(chunks))
}

impl Follower {
    /// Waits for new entries, and returns them as text of the stream. After ten seconds without an entry, returns a
    /// comment line, which browsers ignore, to keep the connection alive. Returns `None` at the end of the stream.
    async fn next(&mut self) -> Option<String> {
        let mut quiet = Duration::ZERO;
        loop {
            if self.is_over {
                return None;
            }
            if self.has_polled {
                tokio::select! {
                    end = self.stream.ended() => match end {
                        StreamEnd::NodeStops => return None,
                        StreamEnd::Replaced => {
                            self.is_over = true;
                            return Some(end_of("Your account follows newer logs instead."));
                        }
                        StreamEnd::Yielded => {
                            self.is_over = true;
                            return Some(end_of("The service is busy: another account follows a log instead."));
                        }
                    },
                    () = sleep(POLL_PERIOD) => quiet += POLL_PERIOD,
                }
            }
            if self.opened_at.elapsed() >= STREAM_TIME_MAX {
                return None;
            }
            let chunk = self.poll().await;
            if !chunk.is_empty() {
                return Some(chunk);
            }
            if quiet >= HEARTBEAT_PERIOD {
                return Some(": no new attempt\n\n".to_owned());
            }
        }
    }

    /// Reads the log once. Returns the new entries as text of the stream, oldest first. The text is empty if there are
    /// no new entries. If the log cannot be read, returns the last event of the stream.
    async fn poll(&mut self) -> String {
        let (list, key) = (self.query.list(), self.scope.key());
        let read = self.user.ask(async |owner| owner.events(key.as_ref(), list).await);
        let Ok(log) = self.stream.poll(read).await else {
            self.is_over = true;
            return end_of("The log cannot be read. The session may have ended.");
        };
        let end = match log.next {
            Some(EventLogCursor::Attempt(number)) => Some(number),
            Some(EventLogCursor::Event(_)) | None => None,
        };
        let read: BTreeSet<_> = log.entries.iter().filter_map(|entry| entry.number).collect();
        let newest = self.position.newest();
        let new = self.position.advance(read, end);
        let mut text = String::new();
        if !self.has_polled {
            text.push_str("retry: 3000\n\n");
        }
        // If all attempts that this poll read are new, attempts between this poll and the previous one may be missing.
        if new.len() >= usize::from(ENTRIES_PER_PAGE) {
            text.push_str("event: gap\ndata: Some attempts are not listed.\n\n");
        }
        for entry in log.entries.into_iter().rev() {
            if let Some(number) = entry.number.filter(|number| new.contains(number)) {
                text.push_str(&self.event_of(entry, number.max(newest)));
            }
        }
        self.has_polled = true;
        text
    }

    /// Returns the server-sent event with the HTML of an entry. The id of the event is `newest`: the newest attempt
    /// that the browser shows after this event. A browser sends this id when it opens the stream again.
    fn event_of(&self, entry: EventLogEntry, newest: AttemptNumber) -> String {
        let (base, now) = (self.user.base(), self.user.app.api.clock.now());
        let (scope, with_webhook) = (&self.scope, true);
        let event = [LoggedDelivery::new(entry)];
        let html = LogEvent { base, now, scope, event, with_webhook }.render();
        let mut text = format!("event: entry\nid: {}\n", newest.0);
        // Rendering writes into memory, so it does not fail.
        for line in html.unwrap_or_default().lines() {
            text.push_str("data: ");
            text.push_str(line);
            text.push('\n');
        }
        text.push('\n');
        text
    }
}

/// Returns the last event of a stream. The page shows the text.
fn end_of(text: &str) -> String {
    format!("event: end\ndata: {text}\n\n")
}

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const POLL_PERIOD: Duration = Duration::from_secs(2);
const HEARTBEAT_PERIOD: Duration = Duration::from_secs(10);
/// The time after which a stream ends. The browser then opens a new stream, whose limits are checked again.
const STREAM_TIME_MAX: Duration = Duration::from_mins(10);
