//! Predicts the responses to authenticated requests. The order of the checks is that of the API contract.

use serde_json::{Value, json};

use super::{
    super::usage::time, Called, Caller, Envelope, MESSAGE_BYTES_MAX, Named, REGISTRATIONS_MAX,
    Refused, Said, Truth, Webhook, admission::Act,
};

/// The content of a request to send a message.
pub(in super::super) struct Request {
    pub(in super::super) to: Target,
    /// The recipient, as written in the request.
    pub(in super::super) text: String,
    /// The message, or the refusal of a faulty body.
    pub(in super::super) message: Result<String, Refused>,
    pub(in super::super) name: Option<String>,
}

/// The recipient of a send.
pub(in super::super) enum Target {
    Handle(&'static str),
    Key(usize),
    RawDid,
    Unknown,
}

/// The result of an accepted send.
#[derive(Debug, PartialEq)]
pub(in super::super) enum Sending {
    /// A new envelope, without id, hash and size.
    Fresh(Value),
    /// The first response again, because the idempotency key was repeated.
    Replay(Value),
}

impl Truth {
    pub(in super::super) fn send(&mut self, caller: Caller, request: &Request) -> Said<Sending> {
        self.answer(caller, Act::Execute, |truth, sender| truth.deliver(sender, request))
    }

    fn deliver(&mut self, sender: usize, request: &Request) -> Result<Sending, Refused> {
        let message = request.message.as_ref().map_err(Clone::clone)?;
        if message.len() > MESSAGE_BYTES_MAX {
            return Err(Refused::of("PAYLOAD_TOO_LARGE", "message"));
        }
        let name = request.name.as_ref().map(|name| (sender, name.clone()));
        let first = name.and_then(|name| self.named.get(&name));
        if let Some(first) = first.filter(|first| self.now - first.at <= NAMED_FOR_MS) {
            if first.to == request.text && first.message == *message {
                return Ok(Sending::Replay(self.envelopes[first.envelope].sent.clone()));
            }
            return Err(Refused::new("IDEMPOTENCY_KEY_REUSED"));
        }
        let recipient = self.recipient(&request.to)?;
        let now = self.now;
        let from = &mut self.keys[sender];
        from.used.check_message(&from.terms, now)?;
        from.used.count_message(&from.terms, now);
        let state = if self.webhook_ids(recipient).is_empty() { "waiting" } else { "sent" };
        Ok(Sending::Fresh(json!({
            "status": "delivered",
            "state": state,
            "sender": self.keys[sender].id,
            "recipient": self.keys[recipient].id,
            "encryption": {
                "algorithm": self.algorithm,
                "status": "sealed",
            },
            "metadata": {"timestamp": time(now)},
        })))
    }

    fn recipient(&self, to: &Target) -> Result<usize, Refused> {
        let recipient = match to {
            Target::Handle(handle) => self.handles.get(handle).copied(),
            Target::Key(key) => Some(*key),
            Target::RawDid => return Err(Refused::of("RAW_DID_REJECTED", "to")),
            Target::Unknown => None,
        };
        let recipient = recipient.ok_or(Refused::of("KEY_NOT_FOUND", "to"))?;
        if self.keys[recipient].status != "active" {
            return Err(Refused::of("KEY_INACTIVE", "to"));
        }
        if self.is_blocked(recipient) {
            return Err(Refused::of("GOVERNANCE_BLOCKED", "to"));
        }
        Ok(recipient)
    }

    /// Adds an envelope that the service has stored.
    pub(in super::super) fn add_envelope(&mut self, caller: Caller, request: Request, sent: Value) {
        let id_of = |field: &str| sent[field].as_str().unwrap().to_owned();
        let (id, recipient) = (id_of("envelope_id"), id_of("recipient"));
        let recipient = self.keys.iter().position(|key| key.id == recipient).unwrap();
        let message = request.message.unwrap();
        if let (Some(name), Called::Key(sender)) = (request.name, caller.called) {
            let (to, message) = (request.text, message.clone());
            let envelope = self.envelopes.len();
            let at = self.now;
            self.named.insert((sender, name), Named { to, message, envelope, at });
        }
        let told = self.webhook_ids(recipient);
        let (at, opened_at) = (self.now, None);
        let is_waiting = told.is_empty();
        self.envelopes.push(Envelope {
            id,
            recipient,
            message,
            sent,
            at,
            opened_at,
            told,
            is_waiting,
        });
    }

    /// Returns true if an envelope has not expired. It does not matter whether housekeeping has deleted the row.
    pub(in super::super) fn is_kept(&self, envelope: usize) -> bool {
        self.now - self.envelopes[envelope].at <= KEPT_FOR_MS
    }

