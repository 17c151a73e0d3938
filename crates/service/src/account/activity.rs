//! The activity log of an account. Each entry describes one act: an action on the account, such as a login. The
//! transaction that performs the act also stores the entry. The owner of the account can list the entries.

use std::{
    fmt,
    net::IpAddr,
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, Activity, ActivityActor, ActivityId, ActivityKind, RequestSource, Timestamp,
    ports::{Durability, StoreError},
};
use sealpost_storage::Transaction;
use sealpost_wallet::random;
use serde::Serialize;

use super::Accounts;
use crate::{
    caller::credentials::{AccountSession, Caller},
    error::Error,
    sealpost::core::Core,
    webhooks::cursor::CursorError,
};

/// The origin of an action on an account, such as a login: the account, the author and the address of the client.
#[derive(Debug, Clone)]
pub(crate) struct ActOrigin {
    pub(crate) account_id: AccountId,
    pub(crate) actor: ActivityActor,
    pub(crate) client_address: Option<IpAddr>,
}

impl ActOrigin {
    /// Creates the origin of an action by a client without a session.
    pub(crate) fn client(account_id: AccountId, source: &RequestSource) -> Self {
        Self { account_id, actor: ActivityActor::client(), client_address: source.address }
    }

    /// Creates the origin of an action by an operator, which has no client address.
    pub(crate) fn operator(account_id: AccountId) -> Self {
        Self { account_id, actor: ActivityActor::operator(), client_address: None }
    }
}

impl AccountSession {
    pub(crate) fn act_from(&self, source: &RequestSource) -> ActOrigin {
        ActOrigin {
            account_id: self.account_id,
            actor: ActivityActor::session(&self.token),
            client_address: source.address,
        }
    }
}

impl Caller {
    pub(crate) fn act_from(&self, source: &RequestSource) -> ActOrigin {
        ActOrigin {
            account_id: self.account_id,
            actor: match &self.grant {
                Some(grant) => ActivityActor::api_token(&grant.id),
                None => ActivityActor::session(&self.id.session),
            },
            client_address: source.address,
        }
    }
}

/// Number of activity entries that this process has stored, modulo 2^16. The id of an entry contains this number, so
/// that entries with the same time keep their order.
static RECORDED: AtomicU16 = AtomicU16::new(0);

/// Stores an entry about an action in the account's activity log. Must be called in the transaction of the action.
pub(crate) fn record(
    tx: &mut Transaction,
    now: Timestamp,
    origin: &ActOrigin,
    kind: ActivityKind,
    detail: Option<String>,
) -> Result<(), StoreError> {
    let mut random: [u8; 10] = random().map_err(|error| StoreError::Unavailable(error.into()))?;
    // Lists sort entries by id. An id begins with the time in milliseconds. `number` follows, and orders entries with
    // the same time.
    let number = RECORDED.fetch_add(1, Ordering::Relaxed);
    let [high, low, ..] = &mut random;
    [*high, *low] = number.to_be_bytes();
    let ActOrigin { account_id, actor, client_address } = origin.clone();
    let id = ActivityId::new(now, random);
    let entry = Activity { id, account_id, at: now, kind, actor, client_address, detail };
    tx.insert_activity(&entry, KEPT_MAX)
}

/// Selects a page of an account's activity log.
#[derive(Debug, Clone, Copy)]
pub struct ListActivity {
    /// Maximum number of entries.
    pub limit: u32,
    /// The position after the previous page; `None` for the first page.
    pub cursor: Option<ActivityCursor>,
}

/// One page of an account's activity.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ActivityPage {
    /// The entries, newest first.
    pub entries: Vec<ActivityView>,
    /// The cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
}

/// An entry of the activity log. It describes one action on the account, such as a login.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct ActivityView {
    /// Time of the action.
    pub at: Timestamp,
    /// Kind of the action, such as a login.
    pub kind: ActivityKind,
    /// Author of the action: `client`, `operator`, `session:` and the name of the session on the dashboard, or `token:`
    /// and the id of the API token.
    pub actor: String,
    /// Address of the client; `null` for operators.
    #[schemars(with = "Option<String>")]
    pub client_address: Option<IpAddr>,
    /// Details of the action, such as the affected key, webhook or session; `null` if there are none.
    pub detail: Option<String>,
}

