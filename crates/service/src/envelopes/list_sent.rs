//! Lists the envelopes that a key has sent, with their states. Also returns the receipt of a single envelope.

use std::{fmt, str::FromStr, sync::Arc};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, EnvelopeId, MessageContext, ReceiptState, ReceiptView, Refusal, ThreadId, Timestamp,
    ports::{SentEnvelope, SentQuery},
};
use sealpost_storage::{Abort, Reader};
use serde::Serialize;

use super::Mailbox;
use crate::{
    account::key_status::{find_named_key, unknown},
    caller::{
        admission::{Limited, Purpose},
        credentials::Caller,
    },
    error::Error,
    sealpost::core::Core,
    transparency::proof::{ProofFormat, find_envelope},
    webhooks::cursor::CursorError,
};

/// Selects a page of the envelopes that the caller sent.
#[derive(Debug, Clone, Default)]
pub struct ListSent {
    /// An API key or a handle; `None` for all recipients.
    pub recipient: Option<String>,
    /// The thread; `None` for all envelopes, with and without a thread.
    pub thread: Option<ThreadId>,
    /// Start of the time range, inclusive; `None` for all stored envelopes.
    pub since: Option<Timestamp>,
    /// End of the time range, exclusive; `None` for no end.
    pub until: Option<Timestamp>,
    /// Maximum number of envelopes.
    pub limit: u32,
    /// The position after the previous page; `None` for the first page.
    pub cursor: Option<SentCursor>,
}

/// A page of sent envelopes.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SentPage {
    /// The envelopes, newest first.
    pub envelopes: Vec<SentView>,
    /// The cursor of the next page; `null` on the last page. A page can have fewer envelopes than `limit`, and even
    /// none, although further pages follow.
    pub next_cursor: Option<String>,
}

/// A sent envelope and its state.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SentView {
    /// Id of the envelope.
    pub envelope_id: EnvelopeId,
    /// The key that can open the envelope.
    pub recipient: ApiKeyId,
    /// Time at which the envelope was sent.
    pub sent_at: Timestamp,
    /// State of the envelope, as its receipt shows it.
    pub state: ReceiptState,
    /// Thread and type of the message, and the envelope that the message replies to.
    #[serde(flatten)]
    pub context: MessageContext,
}

impl Mailbox {
    /// Lists the envelopes that the caller sent and that have not expired, newest first.
    pub async fn list_sent(&self, caller: &Caller, query: ListSent) -> Limited<SentPage> {
        let key = caller.id.key;
        let list = move |core: &Arc<Core>| list_sent(core, &key, &query);
        self.core.ask_as(&self.core, caller, Purpose::Manage, list).await
    }
}

fn list_sent(core: &Core, sender: &ApiKeyId, query: &ListSent) -> Result<SentPage, Error> {
    let list = core.store.read(|reader| {
        let query = sent_query(core, reader, *sender, query)?;
        Ok::<_, Abort>(reader.list_sent(&query)?)
    })?;
    Ok(SentPage {
        envelopes: list.envelopes.iter().map(SentView::from).collect(),
        next_cursor: list.next.map(|id| SentCursor(id).to_string()),
    })
}

/// Converts `query` to a query of the database. Limits the time range to envelopes that have not expired. Refuses an
/// unknown recipient.
pub(crate) fn sent_query(
    core: &Core,
    reader: &mut Reader,
    sender: ApiKeyId,
    query: &ListSent,
) -> Result<SentQuery, Abort> {
    let recipient = match &query.recipient {
        None => None,
        Some(text) => {
            let key = find_named_key(reader, "recipient", text)?;
            let is_known = reader.find_profile(&key)?.is_some();
            Some(is_known.then_some(key).ok_or_else(|| unknown("recipient"))?)
        }
    };
    let oldest = core.kept_since(core.clock.now());
    Ok(SentQuery {
        sender,
        recipient,
        thread: query.thread.clone(),
        since: query.since.map_or(oldest, |since| since.max(oldest)),
        until: query.until,
        below: query.cursor.map(|cursor| cursor.0),
        limit: query.limit,
    })
}

