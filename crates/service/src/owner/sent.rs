//! The envelopes that the account sent, with their states, and the receipt of one envelope.

use sealpost_domain::{AccountId, ApiKeyId, ReceiptState, Timestamp, ports::SentQuery};
use sealpost_storage::Reader;

use super::{
    NO_KEY, Owner,
    correspondents::{Correspondent, correspondent, correspondents},
};
use crate::{
    envelopes::list_sent::{ListSent, Receipt, SentCursor, SentView, receipt, sent_query},
    error::Error,
};

/// A page of the sent envelopes of a key or an account.
#[derive(Default)]
pub struct SentLog {
    /// The envelopes, newest first.
    pub entries: Vec<SentEntry>,
    /// The position after this page; `None` on the last page. A page can have fewer envelopes than the limit, or none,
    /// although further pages follow.
    pub next: Option<SentCursor>,
    /// True if the account has more than the 50 keys whose envelopes the log lists.
    pub has_more_keys: bool,
}

/// A sent envelope, with its sender and the names of its recipient.
pub struct SentEntry {
    /// The key that sent the envelope.
    pub sender: ApiKeyId,
    /// The envelope and its state.
    pub envelope: SentView,
    /// The recipient.
    pub recipient: Correspondent,
}

impl Owner<'_> {
    /// Lists the envelopes that a key sent and that have not expired, newest first. Without a key, lists the envelopes
    /// of the account's first 50 keys: newer keys come first, and revoked keys last.
    ///
    /// With a state, lists only the envelopes in this state. Such a page examines at most 500 envelopes of each key,
    /// because the database has no index by state.
    pub async fn sent(
        &self,
        key: Option<&ApiKeyId>,
        list: ListSent,
        state: Option<ReceiptState>,
    ) -> Result<SentLog, Error> {
        let key = key.copied();
        self.read(move |core, reader, account, now| {
            let mut senders = senders(reader, account, key, now)?;
            let has_more_keys = senders.len() > SENDERS_MAX;
            senders.truncate(SENDERS_MAX);
            let limit = usize::try_from(list.limit).unwrap_or(usize::MAX);
            let examined = if state.is_some() { EXAMINED_MAX } else { list.limit };
            let (mut found, mut end) = (Vec::new(), None);
            if let Some(first) = senders.first() {
                let query = sent_query(core, reader, *first, &list)?;
                for sender in senders {
                    let of_key = SentQuery { sender, limit: examined, ..query.clone() };
                    let page = reader.list_sent(&of_key)?;
                    end = end.max(page.next);
                    found.extend(page.envelopes.into_iter().map(|sent| (sender, sent)));
                }
            }
            // `end` is the highest of the last read positions of the keys with further envelopes. Below `end`, the
            // envelopes that were read have gaps. Therefore this page drops all envelopes below `end`, and the next
            // pages list them.
            found.retain(|(_, sent)| end.is_none_or(|end| sent.id >= end));
            let mut views: Vec<_> =
                found.iter().map(|(key, sent)| (*key, SentView::from(sent))).collect();
            views.retain(|(_, view)| state.is_none_or(|state| view.state == state));
            views.sort_by_key(|(_, view)| std::cmp::Reverse(view.envelope_id));
            let is_cut = views.len() > limit;
            views.truncate(limit);
            let shown = views.last().filter(|_| is_cut).map(|(_, view)| view.envelope_id);
            let recipients = views.iter().map(|(_, view)| view.recipient);
            let recipients = correspondents(&mut *reader, recipients)?;
            let entry = |(sender, envelope): (ApiKeyId, SentView)| {
                let recipient = recipients.get(&envelope.recipient)?.clone();
                Some(SentEntry { sender, envelope, recipient })
            };
            Ok(SentLog {
                entries: views.into_iter().filter_map(entry).collect(),
                next: shown.or(end).map(SentCursor),
                has_more_keys,
            })
        })
        .await
    }

    /// Returns the receipt (the state) of an envelope that the key sent, and the recipient of the envelope. Refuses a
    /// key of another account, and an envelope that the key did not send.
    pub async fn receipt(
        &self,
        key: &ApiKeyId,
        envelope_id: String,
    ) -> Result<(Receipt, Correspondent), Error> {
        let key = *key;
        self.read(move |core, reader, account, now| {
            reader.key_of(&account, &key, now, 0)?.ok_or(NO_KEY)?;
            let receipt = receipt(core, reader, &key, &envelope_id)?;
            let recipient = correspondent(reader, receipt.recipient)?;
            Ok((receipt, recipient))
        })
        .await
    }
}

/// Returns the given key. Without a key, returns the newest keys of the account, revoked keys last, and up to one key
/// more than [`SENDERS_MAX`] to show that there are more. Refuses a key of another account.
fn senders(
    reader: &mut Reader,
    account: AccountId,
    key: Option<ApiKeyId>,
    now: Timestamp,
) -> Result<Vec<ApiKeyId>, Error> {
    if let Some(key) = key {
        reader.key_of(&account, &key, now, 0)?.ok_or(NO_KEY)?;
        return Ok(vec![key]);
    }
    let limit = u32::try_from(SENDERS_MAX + 1).unwrap_or(u32::MAX);
    let keys = reader.keys_of(&account, limit, now, 0)?;
    Ok(keys.into_iter().map(|overview| overview.key.id).collect())
}

/// Maximum number of keys whose envelopes the list of all sent envelopes of an account shows.
const SENDERS_MAX: usize = 50;
/// Number of envelopes of each key that are read for a page filtered by state.
const EXAMINED_MAX: u32 = 500;
