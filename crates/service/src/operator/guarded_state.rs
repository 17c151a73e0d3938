//! Refuses outdated forms of operators: another operator has changed the state that the page showed beside the form.

use sealpost_domain::{AccountId, ApiKeyId, GovernanceSubject, Plan, ports::StoreError};
use sealpost_limits::{OveragePolicy, Terms};
use sealpost_storage::Reader;

/// A part of the database that a page shows beside a form, and that only operators change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuardedState {
    /// The open council action against a key or an account, or the suspension of a partner.
    Decision(GovernanceSubject),
    /// The partner of an account.
    Partner(AccountId),
    /// The plan of a key, with its limits.
    Plan(ApiKeyId),
}

impl GuardedState {
    /// Returns the state as text. The text differs after each change, and is never empty.
    pub(crate) fn text(&self, reader: &mut Reader) -> Result<String, StoreError> {
        let text = match self {
            Self::Decision(subject) => {
                let open = reader.open_decisions(subject)?;
                open.first().map(|open| format!("{} {}", open.id, open.reason.status.as_str()))
            }
            Self::Partner(account) => {
                reader.partner_of(account)?.map(|partner| partner.as_str().to_owned())
            }
            Self::Plan(key) => reader.find_key(key)?.map(|key| plan_text(&key.plan)),
        };
        Ok(text.unwrap_or_else(|| NONE.to_owned()))
    }

    /// Returns the error text for an outdated form: the state was changed after the page was shown.
    pub(crate) fn changed(&self) -> &'static str {
        match self {
            Self::Decision(GovernanceSubject::Partner(_)) => {
                "the suspension of the partner was changed since this page was shown. Nothing was done."
            }
            Self::Decision(_) => {
                "the council action was changed since this page was shown. Nothing was done."
            }
            Self::Partner(_) => {
                "the partner of the account was changed since this page was shown. Nothing was done."
            }
            Self::Plan(_) => "the plan was changed since this page was shown. Nothing was done.",
        }
    }
}

/// Returns the name of a plan, its limits, and whether overage is admitted.
pub(super) fn plan_text(plan: &Plan) -> String {
    let Terms { per_minute, per_day, per_month, per_second, overage } = Terms::new(plan);
    let is_admitted = overage == OveragePolicy::Admit;
    format!("{} {per_minute} {per_day} {per_month} {per_second} {is_admitted}", plan.name())
}

/// The text if there is no such decision, partner or plan. No existing one has this text.
const NONE: &str = "-";