impl From<&SentEnvelope> for SentView {
    fn from(sent: &SentEnvelope) -> Self {
        Self {
            envelope_id: sent.id,
            recipient: sent.recipient,
            sent_at: sent.sent_at,
            state: sent.receipts.view(&sent.facts).state,
            context: sent.context.clone(),
        }
    }
}

/// The position in a list of sent envelopes. The next page begins after the envelope with this id. The text form is
/// base64url.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentCursor(pub(crate) EnvelopeId);

impl fmt::Display for SentCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0.as_bytes()))
    }
}

impl FromStr for SentCursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_malformed| CursorError)?;
        let bytes = bytes.try_into().map_err(|_length| CursorError)?;
        Ok(Self(EnvelopeId::from_bytes(bytes)))
    }
}

/// The state of a sent envelope, as far as the recipient's policy lets the sender see it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Receipt {
    /// The envelope's id.
    pub envelope_id: EnvelopeId,
    /// The key that can open the envelope.
    pub recipient: ApiKeyId,
    /// Time at which the envelope was sent.
    pub sent_at: Timestamp,
    /// Thread and type of the message, and the envelope that the message replies to.
    #[serde(flatten)]
    pub context: MessageContext,
    /// The state of the envelope, with the times of its delivery and its opening.
    #[serde(flatten)]
    pub view: ReceiptView,
    /// The proof that the envelope is in the transparency log, if `proof` is true in the request. Absent for up to two
    /// seconds after the send.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub proof: Option<String>,
}

impl Mailbox {
    /// Returns the receipt of an envelope that the caller sent. Refuses an envelope that has expired, or that the
    /// caller did not send. With a format in `proof`, adds a proof that the envelope is in the transparency log.
    pub async fn receipt(
        &self,
        caller: &Caller,
        envelope_id: String,
        proof: Option<ProofFormat>,
    ) -> Limited<Receipt> {
        let sender = caller.id.key;
        self.core
            .ask_as(self, caller, Purpose::Manage, move |mailbox| {
                let core = &mailbox.core;
                let receipt =
                    core.store.read(|reader| receipt(core, reader, &sender, &envelope_id))?;
                let Some(format) = proof else { return Ok(receipt) };
                let Receipt { envelope_id, recipient, .. } = &receipt;
                let proof = mailbox.log.prove(format, |reader| {
                    match reader.find_envelope(envelope_id, recipient)? {
                        Some(found) => find_envelope(reader, &found.envelope.meta),
                        None => Ok(None),
                    }
                })?;
                Ok(Receipt { proof, ..receipt })
            })
            .await
    }
}

pub(crate) fn receipt(
    core: &Core,
    reader: &mut Reader,
    sender: &ApiKeyId,
    envelope_id: &str,
) -> Result<Receipt, Error> {
    let unknown = Refusal::SentEnvelopeNotFound;
    let id: EnvelopeId =
        envelope_id.parse().map_err(|_malformed| Refusal::for_id(envelope_id, unknown.clone()))?;
    let sent = reader.find_sent(&id, sender)?;
    let oldest = core.kept_since(core.clock.now());
    let sent = sent.filter(|sent| sent.sent_at >= oldest).ok_or(unknown)?;
    let view = sent.receipts.view(&sent.facts);
    Ok(Receipt {
        envelope_id: id,
        recipient: sent.recipient,
        sent_at: sent.sent_at,
        context: sent.context,
        view,
        proof: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_text_of_a_cursor_is_parsed() {
        let id = EnvelopeId::new(Timestamp::from_millis(1_790_000_000_000), [7; 10]);
        let text = SentCursor(id).to_string();
        assert_eq!(text.parse(), Ok(SentCursor(id)));
        for wrong in ["", "%", text.get(1..).unwrap(), &format!("{text}A"), &id.to_string()] {
            assert_eq!(wrong.parse::<SentCursor>(), Err(CursorError), "{wrong}");
        }
    }
}
