//! From names to addresses. Not by the system's resolver: that blocks a thread for as long as a hostile name server
//! likes. A trait, so that the rules around it can be tried without a network.

use std::{net::IpAddr, rc::Rc, time::Duration};

use actix_rt::time::timeout;
use futures_util::{FutureExt as _, future::LocalBoxFuture};
use hickory_resolver::{
    TokioResolver,
    config::{LookupIpStrategy, ResolverOpts},
    net::NetError,
};

/// Looks names up.
pub(crate) trait Names {
    /// Every address that the name leads to, within a bounded time.
    fn lookup<'a>(&'a self, name: &'a str) -> LocalBoxFuture<'a, Result<Vec<IpAddr>, Unresolved>>;
}

/// The name leads nowhere, or nobody said in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the name does not resolve")]
pub(crate) struct Unresolved;

/// Names as the system is configured: its hosts file and its name servers. Each thread makes its own, since the
/// sockets belong to a runtime.
pub(crate) fn system() -> Rc<dyn Names> {
    let configured = TokioResolver::builder_tokio()
        .and_then(|builder| builder.with_options(options()).build())
        .inspect_err(|error| {
            let error: &dyn std::error::Error = error;
            tracing::error!(error, "no name will resolve: /etc/resolv.conf cannot be used");
        });
    Rc::new(SystemNames(configured))
}

struct SystemNames(Result<TokioResolver, NetError>);

impl Names for SystemNames {
    fn lookup<'a>(&'a self, name: &'a str) -> LocalBoxFuture<'a, Result<Vec<IpAddr>, Unresolved>> {
        async move {
            let Ok(resolver) = &self.0 else { return Err(Unresolved) };
            // The dot at the end keeps the machine's search domains out of it.
            match timeout(LOOKUP_MAX, resolver.lookup_ip(format!("{name}."))).await {
                Ok(Ok(found)) => Ok(found.iter().collect()),
                Ok(Err(_)) | Err(_) => Err(Unresolved),
            }
        }
        .boxed_local()
    }
}

fn options() -> ResolverOpts {
    let mut options = ResolverOpts::default();
    options.timeout = Duration::from_secs(1);
    options.attempts = 2;
    // IPv6 where there is nothing else: one question fewer, and a broken IPv6 route holds nobody up.
    options.ip_strategy = LookupIpStrategy::Ipv4thenIpv6;
    options.max_active_requests = 1024;
    options
}

const LOOKUP_MAX: Duration = Duration::from_secs(3);
