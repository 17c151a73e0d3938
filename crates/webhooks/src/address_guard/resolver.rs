//! Resolves host names to addresses without blocking a thread.
//!
//! The system resolver is not used: it blocks a thread for as long as a hostile name server wants. [`NameResolver`] is
//! a trait so that tests need no network.

use std::{net::IpAddr, rc::Rc, time::Duration};

use actix_rt::time::timeout;
use futures_util::{FutureExt as _, future::LocalBoxFuture};
use hickory_resolver::{
    TokioResolver,
    config::{LookupIpStrategy, ResolverOpts},
    net::NetError,
};

/// Resolves host names to IP addresses.
pub(crate) trait NameResolver {
    /// Returns all IP addresses of a host name, or an error if no response arrives in time.
    fn resolve<'a>(
        &'a self,
        name: &'a str,
    ) -> LocalBoxFuture<'a, Result<Vec<IpAddr>, UnresolvedName>>;
}

/// The host name has no address, or no name server responded in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the name does not resolve")]
pub(crate) struct UnresolvedName;

/// Creates a resolver from the hosts file and the name servers of the operating system. Each thread creates its own
/// resolver, because its sockets belong to the async runtime of that thread.
pub(crate) fn system() -> Rc<dyn NameResolver> {
    let resolver = TokioResolver::builder_tokio()
        .and_then(|builder| builder.with_options(options()).build())
        .inspect_err(|error| {
            let error: &dyn std::error::Error = error;
            tracing::error!(
                error,
                "cannot read the resolver configuration, so no webhook with a host name can be reached: \
                 fix /etc/resolv.conf and restart"
            );
        });
    Rc::new(SystemResolver(resolver))
}

struct SystemResolver(Result<TokioResolver, NetError>);

impl NameResolver for SystemResolver {
    fn resolve<'a>(
        &'a self,
        name: &'a str,
    ) -> LocalBoxFuture<'a, Result<Vec<IpAddr>, UnresolvedName>> {
        async move {
            let Ok(resolver) = &self.0 else { return Err(UnresolvedName) };
            // The final dot disables the search domains of this machine.
            match timeout(RESOLVE_TIMEOUT, resolver.lookup_ip(format!("{name}."))).await {
                Ok(Ok(found)) => Ok(found.iter().collect()),
                Ok(Err(_)) | Err(_) => Err(UnresolvedName),
            }
        }
        .boxed_local()
    }
}

fn options() -> ResolverOpts {
    let mut options = ResolverOpts::default();
    options.timeout = QUERY_TIMEOUT;
    options.attempts = QUERY_ATTEMPTS;
    // Requests IPv6 addresses only if there is no IPv4 address. This saves a query, and a broken IPv6 route causes no
    // delay.
    options.ip_strategy = LookupIpStrategy::Ipv4thenIpv6;
    options.max_active_requests = ACTIVE_QUERIES_MAX;
    options
}

/// Maximum time to resolve one name, with all its queries.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(3);
const QUERY_TIMEOUT: Duration = Duration::from_secs(1);
const QUERY_ATTEMPTS: usize = 2;
const ACTIVE_QUERIES_MAX: usize = 1024;
