//! Predicts the responses to requests that change webhooks and their deliveries.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{super::usage::time, Caller, Refused, Said, Truth, Webhook, admission::Act};

impl Truth {
    pub(in super::super) fn list(&mut self, caller: Caller) -> Said<Value> {
        self.answer(caller, Act::Manage, |truth, key| {
            let webhooks: Vec<_> = truth.keys[key].webhooks.iter().map(|it| &it.shown).collect();
            Ok(json!({"webhooks": webhooks}))
        })
    }

    pub(in super::super) fn delete(
        &mut self,
        caller: Caller,
        id: Result<&str, Refused>,
    ) -> Said<Value> {
        self.answer(caller, Act::Manage, |truth, key| {
            let id = id?;
            let before = truth.queue();
            let webhooks = &mut truth.keys[key].webhooks;
            let found = webhooks.iter().position(|webhook| webhook.id == id);
            webhooks.remove(found.ok_or(Refused::new("WEBHOOK_NOT_FOUND"))?);
            let left = truth.queue();
            let has = |queue: &[(String, String)], id: &str| queue.iter().any(|(it, _)| it == id);
            for envelope in &mut truth.envelopes {
                let has_lost_all = has(&before, &envelope.id) && !has(&left, &envelope.id);
                envelope.is_waiting |= has_lost_all && envelope.opened_at.is_none();
            }
            Ok(json!({"webhook_id": id, "deleted": true}))
        })
    }

    /// Predicts the enabling of a webhook. `due_now` is zero, because the node has leased every delivery.
    pub(in super::super) fn enable(
        &mut self,
        caller: Caller,
        id: Result<&str, Refused>,
    ) -> Said<Value> {
        self.answer(caller, Act::Manage, |truth, key| {
            let mut shown = truth.webhook(key, id?)?.shown.clone();
            shown["due_now"] = json!(0);
            Ok(shown)
        })
    }

    pub(in super::super) fn rotate_webhook(
        &mut self,
        caller: Caller,
        id: Result<&str, Refused>,
    ) -> Said<Value> {
        self.answer(caller, Act::Manage, |truth, key| {
            let (now, id) = (truth.now, id?);
            let retiring = &mut truth.webhook(key, id)?.retiring;
            retiring.retain(|until| *until > now);
            if retiring.len() == 4 {
                return Err(Refused::new("QUOTA_EXCEEDED"));
            }
            retiring.insert(0, now + DAY_MS);
            let retiring: Vec<_> =
                retiring.iter().map(|until| json!({"expires_at": time(*until)})).collect();
            Ok(json!({"webhook_id": id, "retiring": retiring}))
        })
    }

    pub(in super::super) fn redeliver(
        &mut self,
        caller: Caller,
        id: Result<&str, Refused>,
        envelope: Result<Option<usize>, Refused>,
    ) -> Said<Value> {
        self.answer(caller, Act::Manage, |truth, key| {
            let (id, envelope) = (id?, envelope?);
            truth.webhook(key, id)?;
            let envelope = envelope.filter(|at| truth.is_kept(*at));
            let envelope = envelope.map(|at| &mut truth.envelopes[at]);
            let envelope = envelope.filter(|envelope| envelope.recipient == key);
            let envelope = envelope.ok_or(Refused::new("ENVELOPE_NOT_FOUND"))?;
            envelope.is_waiting = false;
            let envelope = envelope.id.clone();
            truth.redelivered.insert((envelope.clone(), id.to_owned()));
            Ok(json!({"webhook_id": id, "envelope_id": envelope, "outcome": "pending"}))
        })
    }

    /// Returns the pending deliveries of existing webhooks, as pairs of envelope id and webhook id.
    pub(in super::super) fn queue(&self) -> Vec<(String, String)> {
        let told = self.envelopes.iter().flat_map(|envelope| {
            envelope.told.iter().map(|webhook| (envelope.id.clone(), webhook.clone()))
        });
        let mut queue: BTreeSet<_> = told.chain(self.redelivered.iter().cloned()).collect();
        let there: BTreeSet<_> =
            self.keys.iter().flat_map(|key| &key.webhooks).map(|it| &it.id).collect();
        queue.retain(|(_, webhook)| there.contains(webhook));
        queue.into_iter().collect()
    }

    fn webhook(&mut self, key: usize, id: &str) -> Result<&mut Webhook, Refused> {
        let found = self.keys[key].webhooks.iter_mut().find(|webhook| webhook.id == id);
        found.ok_or(Refused::new("WEBHOOK_NOT_FOUND"))
    }
}

const DAY_MS: i64 = 86_400_000;
