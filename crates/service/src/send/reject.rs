//! Rejects requests with a faulty body.

use sealpost_domain::Refusal;

use super::command::Command;
use crate::{
    caller::{admission::Purpose, authenticated::Caller, limited::Limited},
    sealpost::Sealpost,
};

impl Sealpost {
    /// Rejects a request because its body is faulty.
    ///
    /// The API contract requires that a request is admitted and counted before its body is judged. Therefore this
    /// function admits and counts the request in the committer's next batch, then returns `refusal`. A refusal by
    /// admission takes precedence. Faulty requests need no transaction of their own.
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
