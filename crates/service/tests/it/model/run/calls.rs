//! Runs requests that act as a key.

use sealpost_domain::{EventKind, Refusal};
use sealpost_service::Register;
use serde_json::Value;

use super::{
    super::{
        op::{Asked, Body, Message, Opener, Pick, To, Url, Who},
        truth::{Caller, MESSAGE_BYTES_MAX, Refused, Request, Said, Sending, Target},
    },
    Checked, Run, UNKNOWN_KEY,
    account::HANDLES,
    compare::{check_within, fault, said, same, sorted, text, without},
};
use crate::support;

impl Run {
    pub(super) fn send(
        &mut self,
        who: Who,
        to: To,
        message: Message,
        name: Option<Pick>,
    ) -> Checked {
        let caller = self.caller(who)?;
        let request = self.request(to, message, name);
        let body = request.message.as_ref().map_err(|_fault| NO_MESSAGE);
        let asked = body.map(|body| support::message(&request.text, body, request.name.as_deref()));
        let expected = self.truth.send(caller, &request);
        let credentials = self.credentials(caller);
        let limited = self.runtime.block_on(self.world.sealpost.send(&credentials, asked));
        let replayed = limited.result.as_ref().is_ok_and(|sent| sent.replayed);
        let got = said(limited);
        let answer = got.result.clone();
        let result = if replayed {
            answer.clone().map(Sending::Replay)
        } else {
            without(answer.clone(), FRESH_OF_SEND).map(Sending::Fresh)
        };
        same("send", &expected, &Said { result, limits: got.limits })?;
        check_within(&expected)?;
        if let (Ok(Sending::Fresh(_)), Ok(answer)) = (&expected.result, answer) {
            check_fresh(&answer, &request)?;
            self.truth.add_envelope(caller, request, answer);
        }
        self.check_rows()
    }

    fn request(&self, to: To, message: Message, name: Option<Pick>) -> Request {
        let handle = |pick: Pick| HANDLES[pick.of(HANDLES.len()).unwrap()];
        let (to, text) = match to {
            To::Handle(pick) => (Target::Handle(handle(pick)), handle(pick).to_owned()),
            To::Key(pick) => {
                let key = self.key(pick);
                (Target::Key(key), self.truth.keys[key].id.clone())
            }
            To::Malformed => (Target::Unknown, "ak_nonsense".to_owned()),
            To::Nobody => (Target::Unknown, "nobody".to_owned()),
            To::RawDid => (Target::RawDid, " DID%3akey:z6Mk".to_owned()),
            To::Shouted(pick) => {
                (Target::Handle(handle(pick)), format!("@{}", handle(pick).to_uppercase()))
            }
            To::Unknown => (Target::Unknown, UNKNOWN_KEY.to_owned()),
        };
        let message = match message {
            Message::Faulty => Err(Refused::of("MISSING_FIELD", "message")),
            Message::Longest => Ok("ü".repeat(MESSAGE_BYTES_MAX / 2)),
            Message::Small(pick) => Ok(MESSAGES[pick.of(MESSAGES.len()).unwrap()].to_owned()),
            Message::TooLong => Ok("x".repeat(MESSAGE_BYTES_MAX + 1)),
        };
        let name = name.and_then(|pick| pick.of(NAMES.len())).map(|at| NAMES[at].to_owned());
        Request { to, text, message, name }
    }

    pub(super) fn open(&mut self, who: Opener, asked: Asked) -> Checked {
        let envelope = match asked {
            Asked::Envelope(pick) => pick.of(self.truth.envelopes.len()),
            Asked::Faulty | Asked::Malformed | Asked::Unknown => None,
        };
        let caller = self.opener(who, envelope)?;
        let said = match asked {
            Asked::Envelope(_) => self.open_as(caller, Ok(envelope)),
            Asked::Faulty => self.open_as(caller, Err(NO_ENVELOPE_ID)),
            Asked::Malformed => self.open_text(caller, "env_nonsense"),
            Asked::Unknown => self.open_as(caller, Ok(None)),
        };
        said.map(drop)
    }

    pub(super) fn open_as(
        &mut self,
        caller: Caller,
        asked: Result<Option<usize>, Refusal>,
    ) -> Result<Result<Value, Refused>, String> {
        match asked {
            Ok(Some(envelope)) => {
                let id = self.truth.envelopes[envelope].id.clone();
                self.compare_opening(caller, Ok(Some(envelope)), &Ok(id))
            }
            Ok(None) => self.open_text(caller, UNKNOWN_ENVELOPE),
            Err(refusal) => {
                let refused = Refused::of("MISSING_FIELD", "envelope_id");
                self.compare_opening(caller, Err(refused), &Err(refusal))
            }
        }
    }

