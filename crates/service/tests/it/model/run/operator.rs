//! Runs actions of operators.

use sealpost_domain::{self as domain, EnterpriseTerms, PartnerId};
use sealpost_service::OperatorError;
use serde::Serialize;

use super::{
    super::{
        op::{Event, Pick, Plan, Subject, Verb},
        truth::{Deed, PARTNERS, Unmade},
        usage::Terms,
    },
    Checked, Run,
    compare::same,
};

impl Run {
    pub(super) fn move_key(&mut self, key: Pick, event: Event) -> Checked {
        let key = self.key(key);
        let id = self.truth.keys[key].id.parse().unwrap();
        let operator = self.world.operator();
        let got = match event {
            Event::Deactivate => done(operator.deactivate_key(&id)),
            Event::Reactivate => done(operator.reactivate_key(&id)),
            Event::Revoke => done(operator.revoke_key(&id)),
            Event::Rotate => done(operator.rotate_key(&id)),
        };
        same("act", &self.truth.move_key(key, event), &got)
    }

    pub(super) fn set_plan(&mut self, key: usize, plan: Plan) -> Checked {
        let id = self.truth.keys[key].id.parse().unwrap();
        let set = self.world.operator().set_plan(&id, agreed(plan));
        let got = done(set.map(|shown| shown.key));
        same("act", &Ok(self.truth.set_plan(key, plan)), &got)
    }

    pub(super) fn assign(&mut self, account: Pick, partner: Pick) -> Checked {
        let account = account.of(self.truth.accounts.len()).unwrap();
        let partner = partner.of(PARTNERS.len()).unwrap();
        let id = self.truth.accounts[account].id.parse().unwrap();
        let got = done(self.world.operator().assign_partner(&id, &named(partner)));
        same("act", &Ok(self.truth.assign(account, partner)), &got)
    }

    pub(super) fn decide(&mut self, subject: Subject, verb: Verb) -> Checked {
        let operator = self.world.operator();
        let decided = |subject| match verb {
            Verb::Enforce => done(operator.enforce(&subject, WHY)),
            Verb::Lift => done(operator.lift(&subject, WHY)),
            Verb::Propose => done(operator.propose(&subject, WHY)),
        };
        let (got, expected) = match subject {
            Subject::Account(pick) => {
                let account = pick.of(self.truth.accounts.len()).unwrap();
                let id = self.truth.accounts[account].id.parse().unwrap();
                let got = decided(domain::GovernanceSubject::Account(id));
                (got, self.truth.decide_on_account(account, verb, WHY))
            }
            Subject::Key(pick) => {
                let key = self.key(pick);
                let id = self.truth.keys[key].id.parse().unwrap();
                (
                    decided(domain::GovernanceSubject::Key(id)),
                    self.truth.decide_on_key(key, verb, WHY),
                )
            }
            Subject::Partner(pick) => {
                let partner = pick.of(PARTNERS.len()).unwrap();
                let got = match verb {
                    Verb::Lift => done(operator.restore_partner(&named(partner), WHY)),
                    Verb::Enforce | Verb::Propose => {
                        done(operator.suspend_partner(&named(partner), WHY))
                    }
                };
                (got, self.truth.decide_on_partner(partner, verb, WHY))
            }
        };
        same("act", &expected, &got)
    }
}

fn named(partner: usize) -> PartnerId {
    PartnerId::parse(PARTNERS[partner]).unwrap()
}

fn agreed(plan: Plan) -> domain::Plan {
    match plan {
        Plan::Builder => domain::Plan::Builder,
        Plan::Enterprise(Terms { per_minute, per_day, per_month, per_second, overage }) => {
            let allow_overage = overage;
            domain::Plan::Enterprise(EnterpriseTerms {
                per_minute,
                per_day,
                per_month,
                per_second,
                allow_overage,
            })
        }
        Plan::Explorer => domain::Plan::Explorer,
    }
}

fn done<T: Serialize>(result: Result<T, OperatorError>) -> Deed {
    match result {
        Ok(shown) => Ok(serde_json::to_value(shown).unwrap()),
        Err(OperatorError::IllegalTransition(_)) => Err(Unmade::Illegal),
        Err(OperatorError::NotFound(_)) => Err(Unmade::NotFound),
        Err(OperatorError::Pointless(_)) => Err(Unmade::Pointless),
        Err(
            error @ (OperatorError::HandleInUse(_)
            | OperatorError::HasHandle(_)
            | OperatorError::IssuerKeysFull
            | OperatorError::KekInUse { .. }
            | OperatorError::Store(_)
            | OperatorError::Wallet(_)),
        ) => panic!("{error:?}"),
    }
}

const WHY: &str = "for a reason";
