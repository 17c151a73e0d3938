//! Sends many messages in one request. The messages are sealed one by one and stored in one commit.

use std::sync::Arc;

use sealpost_domain::{
    Code, EnvelopeId, IdempotencyKey, Refusal, Timestamp, ports::IdempotencyResult,
};
use sealpost_wallet::{WalletError, random};
use zeroize::Zeroizing;

use super::{
    Sending,
    command::{
        BatchResult, Command, CommandGroup, Decided, Idempotency, PendingEnvelope, Verdict,
        refusal_of, results_of,
    },
    message::NewMessage,
    prepare::Request,
    send_message::{REVOKED_SENDER, SEAL_TRIES_MAX},
};
use crate::{
    cache::cached_key::KeyMaterial,
    caller::{
        admission::{Limited, Purpose},
        credentials::{Caller, CallerId},
    },
    error::Error,
};

/// The messages of one request.
pub struct SendBatch {
    /// The messages. An `Err` stands for a message in which the calling code has found an error. The idempotency keys
    /// of the messages are not used.
    pub messages: Vec<Result<NewMessage, Refusal>>,
    /// Identifies the request. A repeated request with the same key stores nothing and gets the first results again.
    pub idempotency: Option<BatchIdempotency>,
}

/// The idempotency key of a batch, and the content that a repeated request must have too.
pub struct BatchIdempotency {
    /// The idempotency key.
    pub key: IdempotencyKey,
    /// The messages in any unambiguous encoding.
    pub content: Vec<u8>,
}

/// The response to a batch.
#[derive(Debug)]
pub struct SentBatch {
    /// The result of each message, in the order of the messages.
    pub results: Vec<BatchResult>,
    /// True if this is the response to an earlier request with the same idempotency key.
    pub replayed: bool,
}

/// The messages of a batch after their fields are parsed. An `Err` stands for a message with an error.
type Requests = Vec<Result<Request, Refusal>>;

/// The sealed messages of a batch. An `Err` stands for a message with an error.
type SealedMessages = Vec<Result<PendingEnvelope, Refusal>>;

impl Sending {
    /// Seals the messages, and stores all accepted ones in one commit. Each message is checked, limited and counted as
    /// if the messages were sent separately, one after the other.
    pub async fn send_batch(&self, caller: &Caller, batch: SendBatch) -> Limited<SentBatch> {
        self.try_send_batch(caller, batch).await.unwrap_or_else(Limited::before_rate_check)
    }

    /// Seals and commits a batch. Repeats both steps if a recipient has changed in between. An `Err` stands for an
    /// error before the rate limits were checked.
    async fn try_send_batch(
        &self,
        caller: &Caller,
        batch: SendBatch,
    ) -> Result<Limited<SentBatch>, Error> {
        if let Some(limited) = self.core.cached_rate_limit(&caller.id) {
            return Ok(limited);
        }
        let Some(from) = self.core.material(&caller.key)? else {
            return Ok(self.reject(caller, Purpose::Send, REVOKED_SENDER).await);
        };
        let (requests, key) = self.read_batch(batch, from)?;
        for _ in 0..SEAL_TRIES_MAX {
            let messages = self.prepare_batch(caller.id, from, &requests).await?;
            if let Some(limited) = self.commit_batch(caller.id, &messages, key.clone()).await? {
                return Ok(limited);
            }
        }
        // A recipient has changed during every try. Nothing is stored, so the caller can retry.
        Err(Refusal::Unavailable.into())
    }

    fn read_batch(
        &self,
        batch: SendBatch,
        from: &KeyMaterial,
    ) -> Result<(Requests, Option<Idempotency>), WalletError> {
        let limit_bytes = self.core.settings.message_bytes_max;
        let read = |message: Result<NewMessage, Refusal>| match message {
            Ok(send) if send.message.len() > limit_bytes => {
                Ok(Err(Refusal::MessageTooLarge { limit_bytes }))
            }
            Ok(send) => Request::read(send, from).map(Ok),
            Err(refusal) => Ok(Err(refusal)),
        };
        let key = match batch.idempotency {
            None => None,
            Some(BatchIdempotency { key, content }) => {
                let content = Zeroizing::new(content);
                let fingerprint = from.identity.fingerprint(&[FINGERPRINT_LABEL, &content])?;
                Some(Idempotency { key, fingerprint })
            }
        };
        Ok((batch.messages.into_iter().map(read).collect::<Result<_, _>>()?, key))
    }