impl Accounts {
    /// Lists the activity of the session's account.
    pub async fn activity(
        &self,
        session: &AccountSession,
        query: ListActivity,
    ) -> Result<ActivityPage, Error> {
        let account = session.account_id;
        let list = move |core: &Arc<Core>| {
            let ListActivity { limit, cursor } = query;
            let below = cursor.map(|cursor| cursor.0);
            let wanted = limit.saturating_add(1);
            let mut found =
                core.store.read(|reader| reader.activity_of(&account, below.as_ref(), wanted))?;
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let has_more = found.len() > limit;
            found.truncate(limit);
            let last = found.last().filter(|_| has_more);
            let next_cursor = last.map(|entry| ActivityCursor(entry.id).to_string());
            let entries = found.into_iter().map(ActivityView::from).collect();
            Ok(ActivityPage { entries, next_cursor })
        };
        self.core.block(&self.core, list).await
    }

    /// Stores an activity entry about a wrong login secret or recovery code, at most [`FAILED_PER_HOUR_MAX`] for one
    /// account in an hour. The commit does not wait for the disk, so a crash may lose the entry.
    pub(crate) fn record_failed_login(
        &self,
        account: &AccountId,
        source: &RequestSource,
        detail: Option<&str>,
    ) -> Result<(), StoreError> {
        let now = self.core.clock.now();
        // Entries of the far future come from a wrong clock. They must not count until their time has passed.
        let period = now.minus(HOUR)..now.plus(CLOCK_DIFFERENCE_MAX);
        let (kind, max) = (ActivityKind::LoginFailed, FAILED_PER_HOUR_MAX);
        // Counts the stored entries before a write transaction begins. Otherwise a flood of wrong secrets would cause a
        // flood of write transactions.
        if self.core.store.read(|reader| reader.count_activity(account, kind, &period, max))?
            >= u64::from(max)
        {
            return Ok(());
        }
        self.core.store.write(Durability::Relaxed, |tx| {
            if !tx.lock_account(account)? {
                return Ok(());
            }
            let before = tx.count_activity(account, kind, &period, max)?;
            let detail = match before + 1 {
                last if last == u64::from(max) => Some(LAST_FAILED.to_owned()),
                more if more > u64::from(max) => return Ok(()),
                _ => detail.map(str::to_owned),
            };
            self.core.record(tx, &ActOrigin::client(*account, source), kind, detail)
        })
    }
}

impl Core {
    /// Stores an entry with the current time in the account's activity log. Must be called in the transaction of the
    /// action that the entry describes.
    pub(crate) fn record(
        &self,
        tx: &mut Transaction,
        origin: &ActOrigin,
        kind: ActivityKind,
        detail: Option<String>,
    ) -> Result<(), StoreError> {
        record(tx, self.clock.now(), origin, kind, detail)
    }
}

impl From<Activity> for ActivityView {
    fn from(entry: Activity) -> Self {
        let Activity { at, kind, actor, client_address, detail, .. } = entry;
        Self { at, kind, actor: actor.to_string(), client_address, detail }
    }
}

/// The id of the last entry of a page. The next page begins after this entry. The text form is base64url.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActivityCursor(pub(super) ActivityId);

impl fmt::Display for ActivityCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0.as_bytes()))
    }
}

impl FromStr for ActivityCursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_malformed| CursorError)?;
        let bytes = bytes.try_into().map_err(|_length| CursorError)?;
        Ok(Self(ActivityId::from_bytes(bytes)))
    }
}

/// Maximum number of activity entries of each kind for one account. Older entries of the kind are deleted. With one
/// limit for all kinds, the thief of a session could cause many other entries until the entry about the login is
/// deleted.
const KEPT_MAX: u32 = 1000;
/// Maximum number of activity entries about wrong login secrets and recovery codes for one account in an hour. The
/// limit is needed because every client that knows the account's id can cause such entries.
const FAILED_PER_HOUR_MAX: u32 = 10;
const HOUR: Duration = Duration::from_hours(1);
/// The clock of the node that stored an entry can be ahead. Therefore the limit [`FAILED_PER_HOUR_MAX`] includes
/// entries whose time is up to this duration in the future. Later times come from a wrong clock.
const CLOCK_DIFFERENCE_MAX: Duration = Duration::from_mins(5);
const LAST_FAILED: &str = "further failures of the next hour may not be recorded";

#[cfg(test)]
mod tests {
    use sealpost_domain::Timestamp;

    use super::*;

    #[test]
    fn only_the_text_of_a_cursor_is_parsed() {
        let id = ActivityId::new(Timestamp::from_millis(1_790_000_000_000), [7; 10]);
        let text = ActivityCursor(id).to_string();
        assert_eq!(text.parse(), Ok(ActivityCursor(id)));
        for wrong in [
            "",
            "%",
            text.get(1..).unwrap(),
            &format!("{text}A"),
            &format!("{text}="),
            &id.to_string(),
        ] {
            assert_eq!(wrong.parse::<ActivityCursor>(), Err(CursorError), "{wrong}");
        }
    }
}
