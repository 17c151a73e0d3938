//! Governance decisions: council actions on keys and accounts, and suspensions of partners. A partner is a group of
//! accounts.

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, DecisionId, GovernanceDecision, GovernanceKind, GovernanceReason, GovernanceStatus,
    GovernanceSubject, PartnerId,
};
use sealpost_storage::{Abort, Transaction};
use sealpost_wallet::random;
use serde::Serialize;
use serde_json::json;

use super::lists::NO_OPEN_ACCOUNT;
use crate::acts::audited::{ActionRecord, Concerned, Operator, OperatorError};

/// A governance decision, as operators see it.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct DecisionView {
    /// The key, account or partner that the decision concerns.
    pub subject: String,
    /// Kind, status and reason of the decision.
    #[serde(flatten)]
    pub decision: GovernanceReason,
    /// The operator who made the last change.
    pub by: String,
}

/// An account and the partner that it was assigned to.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct PartnerAssigned {
    /// Id of the account.
    pub account_id: AccountId,
    /// Name of the partner.
    pub partner: String,
}

impl Operator {
    /// Proposes a council action against a key or an account. A proposed action blocks nothing. Fails if there is no
    /// such key or open account, or if an action against it is already proposed or enforced.
    pub fn propose(
        &self,
        subject: &GovernanceSubject,
        reason: &str,
    ) -> Result<DecisionView, OperatorError> {
        self.decide(subject, GovernanceStatus::Proposed, reason, "governance.propose")
    }

    /// Enforces a council action, which blocks the key or account. An earlier proposal is not necessary. Fails if there
    /// is no such key or open account, or if an action against it is already enforced.
    pub fn enforce(
        &self,
        subject: &GovernanceSubject,
        reason: &str,
    ) -> Result<DecisionView, OperatorError> {
        self.decide(subject, GovernanceStatus::Enforced, reason, "governance.enforce")
    }

    /// Lifts a council action that was proposed or enforced. Fails if there is no such action.
    pub fn lift(
        &self,
        subject: &GovernanceSubject,
        reason: &str,
    ) -> Result<DecisionView, OperatorError> {
        self.decide(subject, GovernanceStatus::Lifted, reason, "governance.lift")
    }

    /// Suspends a partner, which blocks all keys of the accounts that are assigned to the partner. Fails if the partner
    /// has no account or is already suspended.
    pub fn suspend_partner(
        &self,
        partner: &PartnerId,
        reason: &str,
    ) -> Result<DecisionView, OperatorError> {
        let subject = GovernanceSubject::Partner(partner.clone());
        self.decide(&subject, GovernanceStatus::Enforced, reason, "partner.suspend")
    }

    /// Ends the suspension of a partner. The suspension no longer blocks the keys of the partner's accounts. Fails if
    /// the partner is not suspended.
    pub fn restore_partner(
        &self,
        partner: &PartnerId,
        reason: &str,
    ) -> Result<DecisionView, OperatorError> {
        let subject = GovernanceSubject::Partner(partner.clone());
        self.decide(&subject, GovernanceStatus::Lifted, reason, "partner.restore")
    }

    /// Assigns an account to a partner, a group of accounts that operators can suspend together. Replaces the account's
    /// previous partner. Fails if the account is closed or does not exist.
    pub fn assign_partner(
        &self,
        account: &AccountId,
        partner: &PartnerId,
    ) -> Result<PartnerAssigned, OperatorError> {
        self.perform(|tx| {
            if !tx.lock_account(account)? {
                return Err(NO_OPEN_ACCOUNT.into());
            }
            tx.set_partner(account, Some(partner))?;
            let partner = partner.as_str().to_owned();
            let detail = json!({"partner": partner});
            let assigned = PartnerAssigned { account_id: *account, partner };
            let record = ActionRecord::on_account("partner.assign", account, detail);
            Ok((assigned, record))
        })
    }

    fn decide(
        &self,
        subject: &GovernanceSubject,
        to: GovernanceStatus,
        reason: &str,
        action: &'static str,
    ) -> Result<DecisionView, OperatorError> {
        let now = self.clock.now();
        let fresh_id = DecisionId::new(now, random()?);
        self.perform(|tx| {
            let (kind, concerned) = require_subject(tx, subject, to)?;
            let open = tx.open_decisions(subject)?;
            let open = open.into_iter().find(|decision| decision.reason.kind == kind);
            let from = open.as_ref().map(|decision| decision.reason.status);
            check_change(from, to)?;
            let decision = GovernanceDecision {
                id: open.as_ref().map_or(fresh_id, |open| open.id),
                subject: subject.clone(),
                reason: GovernanceReason {
                    kind,
                    status: to,
                    reason: reason.to_owned(),
                    since: now,
                },
                by: self.actor.clone(),
            };
            match open {
                Some(_) => tx.update_decision(&decision)?,
                None => tx.insert_decision(&decision)?,
            }
            let detail = json!({"from": from, "reason": reason});
            let record = ActionRecord::new(action, &subject, concerned, detail);
            let GovernanceDecision { reason, by, .. } = decision;
            Ok((DecisionView { subject: subject.to_string(), decision: reason, by }, record))
        })
    }
}

fn check_change(from: Option<GovernanceStatus>, to: GovernanceStatus) -> Result<(), OperatorError> {
    use GovernanceStatus as S;
    match (from, to) {
        (None | Some(S::Lifted), S::Lifted) => {
            Err(OperatorError::NotFound("decision in force or proposed"))
        }
        (Some(S::Enforced), S::Enforced) => {
            Err(OperatorError::Pointless("this is enforced already; lift it first"))
        }
        (Some(S::Enforced), S::Proposed) => {
            Err(OperatorError::Pointless("this is enforced already, not merely proposed"))
        }
        (Some(S::Proposed), S::Proposed) => {
            Err(OperatorError::Pointless("this is proposed already; enforce or lift it"))
        }
        _ => Ok(()),
    }
}

/// Checks that the subject of a decision (a key, account or partner) exists, and locks a key or an account. Returns the
/// kind of the decision, and the account that it concerns.
fn require_subject(
    tx: &mut Transaction,
    subject: &GovernanceSubject,
    to: GovernanceStatus,
) -> Result<(GovernanceKind, Concerned), Abort<OperatorError>> {
    let (exists, what, kind, concerned) = match subject {
        GovernanceSubject::Account(id) => {
            let (exists, concerned) = (tx.lock_account(id)?, Concerned::Account(*id));
            (exists, "open account with this id", GovernanceKind::CouncilAction, concerned)
        }
        GovernanceSubject::Key(id) => {
            let (exists, concerned) = (tx.lock_key(id)?.is_some(), Concerned::Key(*id));
            (exists, "such API key", GovernanceKind::CouncilAction, concerned)
        }
        GovernanceSubject::Partner(id) => {
            // A suspension can be lifted even if the partner has no account any more.
            let exists = to == GovernanceStatus::Lifted || tx.count_accounts_of(id)? > 0;
            let kind = GovernanceKind::PartnerSuspension;
            (exists, "account of this partner", kind, Concerned::Service)
        }
    };
    if exists { Ok((kind, concerned)) } else { Err(OperatorError::NotFound(what).into()) }
}
