//! Resolvers of host names for tests, which use no network.

use std::{cell::Cell, net::IpAddr, rc::Rc};

use futures_util::{FutureExt as _, future::LocalBoxFuture};

use crate::address_guard::resolver::{NameResolver, UnresolvedName};

pub(crate) fn fixed() -> Rc<dyn NameResolver> {
    Rc::new(FixedResolver)
}

struct FixedResolver;

impl NameResolver for FixedResolver {
    fn resolve<'a>(
        &'a self,
        name: &'a str,
    ) -> LocalBoxFuture<'a, Result<Vec<IpAddr>, UnresolvedName>> {
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
        let result = if found.is_empty() { Err(UnresolvedName) } else { Ok(found) };
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
    ) -> LocalBoxFuture<'a, Result<Vec<IpAddr>, UnresolvedName>> {
        let ip = if self.is_first.replace(false) { "127.0.0.1" } else { "10.0.0.1" };
        async move { Ok(vec![ip.parse().unwrap()]) }.boxed_local()
    }
}