    fn open_text(&mut self, caller: Caller, id: &str) -> Result<Result<Value, Refused>, String> {
        self.compare_opening(caller, Ok(None), &Ok(id.to_owned()))
    }

    fn compare_opening(
        &mut self,
        caller: Caller,
        asked: Result<Option<usize>, Refused>,
        id: &Result<String, Refusal>,
    ) -> Result<Result<Value, Refused>, String> {
        let expected = self.truth.open(caller, asked);
        let got = said(self.world.sealpost.open(&self.credentials(caller), id));
        same("opening", &expected, &got)?;
        check_within(&got)?;
        Ok(got.result)
    }

    pub(super) fn register(&mut self, who: Who, url: Url) -> Checked {
        let caller = self.caller(who)?;
        let (asked, expected) = match url {
            Url::Faulty => (Err(NO_URL), Err(Refused::of("MISSING_FIELD", "url"))),
            Url::Private => (Ok("https://private.example/"), Ok("https://private.example/")),
            Url::Public => (Ok("https://bob.example/"), Ok("https://bob.example/")),
        };
        let asked = asked.map(|url| Register {
            url: url.to_owned(),
            ..support::webhook_for(EventKind::EnvelopeReceived)
        });
        let expected = self.truth.register(caller, expected);
        let got = said(self.world.sealpost.register(&self.credentials(caller), &asked));
        let result = without(got.result.clone(), &[&["webhook_id"], &["secret"]]);
        same("webhook", &expected, &Said { result, limits: got.limits })?;
        if let Ok(mut answer) = got.result {
            text(&answer, "webhook_id", "wh_")?;
            text(&answer, "secret", "whsec_")?;
            let members = answer.as_object_mut().unwrap();
            members.retain(|name, _| {
                !matches!(&**name, "secret" | "waiting" | "waiting_more" | "warning")
            });
            self.truth.add_webhook(caller, answer);
        }
        check_within(&expected)
    }

    pub(super) fn status(&mut self, who: Who, body: Body) -> Checked {
        let caller = self.caller(who)?;
        let fault = fault(body);
        let asked = fault.as_ref().map_or(Ok(()), |(refusal, _)| Err(refusal.clone()));
        let in_order = |mut said: Said<Value>| {
            if let Ok(answer) = &mut said.result {
                let reasons = answer["governance"]["reasons"].take();
                answer["governance"]["reasons"] = sorted(reasons);
            }
            said
        };
        let mut expected = in_order(self.truth.status(caller, fault.map(|(_, refused)| refused)));
        if let (Ok(answer), Some(limits)) = (&mut expected.result, &expected.limits) {
            answer["usage"] = limits.clone();
        }
        let got = in_order(said(self.world.sealpost.status(&self.credentials(caller), &asked)));
        same("status", &expected, &got)?;
        check_within(&got)
    }
}

/// Checks the form of the values that the model cannot predict, such as ids and hashes.
fn check_fresh(answer: &Value, request: &Request) -> Checked {
    text(answer, "envelope_id", "env_")?;
    let hash = text(answer, "envelope_hash", "sha256:")?;
    let size = answer["metadata"]["payload_size_bytes"].as_u64().unwrap();
    let message_size = request.message.as_ref().map_or(0, String::len);
    let is_larger = usize::try_from(size).unwrap() > message_size;
    same(
        "hash in hexadecimal and sealed bytes larger than the message",
        &(71, true),
        &(hash.len(), is_larger),
    )
}

const FRESH_OF_SEND: &[&[&str]] =
    &[&["envelope_id"], &["envelope_hash"], &["metadata", "payload_size_bytes"]];
const MESSAGES: [&str; 2] = ["hello", "grüße"];
const NAMES: [&str; 2] = ["order 7", "order 8"];
const NO_ENVELOPE_ID: Refusal = Refusal::MissingField { field: "envelope_id" };
const NO_MESSAGE: Refusal = Refusal::MissingField { field: "message" };
const NO_URL: Refusal = Refusal::MissingField { field: "url" };
pub(super) const UNKNOWN_ENVELOPE: &str = "env_01h455vb4pex5vsknk084sn02q";