    pub(in super::super) fn open(
        &mut self,
        caller: Caller,
        asked: Result<Option<usize>, Refused>,
    ) -> Said<Value> {
        self.answer(caller, Act::Execute, |truth, key| {
            let now = truth.now;
            let envelope = asked?.filter(|envelope| truth.is_kept(*envelope));
            let envelope = envelope.and_then(|envelope| truth.envelopes.get_mut(envelope));
            let envelope = envelope.filter(|envelope| envelope.recipient == key);
            let envelope = envelope.ok_or(Refused::new("ENVELOPE_NOT_FOUND"))?;
            let opened_at = *envelope.opened_at.get_or_insert(now);
            envelope.is_waiting = false;
            let sent = &envelope.sent;
            let is_sender = |key: usize| sent["sender"] == *truth.keys[key].id;
            let sender_handle = truth.handles.iter().find(|(_, key)| is_sender(**key));
            Ok(json!({
                "envelope_id": envelope.id,
                "envelope_hash": sent["envelope_hash"],
                "sender": sent["sender"],
                "sender_handle": sender_handle.map(|(handle, _)| handle),
                "message": envelope.message,
                "thread": null,
            "reply_to": null,
            "type": null,
            "encryption": sent["encryption"],
                "metadata": sent["metadata"],
                "opened_at": time(opened_at),
            }))
        })
    }

    pub(in super::super) fn register(
        &mut self,
        caller: Caller,
        url: Result<&str, Refused>,
    ) -> Said<Value> {
        self.answer(caller, Act::Execute, |truth, at| {
            let url = url?;
            let key = &truth.keys[at];
            if key.webhooks.len() >= REGISTRATIONS_MAX {
                return Err(Refused::new("QUOTA_EXCEEDED"));
            }
            if url.contains("private") {
                return Err(Refused::of("INVALID_FIELD", "url"));
            }
            let waiting = if key.webhooks.is_empty() { truth.waiting(at) } else { 0 };
            Ok(json!({
                "api_key_id": key.id,
                "url": url,
                "events": ["envelope.received"],
                "description": null,
                "status": "enabled",
                "created_at": time(truth.now),
                "warning": null,
                "waiting": waiting,
                "waiting_more": false,
            }))
        })
    }

    /// Adds a webhook that the service has registered.
    pub(in super::super) fn add_webhook(&mut self, caller: Caller, mut shown: Value) {
        let id = shown["webhook_id"].as_str().unwrap().to_owned();
        shown["paused"] = json!(false);
        shown["disabled_reason"] = Value::Null;
        shown["connected"] = Value::Null;
        shown["failing_since"] = Value::Null;
        shown["last_success_at"] = Value::Null;
        shown["last_failure"] = Value::Null;
        if let Called::Key(key) = caller.called {
            self.keys[key].webhooks.push(Webhook { id, shown, retiring: Vec::new() });
        }
    }

    /// Predicts the status of a key without the member `usage`, which equals the rate limits of the response.
    pub(in super::super) fn status(
        &mut self,
        caller: Caller,
        fault: Option<Refused>,
    ) -> Said<Value> {
        self.answer(caller, Act::Manage, |truth, at| {
            if let Some(fault) = fault {
                return Err(fault);
            }
            let key = &truth.keys[at];
            let reasons = truth.decisions(at).into_iter().map(|(kind, decision)| {
                json!({
                    "kind": kind,
                    "status": decision.status,
                    "reason": decision.reason,
                    "since": time(decision.since),
                })
            });
            Ok(json!({
                "api_key_id": key.id,
                "label": super::LABEL,
                "handle": key.handle,
                "did": key.did,
                "status": key.status,
                "plan": key.plan,
                "account_id": truth.accounts[key.account].id,
                "created_at": time(key.created_at),
                "governance": {
                    "blocked": truth.is_blocked(at),
                    "reasons": reasons.collect::<Vec<_>>(),
                },
                "throughput_per_second": key.terms.per_second,
                "webhooks": key.webhooks.len(),
                "waiting": truth.waiting(at),
                "waiting_more": false,
            }))
        })
    }

    /// Returns the number of envelopes that wait because the key had no webhook for them. No envelope is transferred to
    /// a new webhook during a test case.
    fn waiting(&self, key: usize) -> usize {
        let waits =
            |at: &usize| self.envelopes[*at].recipient == key && self.envelopes[*at].is_waiting;
        (0..self.envelopes.len()).filter(waits).filter(|at| self.is_kept(*at)).count()
    }
}

const DAY_MS: i64 = 86_400_000;
const NAMED_FOR_MS: i64 = DAY_MS;
const KEPT_FOR_MS: i64 = 30 * DAY_MS;
