//! Open: the recipient reads an envelope by the id that its webhook brought.

use std::sync::Arc;

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, Channel, Did, Encryption, Envelope, EnvelopeHash, EnvelopeId, Metadata, Refusal,
    Timestamp,
    ports::{Durability, StoreError},
};
use sealpost_wallet::channel_of;
use serde::Serialize;

use crate::{Body, Credentials, Error, Limited, Sealpost, admission::Act};

/// An opened envelope.
#[derive(JsonSchema, Serialize)]
pub struct Opened {
    /// The envelope's id.
    pub envelope_id: EnvelopeId,
    /// Over the sealed bytes.
    pub envelope_hash: EnvelopeHash,
    /// Who sent it; its signature holds.
    pub sender: ApiKeyId,
    /// What was sent.
    pub message: String,
    /// How it is sealed.
    pub encryption: Encryption,
    /// Size and time.
    pub metadata: Metadata,
    /// When it was first opened.
    pub opened_at: Timestamp,
}

struct Found {
    envelope: Envelope,
    /// The one that it was sealed under, where it was.
    channel: Option<Channel>,
    opened_at: Option<Timestamp>,
    sender: Did,
}

impl Sealpost {
    /// Verifies the sender's signature and opens the envelope; only an opening that succeeded is written down.
    pub fn open(&self, credentials: &Credentials, body: &Body<String>) -> Limited<Opened> {
        let caller = match self.identify(credentials) {
            Ok(caller) => caller,
            Err(error) => return Limited::unasked(error),
        };
        let found = self.admitted(&caller, Act::Execute, Durability::Relaxed, |tx, admitted| {
            let id: EnvelopeId = match body {
                Err(fault) => return Ok(Err(fault.clone())),
                Ok(text) => match text.parse() {
                    Err(_) => return Ok(Err(Refusal::EnvelopeNotFound)),
                    Ok(id) => id,
                },
            };
            let Some((envelope, opened_at)) = tx.find_envelope(&id, &caller.key)? else {
                return Ok(Err(Refusal::EnvelopeNotFound));
            };
            // Housekeeping may not have been there yet.
            if envelope.meta.timestamp < admitted.limits.now.minus(self.core.settings.retention) {
                return Ok(Err(Refusal::EnvelopeNotFound));
            }
            let channel = match channel_of(&envelope) {
                None => None,
                Some(id) => Some(tx.find_channel(&id)?.ok_or(StoreError::Corrupt("channel"))?),
            };
            let sender = tx.find_key(&envelope.meta.sender)?.ok_or(StoreError::Corrupt("key"))?;
            Ok(Ok(Found { envelope, channel, opened_at, sender: sender.did }))
        });
        found.and_then(|found| self.open_found(&caller.key, &found))
    }

    fn open_found(&self, recipient: &ApiKeyId, found: &Found) -> Result<Opened, Error> {
        let message = self.unseal(recipient, found)?;
        let meta = &found.envelope.meta;
        let opened_at = match found.opened_at {
            Some(first) => first,
            None => self.first_opening(&meta.id)?,
        };
        Ok(Opened {
            envelope_id: meta.id,
            envelope_hash: meta.hash,
            sender: meta.sender,
            message,
            encryption: meta.encryption(),
            metadata: meta.metadata(),
            opened_at,
        })
    }

    fn unseal(&self, recipient: &ApiKeyId, found: &Found) -> Result<String, Error> {
        let key = match self.core.known.key(recipient) {
            Some(key) => Arc::clone(&key),
            None => self.core.learn_key(recipient)?.ok_or(StoreError::Corrupt("key"))?,
        };
        // Revoked between admission and here: the root is gone, and nothing opens any more.
        let material = key.material.as_ref().ok_or(Refusal::EnvelopeNotFound)?;
        let (envelope, identity, sender) = (&found.envelope, &material.identity, &found.sender);
        let message = match &found.channel {
            None => sealpost_wallet::open(envelope, identity, sender)?,
            Some(channel) => {
                let now = self.core.clock.now();
                self.core.channels.accept(channel, identity, sender, now)?.open(envelope)?
            }
        };
        String::from_utf8(message.to_vec())
            .map_err(|_not_text| StoreError::Corrupt("message").into())
    }

    fn first_opening(&self, id: &EnvelopeId) -> Result<Timestamp, Error> {
        let now = self.core.clock.now();
        Ok(self.core.store.write(Durability::Durable, |tx| tx.mark_opened(id, now))?)
    }
}
