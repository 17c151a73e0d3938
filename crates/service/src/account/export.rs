//! Exports an account: everything that is stored about the account, as one JSON object.
//!
//! The object is built in portions of bounded size, because an account can have millions of envelopes. The
//! portions are no snapshot: rows that change during the export may be missing.

pub(crate) mod document;

use std::sync::Arc;

use sealpost_domain::{
    AccountId, ActivityId, ActivityKind, ApiKeyId, EnvelopeId, Timestamp,
    ports::{KeyFilter, SentQuery},
};
use serde::Serialize;

use self::document::{
    ExportedAccount, ExportedAssessment, ExportedAttestation, ExportedDay, ExportedEnvelope,
    ExportedKey, ExportedSession,
};
use super::{Accounts, activity::ActivityView};
use crate::{
    acts::{owner::ProvenOwner, sessions::NO_LOGIN, tokens::ApiTokenView},
    envelopes::list_sent::SentView,
    error::Error,
    operator::lists::key_details,
    sealpost::core::Core,
};

/// The position in the JSON text up to which an export has been written. [`Accounts::export_portion`] continues at this
/// position.
pub struct ExportPosition {
    account_id: AccountId,
    started_at: Timestamp,
    next: NextPart,
    /// True if the next entry is the first one of its list. No comma precedes this entry.
    is_first: bool,
}

/// The section of the JSON text that follows an [`ExportPosition`]. `Keys`, `Activity` and `Envelopes` are lists. The
/// optional id names the last exported row of the list; `None` is the start of the list.
enum NextPart {
    Account,
    Keys(Option<ApiKeyId>),
    Activity(Option<ActivityId>),
    Envelopes { sender: ApiKeyId, below: Option<EnvelopeId> },
    End,
}

impl Accounts {
    /// Begins an export of the owner's account, and records the export in the activity log. Refuses a session that has
    /// ended, and a wrong login secret.
    pub async fn begin_export(&self, owner: ProvenOwner) -> Result<ExportPosition, Error> {
        self.core.block(self, move |accounts| accounts.begin_export_blocking(&owner)).await
    }

    /// Returns the next piece of the JSON text of an export, and the position after this piece. `None` at the end.
    pub async fn export_portion(
        &self,
        mut position: ExportPosition,
    ) -> Result<Option<(Vec<u8>, ExportPosition)>, Error> {
        let write = move |core: &Arc<Core>| {
            let mut text = Vec::new();
            let moved = position.write_next(core, &mut text)?;
            Ok(moved.then_some((text, position)))
        };
        self.core.block(&self.core, write).await
    }

    fn begin_export_blocking(&self, owner: &ProvenOwner) -> Result<ExportPosition, Error> {
        self.act_as_owner(owner, "exporting the account", |tx| {
            Ok(self.core.record(tx, &owner.origin(), ActivityKind::AccountExported, None)?)
        })?;
        Ok(ExportPosition {
            account_id: owner.session.account_id,
            started_at: self.core.clock.now(),
            next: NextPart::Account,
            is_first: true,
        })
    }
}

impl ExportPosition {
    /// Returns the account that is exported.
    pub fn account_id(&self) -> AccountId {
        self.account_id
    }

    /// Appends the next piece of the JSON text to `text`. Returns false at the end, without writing anything.
    fn write_next(&mut self, core: &Core, text: &mut Vec<u8>) -> Result<bool, Error> {
        match self.next {
            NextPart::Account => self.write_account(core, text)?,
            NextPart::Keys(below) => self.write_key(core, below.as_ref(), text)?,
            NextPart::Activity(below) => self.write_activity(core, below.as_ref(), text)?,
            NextPart::Envelopes { sender, below } => {
                self.write_envelopes(core, &sender, below, text)?;
            }
            NextPart::End => return Ok(false),
        }
        Ok(true)
    }

    fn write_account(&mut self, core: &Core, text: &mut Vec<u8>) -> Result<(), Error> {
        let (id, now) = (&self.account_id, self.started_at);
        let summary = core.store.read(|reader| reader.account(id, now))?.ok_or(NO_LOGIN)?.summary;
        let sessions = core.store.read(|reader| reader.sessions_of(id, now, SESSIONS_MAX))?;
        let tokens = core.store.read(|reader| reader.api_tokens_of(id, now))?;
        let account = ExportedAccount {
            account_id: *id,
            exported_at: now,
            created_at: summary.created_at,
            partner: summary.partner.map(|partner| partner.as_str().to_owned()),
            sessions: sessions.iter().map(ExportedSession::from).collect(),
            api_tokens: tokens.into_iter().map(ApiTokenView::from).collect(),
        };
        write_json(&account, text)?;
        // Removes the closing brace, because the lists follow inside the same object.
        text.pop();
        self.begin_list("keys", NextPart::Keys(None), text);
        Ok(())
    }

