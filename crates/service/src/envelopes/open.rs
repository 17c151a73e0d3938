//! Opens envelopes: decrypts a message for its recipient, who knows the envelope's id from a webhook event.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKey, ApiKeyId, Channel, Encryption, EnvelopeHash, EnvelopeId, Handle, MessageContext,
    Metadata, Refusal, Timestamp,
    ports::{AddressedEnvelope, Durability, StoreError},
};
use sealpost_storage::{Abort, Transaction};
use sealpost_wallet::channel_of;
use serde::Serialize;
use zeroize::Zeroize as _;

use super::Mailbox;
use crate::{
    caller::{
        admission::{Limited, Purpose},
        credentials::Caller,
        transaction::Admitted,
    },
    error::Error,
    sealpost::core::Core,
    transparency::proof::{self, ProofFormat},
};

/// An opened envelope. The message is zeroized on drop.
#[derive(JsonSchema, Serialize)]
pub struct Opened {
    /// Id of the envelope.
    pub envelope_id: EnvelopeId,
    /// Hash of the sealed bytes.
    pub envelope_hash: EnvelopeHash,
    /// The sender's key, whose signature was verified.
    pub sender: ApiKeyId,
    /// The current handle of the sender's key; null if the key has none.
    pub sender_handle: Option<Handle>,
    /// The decrypted message.
    pub message: String,
    /// Thread and type of the message, and the envelope that the message replies to.
    #[serde(flatten)]
    pub context: MessageContext,
    /// The algorithm that sealed the envelope.
    pub encryption: Encryption,
    /// Size and time of the envelope.
    pub metadata: Metadata,
    /// Time at which the recipient first opened the envelope.
    pub opened_at: Timestamp,
    /// The proof that the envelope is in the transparency log, if `proof` is true in the request. Absent for up to two
    /// seconds after the send.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub proof: Option<String>,
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.message.zeroize();
    }
}

/// An envelope with the rows that are needed to open it.
struct SealedEnvelope {
    addressed: AddressedEnvelope,
    /// The channel (shared key encapsulation) that sealed the envelope. `None` if it was sealed without a channel.
    channel: Option<Channel>,
    sender: ApiKey,
}

impl Mailbox {
    /// Verifies the sender's signature and decrypts the message. Refuses an envelope that has expired or that was sent
    /// to another key. Records the time of only the first successful opening. With a `format`, adds a proof that the
    /// envelope is in the transparency log.
    pub async fn open(
        &self,
        caller: &Caller,
        envelope_id: String,
        format: Option<ProofFormat>,
    ) -> Limited<Opened> {
        self.core
            .run_as(self, caller, move |Self { core, log }, caller| {
                core.admitted(caller, Purpose::Execute, Durability::Relaxed, |tx, admitted| {
                    find_envelope(core, tx, admitted, &caller.id.key, &envelope_id)
                })
                .and_then(|sealed| {
                    let mut opened = open_envelope(core, caller, &sealed)?;
                    if let Some(format) = format {
                        let meta = &sealed.addressed.envelope.meta;
                        opened.proof =
                            log.prove(format, |reader| proof::find_envelope(reader, meta))?;
                    }
                    Ok(opened)
                })
            })
            .await
    }
}

fn find_envelope(
    core: &Core,
    tx: &mut Transaction,
    admitted: &Admitted<'_>,
    recipient: &ApiKeyId,
    envelope_id: &str,
) -> Result<SealedEnvelope, Abort> {
    let Ok(id) = envelope_id.parse::<EnvelopeId>() else {
        return Err(Refusal::for_id(envelope_id, Refusal::EnvelopeNotFound).into());
    };
    let addressed = tx.find_envelope(&id, recipient)?.ok_or(Refusal::EnvelopeNotFound)?;
    let envelope = &addressed.envelope;
    if envelope.meta.timestamp < core.kept_since(admitted.limits.now) {
        return Err(Refusal::EnvelopeNotFound.into());
    }
    let channel = match channel_of(envelope) {
        None => None,
        Some(id) => Some(tx.find_channel(&id)?.ok_or(StoreError::Corrupt("channel"))?),
    };
    let sender = tx.find_key(&envelope.meta.sender)?.ok_or(StoreError::Corrupt("key"))?;
    Ok(SealedEnvelope { addressed, channel, sender })
}

fn open_envelope(core: &Core, caller: &Caller, sealed: &SealedEnvelope) -> Result<Opened, Error> {
    let message = unseal(core, caller, sealed)?;
    let AddressedEnvelope { envelope, opened_at, sender_handle } = &sealed.addressed;
    let meta = &envelope.meta;
    let opened_at = match *opened_at {
        Some(first) => first,
        None => record_opening(core, &meta.id)?,
    };
    Ok(Opened {
        envelope_id: meta.id,
        envelope_hash: meta.hash,
        sender: meta.sender,
        sender_handle: sender_handle.clone(),
        message,
        context: meta.context.clone(),
        encryption: meta.encryption(),
        metadata: meta.metadata(),
        opened_at,
        proof: None,
    })
}

fn unseal(core: &Core, caller: &Caller, sealed: &SealedEnvelope) -> Result<String, Error> {
    // A revocation may have deleted the secrets of the key after the transaction that checked the request. Envelopes to
    // a revoked key can never be opened again.
    let material = core.material(&caller.key)?.ok_or(Refusal::EnvelopeNotFound)?;
    let (envelope, identity) = (&sealed.addressed.envelope, &material.identity);
    let sender = &core.proven_did(&sealed.sender)?;
    let message = match &sealed.channel {
        None => sealpost_wallet::open(envelope, identity, sender)?,
        Some(channel) => {
            let now = core.clock.now();
            core.cache.channels.accept(channel, identity, sender, now)?.open(envelope)?
        }
    };
    String::from_utf8(message.to_vec()).map_err(|_not_text| StoreError::Corrupt("message").into())
}

fn record_opening(core: &Core, id: &EnvelopeId) -> Result<Timestamp, Error> {
    let now = core.clock.now();
    let opened = core.store.write(Durability::Durable, |tx| tx.mark_opened(id, now))?;
    // Housekeeping may have deleted the envelope since it was read.
    Ok(opened.ok_or(Refusal::EnvelopeNotFound)?)
}
