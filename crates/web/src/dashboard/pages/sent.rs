//! The envelopes that an identity or the account sent, with filters, and the receipt of one envelope (its state, as far
//! as the recipient shows it).

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_domain::{ApiKeyId, KeyStatus, ReceiptState, ThreadId, Timestamp};
use sealpost_service::{
    Correspondent, KeyStanding, ListSent, Receipt, SentCursor, SentEntry, SentLog,
};
use serde::Deserialize;

use super::{
    id_of,
    identity::IdentityHead,
    scope::{Scope, tab_of},
};
use crate::{
    dashboard::{
        session::SignedInUser,
        text::{ago, handle_of, name_of, what_state},
    },
    html::{
        PageResponse, PageResult, Rejection,
        text::{short_id, when},
    },
};

#[derive(Template)]
#[template(path = "dashboard/sent.html")]
struct SentPage<'a> {
    user: &'a SignedInUser,
    now: Timestamp,
    /// The path of the page.
    path: String,
    scope: &'a Scope,
    head: Option<IdentityHead<'a>>,
    entries: Vec<SentEntry>,
    next: Option<SentCursor>,
    has_more_keys: bool,
    query: &'a SentFilter,
    problem: Option<Rejection>,
}

#[derive(Template)]
#[template(path = "dashboard/receipt.html")]
struct ReceiptPage<'a> {
    base: &'a str,
    now: Timestamp,
    key: &'a KeyStanding,
    receipt: Receipt,
    recipient: Correspondent,
}

/// The query parameters of the page. An empty parameter counts as absent.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct SentFilter {
    /// The identity whose envelopes are listed. Only for the list of the account. Empty lists the envelopes of all
    /// identities.
    identity: String,
    /// An API key or a handle.
    recipient: String,
    thread: String,
    state: String,
    /// A day in UTC as browsers send it, such as `2027-01-31`.
    day: String,
    cursor: String,
}

impl SentFilter {
    /// Converts the parameters to the query that the service runs for this page. Fails if the day or the thread is
    /// malformed.
    fn list(&self) -> Result<ListSent, Rejection> {
        let day = self.day()?;
        let thread = Some(self.thread.trim()).filter(|text| !text.is_empty());
        let thread = thread.map(ThreadId::parse).transpose();
        let recipient = self.recipient.trim().trim_start_matches('@');
        Ok(ListSent {
            recipient: Some(recipient.to_owned()).filter(|text| !text.is_empty()),
            thread: thread
                .map_err(|fault| Rejection::field("thread", format!("The thread {fault}.")))?,
            since: day,
            until: day.map(|day| Timestamp::from_millis(day.as_millis() + DAY_MS)),
            limit: ENTRIES_PER_PAGE,
            cursor: self.cursor.parse().ok(),
        })
    }

    fn day(&self) -> Result<Option<Timestamp>, Rejection> {
        match self.day.trim() {
            "" => Ok(None),
            day => format!("{day}T00:00:00Z")
                .parse()
                .map(Some)
                .map_err(|_fault| Rejection::field("day", MALFORMED_DAY)),
        }
    }

    fn is_empty(&self) -> bool {
        [&self.identity, &self.recipient, &self.thread, &self.state, &self.day, &self.cursor]
            .iter()
            .all(|text| text.trim().is_empty())
    }
}

impl SentPage<'_> {
    /// Returns true if the problem is at this field.
    fn is_at(&self, field: &str) -> bool {
        self.problem.as_ref().is_some_and(|it| it.field.as_deref() == Some(field))
    }
}

/// Lists the envelopes that the account, or the identity in the path, sent.
pub(crate) async fn show(
    user: SignedInUser,
    request: HttpRequest,
    query: web::Query<SentFilter>,
) -> PageResult {
    let scope = Scope::load(&user, tab_of(&request), &query.identity).await?;
    let (log, problem) = match query.list() {
        Ok(list) => read(&user, scope.key(), list, ReceiptState::from_name(&query.state)).await?,
        Err(problem) => (None, Some(problem)),
    };
    let SentLog { entries, next, has_more_keys } = log.unwrap_or_default();
    let main = SentPage {
        user: &user,
        now: user.app.api.clock.now(),
        path: format!("{}/sent", scope.path()),
        head: scope.head(&user, "/sent"),
        scope: &scope,
        entries,
        next,
        has_more_keys,
        query: &query,
        problem,
    };
    Ok(PageResponse::ok(user.frame(), &scope.title("Sent"), &main))
}

/// Shows the receipt of one envelope.
pub(crate) async fn show_receipt(
    user: SignedInUser,
    path: web::Path<(String, String)>,
) -> PageResult {
    let (key, envelope) = path.into_inner();
    let id = id_of(&user, &key)?;
    let (key, (receipt, recipient)) = user
        .ask(async move |owner| {
            Ok((owner.standing(&id).await?, owner.receipt(&id, envelope).await?))
        })
        .await?;
    let (base, now) = (user.base(), user.app.api.clock.now());
    let main = ReceiptPage { base, now, key: &key, receipt, recipient };
    let title = format!("Receipt of {}", short_id(main.receipt.envelope_id));
    Ok(PageResponse::ok(user.frame(), &title, &main))
}

/// Reads a page of the sent envelopes. If the service refuses the recipient in the filter, returns the rejection
/// instead. Any other error becomes an error page, or a redirect to the sign-in page.
async fn read(
    user: &SignedInUser,
    key: Option<ApiKeyId>,
    list: ListSent,
    state: Option<ReceiptState>,
) -> Result<(Option<SentLog>, Option<Rejection>), PageResponse> {
    let read = async move |owner: &sealpost_service::Owner<'_>| {
        Ok(owner.sent(key.as_ref(), list, state).await)
    };
    match user.ask(read).await? {
        Ok(log) => Ok((Some(log), None)),
        Err(error) => match error.refusal().map(Rejection::from) {
            Some(rejection) if rejection.field.as_deref() == Some("recipient") => {
                Ok((None, Some(rejection)))
            }
            _ => Err(user.error_response(&error)),
        },
    }
}

const MALFORMED_DAY: &str = "This is not a day. Give a day in UTC, such as 2027-01-31.";
const DAY_MS: i64 = 86_400_000;
/// Number of envelopes on one page.
const ENTRIES_PER_PAGE: u32 = 50;
