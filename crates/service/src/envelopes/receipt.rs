//! The use case of receipts: a sender asks for the state of an envelope.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, ContextView, EnvelopeId, ReceiptView, Refusal, Timestamp, ports::Durability,
};
use sealpost_storage::Reader;
use serde::Serialize;

use crate::{
    caller::{admission::Purpose, authenticated::Caller, limited::Limited},
    error::Error,
    sealpost::{Sealpost, core::Core},
};

/// The state of a sent envelope, as far as the recipient's policy lets the sender see it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Receipt {
    /// The envelope's id.
    pub envelope_id: EnvelopeId,
    /// The key that can open the envelope.
    pub recipient: ApiKeyId,
    /// Time at which the envelope was sent.
    pub sent_at: Timestamp,
    /// Thread, type and replied envelope of the message.
    #[serde(flatten)]
    pub context: ContextView,
    /// The state of the envelope, with the times of its delivery and its opening.
    #[serde(flatten)]
    pub view: ReceiptView,
}

impl Sealpost {
    /// Returns the receipt of an envelope that the caller sent.
    pub async fn receipt(&self, caller: &Caller, envelope_id: String) -> Limited<Receipt> {
        self.run_as(caller, move |core, caller| {
            core.admitted(caller, Purpose::Manage, Durability::Relaxed, |_, _| Ok(())).and_then(
                |()| core.store.read(|reader| receipt(core, reader, &caller.id.key, &envelope_id)),
            )
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
        envelope_id.parse().map_err(|_malformed| Refusal::of_id(envelope_id, unknown.clone()))?;
    let sent = reader.find_sent(&id, sender)?;
    let oldest = core.kept_since(core.clock.now());
    let sent = sent.filter(|sent| sent.sent_at >= oldest).ok_or(unknown)?;
    let view = sent.receipts.view(&sent.facts);
    let context = sent.context.view();
    Ok(Receipt { envelope_id: id, recipient: sent.recipient, sent_at: sent.sent_at, context, view })
}
