//! The live stream of an event log: server-sent events (WHATWG HTML, section 9.2) with each new entry as HTML.
//!
//! A stream polls every two seconds and holds no thread between polls. Each poll checks the session again.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
    rt::time::sleep,
    web::{self, Bytes},
};
use askama::Template;
use sealpost_domain::{Timestamp, WebhookStatus};
use sealpost_service::EventLogEntry;

use super::{
    events::{ENTRIES_PER_PAGE, EventsQuery},
    logged_event::LoggedDelivery,
    scope::Scope,
};
use crate::dashboard::{
    live::{LiveStream, StreamEnd},
    response::PageResponse,
    session::SignedInUser,
    text::{
        ago, attempt_result, handle_of, name_of, short_id, thousands, url_parts, why_no_attempt,
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
    /// The ids of the entries that the previous poll returned. `None` before the first poll.
    seen: Option<HashSet<EntryId>>,
    is_over: bool,
}

/// Identifies an attempt. A delivery that is sent again starts at attempt 1 again, so the time is a part of the
/// identity.
type EntryId = (String, String, u32, Timestamp);

pub(crate) async fn follow(
    user: SignedInUser,
    query: web::Query<EventsQuery>,
) -> Result<HttpResponse, PageResponse> {
    stream(user, None, query).await
}

/// Follows the event log of one identity.
pub(crate) async fn follow_tab(
    user: SignedInUser,
    key: web::Path<String>,
    query: web::Query<EventsQuery>,
) -> Result<HttpResponse, PageResponse> {
    stream(user, Some(&key), query).await
}

async fn stream(
    user: SignedInUser,
    tab: Option<&str>,
    query: web::Query<EventsQuery>,
) -> Result<HttpResponse, PageResponse> {
    if !query.begins_with_newest_attempt() {
        return Err(PageResponse::not_found(user.frame()));
    }
    let scope = Scope::load(&user, tab, &query.identity).await?;
    let stream = user.app.live.open(user.account_id(), user.source.address).ok_or_else(|| {
        let text = "The service has its largest number of live logs. Reload the page instead.";
        PageResponse::live_limit(user.frame(), StatusCode::SERVICE_UNAVAILABLE, text)
    })?;
    let follower = Follower {
        scope,
        query: query.into_inner(),
        opened_at: Instant::now(),
        user,
        stream,
        seen: None,
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
    /// Waits for new entries and returns them as text of the stream. Returns a comment if none come for ten seconds.
    /// Returns `None` at the end of the stream.
    async fn next(&mut self) -> Option<String> {
        let mut quiet = Duration::ZERO;
        loop {
            if self.is_over {
                return None;
            }
            if self.seen.is_some() {
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

    /// Reads the log once. Returns the new entries, oldest first.
    async fn poll(&mut self) -> String {
        let (list, key) = (self.query.list(), self.scope.key());
        let read = self.user.ask(async |owner| owner.events(key.as_ref(), list).await);
        let Ok(log) = self.stream.poll(read).await else {
            self.is_over = true;
            return end_of("The log cannot be read. The session may have ended.");
        };
        let now = self.user.app.api.clock.now();
        let ids: HashSet<_> = log.entries.iter().map(entry_id).collect();
        let mut text = String::new();
        match &self.seen {
            None => text.push_str("retry: 3000\n\n"),
            Some(seen) if ids.len() >= usize::from(ENTRIES_PER_PAGE) && seen.is_disjoint(&ids) => {
                text.push_str("event: gap\ndata: Some attempts are not listed.\n\n");
            }
            Some(_) => {}
        }
        for entry in log.entries.into_iter().rev() {
            if self.seen.as_ref().is_some_and(|seen| seen.contains(&entry_id(&entry))) {
                continue;
            }
            let base = self.user.base();
            let (scope, with_webhook) = (&self.scope, true);
            let event = [LoggedDelivery::new(entry)];
            let html = LogEvent { base, now, scope, event, with_webhook }.render();
            text.push_str("event: entry\n");
            // Rendering writes into memory, so it does not fail.
            for line in html.unwrap_or_default().lines() {
                text.push_str("data: ");
                text.push_str(line);
                text.push('\n');
            }
            text.push('\n');
        }
        self.seen = Some(ids);
        text
    }
}

/// Returns the last event of a stream. The page shows the text.
fn end_of(text: &str) -> String {
    format!("event: end\ndata: {text}\n\n")
}

fn entry_id(entry: &EventLogEntry) -> EntryId {
    let attempt = &entry.delivery;
    let (webhook, event) = (entry.webhook.webhook_id, attempt.envelope_id);
    (webhook.to_string(), event.to_string(), attempt.attempt, attempt.at)
}

const POLL_PERIOD: Duration = Duration::from_secs(2);
const HEARTBEAT_PERIOD: Duration = Duration::from_secs(10);
/// The time after which a stream ends. The browser then opens a new stream, whose limits are checked again.
const STREAM_TIME_MAX: Duration = Duration::from_mins(10);