    /// Finds the recipients and seals the messages. Fails if a look-up is unavailable, so that the batch is refused
    /// before any of its messages is stored.
    async fn prepare_batch(
        &self,
        caller: CallerId,
        from: &KeyMaterial,
        requests: &Requests,
    ) -> Result<SealedMessages, Error> {
        let threads = self.threads(caller.key, requests.iter().flatten()).await?;
        let timestamp = self.core.clock.now();
        let ids = ascending_ids(timestamp, requests.len())?;
        let mut prepared = Vec::with_capacity(requests.len());
        for (request, id) in requests.iter().zip(ids) {
            let message = match request {
                Ok(request) => {
                    self.prepare_at((caller.key, from), request, &threads, (id, timestamp)).await
                }
                Err(refusal) => Err(refusal.clone().into()),
            };
            prepared.push(match message {
                Err(Error::Refused(refusal)) if refusal.code() != Code::ServiceUnavailable => {
                    Err(refusal)
                }
                message => Ok(message?),
            });
            // Lets other requests on the same thread proceed.
            tokio::task::yield_now().await;
        }
        Ok(prepared)
    }

    /// Commits a sealed batch. Returns `None` if cached data of a recipient was out of date, so that the messages must
    /// be sealed again.
    async fn commit_batch(
        &self,
        caller: CallerId,
        messages: &SealedMessages,
        batch_key: Option<Idempotency>,
    ) -> Result<Option<Limited<SentBatch>>, Error> {
        let command = |message: &Result<PendingEnvelope, Refusal>| Command {
            caller,
            purpose: Purpose::Send,
            idempotency: None,
            pending: message.as_ref().ok().cloned(),
            refusal: message.as_ref().err().cloned(),
        };
        let commands = messages.iter().map(command).collect();
        let decided = self.commit_group(CommandGroup { commands, batch_key }).await?;
        let limits = decided.iter().rev().find_map(|decided| decided.limits);
        if decided.iter().any(|decided| decided.verdict == Verdict::Stale) {
            for pending in messages.iter().flatten() {
                self.invalidate_recipient(pending);
            }
            return Ok(None);
        }
        let result = match (refusal_of(&decided), earlier_results(&decided)) {
            (Some(refusal), _) => Err(refusal.clone().into()),
            (None, Some(earlier)) => earlier,
            (None, None) => {
                let envelope = |message: &Result<PendingEnvelope, Refusal>| {
                    Some(Arc::clone(&message.as_ref().ok()?.envelope))
                };
                let envelopes: Vec<_> = messages.iter().map(envelope).collect();
                let results = results_of(&envelopes, &decided).ok_or(Error::Lost);
                results.map(|results| SentBatch { results, replayed: false })
            }
        };
        Ok(Some(Limited { result, limits }))
    }
}

/// Returns ids with the same time in ascending order, so that the envelopes of a batch keep the order of its messages.
fn ascending_ids(timestamp: Timestamp, count: usize) -> Result<Vec<EnvelopeId>, WalletError> {
    let id = |_| Ok(EnvelopeId::new(timestamp, random()?));
    let mut ids = (0..count).map(id).collect::<Result<Vec<_>, WalletError>>()?;
    ids.sort_unstable();
    Ok(ids)
}

/// Returns the results of the earlier batch that this batch repeats. Returns `None` if the batch repeats no request,
/// and an error if the earlier request was a single send. One message that is recognised as repeated is enough, because
/// rate limits may have refused the other messages of a repeated batch.
fn earlier_results(decided: &[Decided]) -> Option<Result<SentBatch, Error>> {
    decided.iter().find_map(|decided| match &decided.verdict {
        Verdict::Replayed(IdempotencyResult::Batch(results)) => {
            let results = serde_json::from_str(results).ok();
            Some(results.map(|results| SentBatch { results, replayed: true }).ok_or(Error::Lost))
        }
        Verdict::Replayed(IdempotencyResult::Send { .. }) => {
            Some(Err(Refusal::IdempotencyKeyReused.into()))
        }
        _ => None,
    })
}

/// First part of the fingerprint of a batch. The first part of a single send is a recipient, so the two never have the
/// same fingerprint.
const FINGERPRINT_LABEL: &[u8] = b"batch of messages";
