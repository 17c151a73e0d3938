//! Resolvers of host names for tests, which use no network.

use std::{cell::Cell, io, net::IpAddr, rc::Rc};

use futures_util::{FutureExt as _, future::LocalBoxFuture};
use rustix::io::Errno;

use crate::{
    address_guard::resolver::{NameResolver, ResolveFailure},
    local_error::LocalError,
};

pub(crate) fn fixed() -> Rc<dyn NameResolver> {
    Rc::new(FixedResolver)
}

struct FixedResolver;

impl NameResolver for FixedResolver {
    fn resolve<'a>(
        &'a self,
        name: &'a str,
    ) -> LocalBoxFuture<'a, Result<Vec<IpAddr>, ResolveFailure>> {
        let ips: &[&str] = match name {
            "families.test" => &["127.0.0.3", "::1"],
            "_my_host_.test" | "loopback.test" => &["127.0.0.1"],
            "mixed-families.test" => &["8.8.8.8", "fd00::1"],
            "nat64.test" => &["127.0.0.1", "64:ff9b::7f00:1"],
            "only-nat64.test" => &["64:ff9b::808:808"],
            "silent.test" => &["127.0.0.2", "127.0.0.4", "127.0.0.1"],
            "metadata.test" => &["169.254.169.254"],
            "mixed.test" => &["8.8.8.8", "10.0.0.1"],
            "private.test" => &["10.0.0.1"],
            "public.test" => &["8.8.8.8"],
            _ => &[],
        };
        let found: Vec<IpAddr> = ips.iter().map(|ip| ip.parse().unwrap()).collect();
        let result = if found.is_empty() { Err(ResolveFailure::Unresolved) } else { Ok(found) };
        async move { result }.boxed_local()
    }
}

/// Fails for lack of file descriptors at the first [`EXHAUSTED_LOOKUPS`] lookups, and then returns a loopback address.
pub(crate) fn exhausted() -> Rc<dyn NameResolver> {
    Rc::new(ExhaustedResolver { failures_left: Cell::new(EXHAUSTED_LOOKUPS) })
}

struct ExhaustedResolver {
    failures_left: Cell<usize>,
}

impl NameResolver for ExhaustedResolver {
    fn resolve<'a>(
        &'a self,
        _: &'a str,
    ) -> LocalBoxFuture<'a, Result<Vec<IpAddr>, ResolveFailure>> {
        let left = self.failures_left.get();
        self.failures_left.set(left.saturating_sub(1));
        let error = io::Error::from_raw_os_error(Errno::MFILE.raw_os_error());
        let result = match LocalError::new(&error) {
            Some(fault) if left > 0 => Err(ResolveFailure::Local(fault)),
            _ => Ok(vec!["127.0.0.1".parse().unwrap()]),
        };
        async move { result }.boxed_local()
    }
}

/// Returns a loopback address first and private addresses afterwards: a DNS rebinding attack.
pub(crate) fn rebinding() -> Rc<dyn NameResolver> {
    Rc::new(RebindingResolver { is_first: Cell::new(true) })
}

struct RebindingResolver {
    is_first: Cell<bool>,
}

impl NameResolver for RebindingResolver {
    fn resolve<'a>(
        &'a self,
        _: &'a str,
    ) -> LocalBoxFuture<'a, Result<Vec<IpAddr>, ResolveFailure>> {
        let ip = if self.is_first.replace(false) { "127.0.0.1" } else { "10.0.0.1" };
        async move { Ok(vec![ip.parse().unwrap()]) }.boxed_local()
    }
}

/// Number of lookups that fail. As many failures of a target would open its circuit breaker.
pub(crate) const EXHAUSTED_LOOKUPS: usize = 10;