    /// Writes one key with its badges, assessments and attestations. There can be many, so each call of
    /// [`Accounts::export_portion`] writes only one key.
    fn write_key(
        &mut self,
        core: &Core,
        below: Option<&ApiKeyId>,
        text: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if let Some(id) = key_below(core, &self.account_id, below)? {
            self.write_entry(&exported_key(core, &id)?, text)?;
            self.next = NextPart::Keys(Some(id));
        } else {
            text.push(b']');
            self.begin_list("activity", NextPart::Activity(None), text);
        }
        Ok(())
    }

    fn write_activity(
        &mut self,
        core: &Core,
        below: Option<&ActivityId>,
        text: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let account = &self.account_id;
        let entries =
            core.store.read(|reader| reader.activity_of(account, below, ROWS_PER_PORTION))?;
        let last = entries.last().map(|entry| entry.id);
        for entry in entries {
            self.write_entry(&ActivityView::from(entry), text)?;
        }
        if last.is_some() {
            self.next = NextPart::Activity(last);
            return Ok(());
        }
        text.push(b']');
        self.begin_list("envelopes", NextPart::End, text);
        self.go_to_sender_below(core, None, text)
    }

    fn write_envelopes(
        &mut self,
        core: &Core,
        sender: &ApiKeyId,
        below: Option<EnvelopeId>,
        text: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let page = core.store.read(|reader| {
            reader.list_sent(&SentQuery {
                sender: *sender,
                recipient: None,
                thread: None,
                since: core.kept_since(self.started_at),
                until: None,
                below,
                limit: ROWS_PER_PORTION,
            })
        })?;
        for sent in &page.envelopes {
            let envelope = ExportedEnvelope { sender: *sender, sent: SentView::from(sent) };
            self.write_entry(&envelope, text)?;
        }
        match page.next {
            Some(below) => {
                self.next = NextPart::Envelopes { sender: *sender, below: Some(below) };
                Ok(())
            }
            None => self.go_to_sender_below(core, Some(sender), text),
        }
    }

    /// Continues with the envelopes of the next key. After the last key, ends the export.
    fn go_to_sender_below(
        &mut self,
        core: &Core,
        below: Option<&ApiKeyId>,
        text: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if let Some(sender) = key_below(core, &self.account_id, below)? {
            self.next = NextPart::Envelopes { sender, below: None };
        } else {
            text.extend(b"]}");
            self.next = NextPart::End;
        }
        Ok(())
    }

    fn begin_list(&mut self, name: &str, part: NextPart, text: &mut Vec<u8>) {
        text.extend(format!(",\"{name}\":[").as_bytes());
        (self.next, self.is_first) = (part, true);
    }

    fn write_entry(&mut self, entry: &impl Serialize, text: &mut Vec<u8>) -> Result<(), Error> {
        if !self.is_first {
            text.push(b',');
        }
        self.is_first = false;
        write_json(entry, text)
    }
}

/// Returns the newest key of the account that is older than `below`. Includes revoked keys.
fn key_below(
    core: &Core,
    account: &AccountId,
    below: Option<&ApiKeyId>,
) -> Result<Option<ApiKeyId>, Error> {
    let filter = KeyFilter { account: Some(*account), ..KeyFilter::default() };
    let keys = core.store.read(|reader| reader.keys(&filter, below, 1))?;
    Ok(keys.first().map(|key| key.id))
}

fn exported_key(core: &Core, id: &ApiKeyId) -> Result<ExportedKey, Error> {
    let (store, limit) = (&core.store, ROWS_PER_KEY_MAX);
    let details = key_details(store, core.clock.now(), id, limit)?.ok_or(NO_LOGIN)?;
    let days = store.read(|reader| reader.daily_counts(id, Timestamp::from_millis(0), 0))?;
    let assessments = store.read(|reader| reader.assessments_of(id, limit))?;
    let attestations = store.read(|reader| reader.attestations_of(id, limit))?;
    Ok(ExportedKey {
        details,
        policy: store.read(|reader| reader.find_policy(id))?.unwrap_or_default().into(),
        daily_counts: days.iter().map(ExportedDay::from).collect(),
        assessments: assessments.into_iter().map(ExportedAssessment::from).collect(),
        attestations: attestations.into_iter().map(ExportedAttestation::from).collect(),
    })
}

fn write_json(value: &impl Serialize, text: &mut Vec<u8>) -> Result<(), Error> {
    // The values have string keys and no custom serialization, so writing into memory does not fail.
    serde_json::to_writer(text, value).map_err(|_error| Error::Lost)
}

const SESSIONS_MAX: u32 = 10_000;
/// Maximum number of exported rows of each kind for one key: badges, assessments, and attestations.
const ROWS_PER_KEY_MAX: u32 = 10_000;
/// Maximum number of activity entries or envelopes that one call of [`Accounts::export_portion`] writes.
const ROWS_PER_PORTION: u32 = 500;
