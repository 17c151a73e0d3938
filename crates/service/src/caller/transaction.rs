//! Runs the work of one authenticated request in the same transaction that checks the session, the key and the limits,
//! and counts the request.

use std::sync::Arc;

use sealpost_domain::{
    Usage,
    ports::{Durability, KeyFacts, StoreError, WriteSet},
};
use sealpost_limits::{Terms, reached_thresholds};
use sealpost_storage::{Abort, Transaction};

use super::{
    admission::{Limited, Limits, Purpose, admit, limits_reached, query_of},
    credentials::Caller,
};
use crate::{error::Error, sealpost::core::Core};

/// The key and the limits of a caller whose request has passed [`admit`], for the work in the same transaction.
pub(crate) struct Admitted<'a> {
    pub(crate) key: &'a KeyFacts,
    pub(crate) limits: Limits,
}

impl Core {
    /// Runs a request of a service on the thread pool for blocking work. If the rate-limit cache contains a refusal for
    /// the caller, returns this refusal without using the pool.
    pub(crate) async fn run_as<S: Clone + Send + 'static, T: Send + 'static>(
        &self,
        service: &S,
        caller: &Caller,
        use_case: impl FnOnce(&S, &Caller) -> Limited<T> + Send + 'static,
    ) -> Limited<T> {
        if let Some(limited) = self.cached_rate_limit(&caller.id) {
            return limited;
        }
        let caller = caller.clone();
        let done = self.block(service, move |service| Ok(use_case(service, &caller))).await;
        done.unwrap_or_else(Limited::before_rate_check)
    }

    /// Runs a request like [`run_as`](Self::run_as). Before `work`, a short transaction checks the session, the key and
    /// the limits, and counts the request.
    pub(crate) async fn ask_as<S: Clone + Send + 'static, T: Send + 'static>(
        self: &Arc<Self>,
        service: &S,
        caller: &Caller,
        purpose: Purpose,
        work: impl FnOnce(&S) -> Result<T, Error> + Send + 'static,
    ) -> Limited<T> {
        let core = Arc::clone(self);
        self.run_as(service, caller, move |service, caller| {
            core.admitted(caller, purpose, Durability::Relaxed, |_, _| Ok(()))
                .and_then(|()| work(service))
        })
        .await
    }

    /// Checks a request with [`admit`], counts it, and runs `work` in the same transaction. A request that `work`
    /// refuses still counts against the rate limits.
    ///
    /// The usage row of the key stays locked until the commit ends, and sends with this key wait for it. With
    /// [`Durability::Relaxed`], the commit does not wait for the disk, so sends wait only briefly, but a crash can lose
    /// the commit. Use `Relaxed` only if `work` writes nothing: a crash then loses at most the count of this request.
    pub(crate) fn admitted<T>(
        &self,
        caller: &Caller,
        purpose: Purpose,
        durability: Durability,
        mut work: impl FnMut(&mut Transaction, &Admitted<'_>) -> Result<T, Abort>,
    ) -> Limited<T> {
        let caller = &caller.id;
        let done = self.store.write(durability, |tx| {
            let now = self.clock.now();
            let mut facts = tx.lock_facts(&query_of(caller))?;
            let before = facts.usage.get(&caller.key).copied().unwrap_or(Usage::UNUSED);
            let admitted = admit(&mut facts, caller, purpose, now);
            let limits = limits_reached(&admitted, &facts, caller, now);
            if let Err(refusal) = admitted {
                return Ok((Err(refusal), limits));
            }
            let (Some(key), Some(reached)) = (facts.keys.get(&caller.key), limits) else {
                return Err(StoreError::Corrupt("usage of a key"));
            };
            let usage = vec![(caller.key, reached.usage)];
            let terms = Terms::new(&key.plan);
            let thresholds =
                reached_thresholds(&caller.key, (&terms, &before), (&terms, &reached.usage), now);
            tx.apply(&WriteSet { usage, thresholds, ..WriteSet::default() })?;
            match work(tx, &Admitted { key, limits: reached }) {
                Ok(done) => Ok((Ok(done), limits)),
                Err(Abort::Refused(refusal)) => Ok((Err(refusal), limits)),
                Err(Abort::Store(error)) => Err(error),
            }
        });
        match done {
            Ok((result, limits)) => {
                if let Err(refusal) = &result {
                    self.cache_refusal(caller, None, refusal, limits);
                }
                Limited { result: result.map_err(Error::from), limits }
            }
            Err(fault) => Limited::before_rate_check(fault),
        }
    }
}
