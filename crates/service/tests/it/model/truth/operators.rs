//! Predicts the results of operators' actions.

use serde_json::{Value, json};

use super::{
    super::{
        op::{Event, Plan, Verb},
        usage::time,
    },
    Decision, PARTNERS, Truth, terms,
};

/// The reason why an action is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Unmade {
    Illegal,
    NotFound,
    Pointless,
}

/// The result of an operator's action.
pub(in super::super) type Deed = Result<Value, Unmade>;

/// The account, key or partner that a governance decision concerns.
#[derive(Debug, Clone, Copy)]
enum Subject {
    Account(usize),
    Key(usize),
    Partner(&'static str),
}

impl Truth {
    pub(in super::super) fn move_key(&mut self, key: usize, event: Event) -> Deed {
        let from = self.keys[key].status;
        let (to, entries) = match (from, event) {
            ("active", Event::Deactivate) => ("deactivated", 1),
            ("active", Event::Rotate) => ("active", 2),
            ("deactivated", Event::Reactivate) => ("active", 1),
            ("active" | "deactivated", Event::Revoke) => ("revoked", 1),
            _ => return Err(Unmade::Illegal),
        };
        self.deeds += entries;
        self.keys[key].status = to;
        let mut shown = self.shown(key);
        if let Event::Revoke = event {
            let gone = self.webhook_ids(key);
            // A repeated delivery is pending too, also to a webhook younger than its envelope.
            let waiting = self.queue().into_iter().filter(|(_, webhook)| gone.contains(webhook));
            shown["deliveries"] = json!(waiting.count());
            shown["registrations"] = json!(gone.len());
            self.keys[key].webhooks.clear();
        }
        Ok(shown)
    }

    pub(in super::super) fn set_plan(&mut self, key: usize, plan: Plan) -> Value {
        (self.keys[key].plan, self.keys[key].terms) = terms(plan);
        self.deeds += 1;
        self.shown(key)
    }

    pub(in super::super) fn assign(&mut self, account: usize, partner: usize) -> Value {
        self.accounts[account].partner = Some(partner);
        self.deeds += 1;
        json!({"account_id": self.accounts[account].id, "partner": PARTNERS[partner]})
    }

    pub(in super::super) fn decide_on_key(&mut self, key: usize, verb: Verb, why: &str) -> Deed {
        self.decide(Subject::Key(key), verb, why)
    }

    pub(in super::super) fn decide_on_account(
        &mut self,
        account: usize,
        verb: Verb,
        why: &str,
    ) -> Deed {
        self.decide(Subject::Account(account), verb, why)
    }

    /// Predicts the suspension or restoration of a partner. A suspension needs a partner with an account. A restoration
    /// does not.
    pub(in super::super) fn decide_on_partner(
        &mut self,
        partner: usize,
        verb: Verb,
        why: &str,
    ) -> Deed {
        let is_empty = !self.accounts.iter().any(|account| account.partner == Some(partner));
        if verb != Verb::Lift && is_empty {
            return Err(Unmade::NotFound);
        }
        let verb = if verb == Verb::Propose { Verb::Enforce } else { verb };
        self.decide(Subject::Partner(PARTNERS[partner]), verb, why)
    }

    fn decide(&mut self, subject: Subject, verb: Verb, why: &str) -> Deed {
        let (kind, id, before) = match subject {
            Subject::Account(at) => {
                ("council_action", self.accounts[at].id.clone(), self.accounts[at].council.take())
            }
            Subject::Key(at) => {
                ("council_action", self.keys[at].id.clone(), self.keys[at].council.take())
            }
            Subject::Partner(name) => {
                ("partner_suspension", name.to_owned(), self.suspended.remove(name))
            }
        };
        let before_status = before.as_ref().map(|decision| decision.status);
        let status = match (before_status, verb) {
            (None, Verb::Propose) => Ok("proposed"),
            (None | Some("proposed"), Verb::Enforce) => Ok("enforced"),
            (Some(_), Verb::Lift) => Ok("lifted"),
            (None, Verb::Lift) => Err(Unmade::NotFound),
            (Some(_), Verb::Enforce | Verb::Propose) => Err(Unmade::Pointless),
        };
        let after = match status {
            Err(_) => before,
            Ok("lifted") => None,
            Ok(status) => Some(Decision { status, reason: why.to_owned(), since: self.now }),
        };
        match (subject, after) {
            (Subject::Account(at), after) => self.accounts[at].council = after,
            (Subject::Key(at), after) => self.keys[at].council = after,
            (Subject::Partner(name), Some(after)) => {
                self.suspended.insert(name, after);
            }
            (Subject::Partner(_), None) => {}
        }
        let status = status?;
        self.deeds += 1;
        Ok(json!({
            "subject": id,
            "kind": kind,
            "status": status,
            "reason": why,
            "since": time(self.now),
            "by": "operator:test",
        }))
    }

    fn shown(&self, key: usize) -> Value {
        let key = &self.keys[key];
        json!({
            "api_key_id": key.id,
            "account_id": self.accounts[key.account].id,
            "did": key.did,
            "status": key.status,
            "plan": key.plan,
            "label": super::LABEL,
            "handle": key.handle,
        })
    }
}
