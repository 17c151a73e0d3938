//! Rejection of faulty requests.

use sealpost_domain::Refusal;

use super::command::Command;
use crate::{
    caller::{admission::Purpose, authenticated::Caller, limited::Limited},
    sealpost::Sealpost,
};

impl Sealpost {
    /// Rejects a request with a faulty body.
    ///
    /// The contract judges a body after admission. So this admits and counts the request like its use case would, and
    /// returns `refusal` unless admission refuses first. Shares the committer's batches: faulty requests cost no
    /// transaction of their own.
    pub async fn reject<T>(
        &self,
        caller: &Caller,
        purpose: Purpose,
        refusal: Refusal,
    ) -> Limited<T> {
        if let Some(limited) = self.core.cached_rate_limit(&caller.id) {
            return limited;
        }
        let command = Command { caller: caller.id, purpose, idempotency: None, pending: None };
        match self.commit(command).await {
            Ok(decided) => decided.refused_by(refusal),
            Err(fault) => Limited::before_rate_check(fault),
        }
    }
}
