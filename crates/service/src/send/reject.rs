//! Rejects requests whose body has an error.

use sealpost_domain::Refusal;

use super::command::Command;
use crate::{
    caller::{admission::Purpose, authenticated::Caller, limited::Limited},
    sealpost::Sealpost,
};

impl Sealpost {
    /// Rejects a request because its body has an error.
    ///
    /// The API contract requires that a request is admitted and counted before its body is checked. Therefore the
    /// committer first admits and counts the request in its next batch. If the request is admitted, returns `refusal`.
    /// Otherwise returns the refusal by the admission checks. The batch is shared, so faulty requests need no
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
        let (idempotency, pending) = (None, None);
        let command = Command { caller: caller.id, purpose, idempotency, pending, refusal: None };
        match self.commit(command).await {
            Ok(decided) => decided.refused_by(refusal),
            Err(fault) => Limited::before_rate_check(fault),
        }
    }
}
