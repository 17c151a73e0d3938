//! Sends many messages in one request. The messages are sealed one by one and stored in one commit.

use std::sync::Arc;

use sealpost_domain::{
    Code, Envelope, EnvelopeId, IdempotencyKey, Refusal, Timestamp, ports::IdempotencyResult,
};
use sealpost_wallet::{WalletError, random};
use zeroize::Zeroizing;

use super::{
    Sending,
    command::{
        BatchResult, Command, CommandGroup, Decided, Idempotency, Verdict, refusal_of, results_of,
    },
    message::NewMessage,
    prepare::{Prepared, Request},
    send_message::{REVOKED_SENDER, SEAL_TRIES_MAX},
};
use crate::{
    cache::{cached_key::KeyMaterial, key_cache::CacheEvent},
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
type PreparedMessages = Vec<Result<Prepared, Refusal>>;

impl Sending {
    /// Seals the messages, and stores all accepted ones in one commit. Each message is checked, limited and counted as
    /// if the messages were sent separately, one after the other.
    pub async fn send_batch(&self, caller: &Caller, batch: SendBatch) -> Limited<SentBatch> {
        if let Some(limited) = self.core.cached_rate_limit(&caller.id) {
            return limited;
        }
        let from = match self.core.material(&caller.key) {
            Ok(Some(from)) => from,
            Ok(None) => return self.reject(caller, Purpose::Send, REVOKED_SENDER).await,
            Err(fault) => return Limited::before_rate_check(fault),
        };
        match self.read_batch(batch, from) {
            Ok((requests, key)) => {
                self.seal_and_commit_batch(caller.id, from, &requests, key).await
            }
            Err(fault) => Limited::before_rate_check(fault),
        }
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

    /// Seals and commits a batch. Repeats both steps if a recipient has changed in between.
    async fn seal_and_commit_batch(
        &self,
        caller: CallerId,
        from: &KeyMaterial,
        requests: &Requests,
        key: Option<Idempotency>,
    ) -> Limited<SentBatch> {
        for _ in 0..SEAL_TRIES_MAX {
            let prepared = match self.prepare_batch(caller, from, requests).await {
                Ok(prepared) => prepared,
                Err(fault) => return Limited::before_rate_check(fault),
            };
            if let Some(limited) = self.commit_batch(caller, &prepared, key.clone()).await {
                return limited;
            }
        }
        // A recipient has changed during every try. Nothing is stored, so the caller can retry.
        Limited::before_rate_check(Refusal::Unavailable)
    }

    /// Finds the recipients and seals the messages. Fails if a look-up is unavailable, so that the batch is refused
    /// before any of its messages is stored. Yields to the async runtime after each message, so that other requests on
    /// the same thread can proceed.
    async fn prepare_batch(
        &self,
        caller: CallerId,
        from: &KeyMaterial,
        requests: &Requests,
    ) -> Result<PreparedMessages, Error> {
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
                Ok(message) => Ok(message),
                Err(Error::Refused(refusal)) if refusal.code() != Code::ServiceUnavailable => {
                    Err(refusal)
                }
                Err(fault) => return Err(fault),
            });
            tokio::task::yield_now().await;
        }
        Ok(prepared)
    }

    /// Commits a sealed batch. Returns `None` if cached data of a recipient was out of date, so that the messages must
    /// be sealed again.
    async fn commit_batch(
        &self,
        caller: CallerId,
        prepared: &PreparedMessages,
        key: Option<Idempotency>,
    ) -> Option<Limited<SentBatch>> {
        let command = |message: &Result<Prepared, Refusal>| Command {
            caller,
            purpose: Purpose::Send,
            idempotency: None,
            pending: message.as_ref().ok().map(|message| message.pending.clone()),
            refusal: message.as_ref().err().cloned(),
        };
        let commands = prepared.iter().map(command).collect();
        let decided = match self.commit_group(CommandGroup { commands, batch_key: key }).await {
            Ok(decided) => decided,
            Err(fault) => return Some(Limited::before_rate_check(fault)),
        };
        let limits = decided.iter().rev().find_map(|decided| decided.limits);
        if decided.iter().any(|decided| decided.verdict == Verdict::Stale) {
            self.invalidate_recipients(prepared);
            return None;
        }
        let envelope = |it: &Result<Prepared, Refusal>| -> Option<Arc<Envelope>> {
            Some(Arc::clone(&it.as_ref().ok()?.pending.envelope))
        };
        let envelopes: Vec<_> = prepared.iter().map(envelope).collect();
        let result = match (refusal_of(&decided), earlier_results(&decided)) {
            (Some(refusal), _) => Err(refusal.clone().into()),
            (None, Some(earlier)) => earlier,
            (None, None) => {
                let results = results_of(&envelopes, &decided).ok_or(Error::Lost);
                results.map(|results| SentBatch { results, replayed: false })
            }
        };
        Some(Limited { result, limits })
    }

    fn invalidate_recipients(&self, prepared: &PreparedMessages) {
        for message in prepared.iter().flatten() {
            let (key, handle) = (&message.recipient.id, message.recipient.handle.as_ref());
            self.core.cache.invalidate_on(CacheEvent::RecipientStale { key, handle });
        }
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

/// Separates the fingerprints of batches from those of single sends, whose first part is a recipient.
const FINGERPRINT_LABEL: &[u8] = b"batch of messages";
