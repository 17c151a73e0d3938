//! Council actions on keys and accounts, and suspensions of partners.

use sealpost_domain::{
    AccountId, DecisionId, GovernanceDecision, GovernanceKind, GovernanceReason, GovernanceStatus,
    GovernanceSubject, PartnerId, Timestamp,
    ports::{StoreError, Tx},
};
use sealpost_wallet::random;
use serde::Serialize;
use serde_json::json;

use super::{Deed, Operator, OperatorError};

/// A decision as it stands now.
#[derive(Debug, Clone, Serialize)]
pub struct DecisionShown {
    /// Whom it is about: a key, an account or a partner.
    pub subject: String,
    /// What it says.
    #[serde(flatten)]
    pub decision: GovernanceReason,
    /// Who brought it to this status.
    pub by: String,
}

/// An account and the partner that it belongs to now.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct PartnerAssigned {
    pub account_id: AccountId,
    pub partner: String,
}

impl Operator {
    /// Announces a council action; it does not block yet.
    pub fn propose(
        &self,
        subject: GovernanceSubject,
        reason: &str,
    ) -> Result<DecisionShown, OperatorError> {
        self.decide(&Step {
            subject,
            kind: GovernanceKind::CouncilAction,
            to: GovernanceStatus::Proposed,
            reason,
            action: "governance.propose",
        })
    }

    /// Brings a council action into force, proposed before or not.
    pub fn enforce(
        &self,
        subject: GovernanceSubject,
        reason: &str,
    ) -> Result<DecisionShown, OperatorError> {
        self.decide(&Step {
            subject,
            kind: GovernanceKind::CouncilAction,
            to: GovernanceStatus::Enforced,
            reason,
            action: "governance.enforce",
        })
    }

    /// Ends a council action, proposed or enforced.
    pub fn lift(
        &self,
        subject: GovernanceSubject,
        reason: &str,
    ) -> Result<DecisionShown, OperatorError> {
        self.decide(&Step {
            subject,
            kind: GovernanceKind::CouncilAction,
            to: GovernanceStatus::Lifted,
            reason,
            action: "governance.lift",
        })
    }

    /// Suspends a partner, and with it every key of its accounts.
    pub fn suspend_partner(
        &self,
        partner: &PartnerId,
        reason: &str,
    ) -> Result<DecisionShown, OperatorError> {
        self.decide(&Step {
            subject: GovernanceSubject::Partner(partner.clone()),
            kind: GovernanceKind::PartnerSuspension,
            to: GovernanceStatus::Enforced,
            reason,
            action: "partner.suspend",
        })
    }

    /// Ends the suspension of a partner.
    pub fn restore_partner(
        &self,
        partner: &PartnerId,
        reason: &str,
    ) -> Result<DecisionShown, OperatorError> {
        self.decide(&Step {
            subject: GovernanceSubject::Partner(partner.clone()),
            kind: GovernanceKind::PartnerSuspension,
            to: GovernanceStatus::Lifted,
            reason,
            action: "partner.restore",
        })
    }

    /// Makes an account belong to a partner; it leaves the one that it belonged to.
    pub fn assign_partner(
        &self,
        account: &AccountId,
        partner: &PartnerId,
    ) -> Result<PartnerAssigned, OperatorError> {
        self.act(|tx| {
            if !tx.set_partner(account, Some(partner))? {
                return Ok(Err(OperatorError::NotFound("such account")));
            }
            let partner = partner.as_str().to_owned();
            let detail = json!({"partner": partner});
            let assigned = PartnerAssigned { account_id: *account, partner };
            let deed = Deed { action: "partner.assign", subject: account.to_string(), detail };
            Ok(Ok((assigned, deed)))
        })
    }

    fn decide(&self, step: &Step<'_>) -> Result<DecisionShown, OperatorError> {
        let now = self.clock.now();
        let fresh_id = DecisionId::new(now, random()?);
        self.act(|tx| {
            if let Err(missing) = require_subject(tx, step)? {
                return Ok(Err(missing));
            }
            let open = tx.open_decisions(&step.subject)?;
            let open = open.into_iter().find(|decision| decision.reason.kind == step.kind);
            let from = open.as_ref().map(|decision| decision.reason.status);
            if let Err(pointless) = step.check(from) {
                return Ok(Err(pointless));
            }
            let decision = step.decision(open.as_ref().map_or(fresh_id, |open| open.id), now, self);
            match open {
                Some(_) => tx.update_decision(&decision)?,
                None => tx.insert_decision(&decision)?,
            }
            let subject = step.subject.to_string();
            let detail = json!({"from": from, "reason": step.reason});
            let deed = Deed { action: step.action, subject: subject.clone(), detail };
            let GovernanceDecision { reason, by, .. } = decision;
            Ok(Ok((DecisionShown { subject, decision: reason, by }, deed)))
        })
    }
}

/// Where a decision is to be brought.
struct Step<'a> {
    subject: GovernanceSubject,
    kind: GovernanceKind,
    to: GovernanceStatus,
    reason: &'a str,
    action: &'static str,
}

impl Step<'_> {
    fn check(&self, from: Option<GovernanceStatus>) -> Result<(), OperatorError> {
        use GovernanceStatus as S;
        match (from, self.to) {
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

    fn decision(
        &self,
        id: DecisionId,
        since: Timestamp,
        operator: &Operator,
    ) -> GovernanceDecision {
        let reason = GovernanceReason {
            kind: self.kind,
            status: self.to,
            reason: self.reason.to_owned(),
            since,
        };
        GovernanceDecision { id, subject: self.subject.clone(), reason, by: operator.actor.clone() }
    }
}

fn require_subject(
    tx: &mut dyn Tx,
    step: &Step<'_>,
) -> Result<Result<(), OperatorError>, StoreError> {
    let (exists, what) = match &step.subject {
        GovernanceSubject::Account(id) => (tx.lock_account(id)?, "such account"),
        GovernanceSubject::Key(id) => (tx.lock_key(id)?.is_some(), "such API key"),
        // Its last account may have left it since it was suspended.
        GovernanceSubject::Partner(_) if step.to == GovernanceStatus::Lifted => return Ok(Ok(())),
        GovernanceSubject::Partner(id) => {
            (tx.count_accounts_of(id)? > 0, "account of this partner")
        }
    };
    Ok(if exists { Ok(()) } else { Err(OperatorError::NotFound(what)) })
}
