//! Runs requests that list and change webhooks and their deliveries.

use sealpost_domain::Refusal;

use serde_json::Value;

use super::{
    super::{
        op::{Asked, Pick, Webhook, Who},
        truth::{Caller, Refused, Said},
    },
    Checked, Run,
    calls::UNKNOWN_ENVELOPE,
    compare::{check_within, said, same, sorted, text, without},
};
use crate::client::Manage;

impl Run {
    pub(super) fn list(&mut self, who: Who) -> Checked {
        let caller = self.caller(who)?;
        let in_order = |said: Said<Value>| {
            let result = said.result.map(|mut answer| sorted(answer["webhooks"].take()));
            Said { result, limits: said.limits }
        };
        let expected = in_order(self.truth.list(caller));
        let asked = Ok(Manage::List);
        let got = in_order(said(self.world.sealpost.manage(&self.credentials(caller), &asked)));
        same("list", &expected, &got)?;
        check_within(&got)
    }

    pub(super) fn delete(&mut self, who: Who, key: Pick, webhook: Webhook) -> Checked {
        let (caller, id) = (self.caller(who)?, self.webhook(key, webhook));
        let expected = self.truth.delete(caller, named(&id));
        let got = self.manage(caller, &id.map(|webhook_id| Manage::Delete { webhook_id }));
        same("deletion", &expected, &got)?;
        check_within(&got)
    }

    pub(super) fn enable(&mut self, who: Who, key: Pick, webhook: Webhook) -> Checked {
        let (caller, id) = (self.caller(who)?, self.webhook(key, webhook));
        let expected = self.truth.enable(caller, named(&id));
        let got = self.manage(caller, &id.map(|webhook_id| Manage::Enable { webhook_id }));
        same("enabling", &expected, &got)?;
        check_within(&got)
    }

    pub(super) fn rotate_webhook(&mut self, who: Who, key: Pick, webhook: Webhook) -> Checked {
        let (caller, id) = (self.caller(who)?, self.webhook(key, webhook));
        let expected = self.truth.rotate_webhook(caller, named(&id));
        let got = self.manage(caller, &id.map(|webhook_id| Manage::RotateSecret { webhook_id }));
        if let Ok(answer) = &got.result {
            text(answer, "secret", "whsec_")?;
        }
        let result = without(got.result, &[&["secret"]]);
        same("rotation of a webhook", &expected, &Said { result, limits: got.limits })?;
        check_within(&expected)
    }

    pub(super) fn redeliver(
        &mut self,
        who: Who,
        key: Pick,
        webhook: Webhook,
        asked: Asked,
    ) -> Checked {
        let (caller, id) = (self.caller(who)?, self.webhook(key, webhook));
        let envelope = match asked {
            Asked::Envelope(pick) => Ok(pick.of(self.truth.envelopes.len())),
            Asked::Faulty => Err(Refused::of("MISSING_FIELD", "envelope_id")),
            Asked::Malformed | Asked::Unknown => Ok(None),
        };
        let envelope_id = match (asked, &envelope) {
            (Asked::Faulty, _) => Err(Refusal::MissingField { field: "envelope_id" }),
            (Asked::Malformed, _) => Ok("env_nonsense".to_owned()),
            (_, Ok(Some(at))) => Ok(self.truth.envelopes[*at].id.clone()),
            (_, _) => Ok(UNKNOWN_ENVELOPE.to_owned()),
        };
        let expected = self.truth.redeliver(caller, named(&id), envelope);
        let asked = id.and_then(|webhook_id| {
            envelope_id.map(|envelope_id| Manage::Redeliver { webhook_id, envelope_id })
        });
        let got = self.manage(caller, &asked);
        same("redelivery", &expected, &got)?;
        check_within(&got)
    }

    fn manage(&self, caller: Caller, asked: &Result<Manage, Refusal>) -> Said<Value> {
        said(self.world.sealpost.manage(&self.credentials(caller), asked))
    }

    fn webhook(&self, key: Pick, webhook: Webhook) -> Result<String, Refusal> {
        let ids = self.truth.webhook_ids(self.key(key));
        match webhook {
            Webhook::Any(pick) => {
                let found = pick.of(ids.len()).map(|at| ids[at].clone());
                Ok(found.unwrap_or_else(|| UNKNOWN_WEBHOOK.to_owned()))
            }
            Webhook::Faulty => Err(Refusal::MissingField { field: "webhook_id" }),
            Webhook::Malformed => Ok("wh_nonsense".to_owned()),
        }
    }
}

/// Returns the id of a webhook, or the refusal in the form of the model.
fn named(id: &Result<String, Refusal>) -> Result<&str, Refused> {
    id.as_deref().map_err(|_missing| Refused::of("MISSING_FIELD", "webhook_id"))
}

const UNKNOWN_WEBHOOK: &str = "wh_01h455vb4pex5vsknk084sn02q";
