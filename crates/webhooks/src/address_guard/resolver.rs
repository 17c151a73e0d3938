//! Resolves host names to addresses without blocking a thread.
//!
//! The system resolver is not used: it blocks a thread for as long as a hostile name server wants.

#[cfg(test)]
mod tests;

use std::{
    cell::RefCell,
    fs,
    net::IpAddr,
    os::unix::fs::MetadataExt as _,
    pin::pin,
    rc::Rc,
    time::{Duration, Instant},
};

use actix_rt::time::timeout;
use futures_util::{
    FutureExt as _,
    future::{Either, LocalBoxFuture, select},
};
use hickory_resolver::{
    TokioResolver,
    config::ResolverOpts,
    proto::rr::{Name, RecordType},
};
use sealpost_domain::with_causes;

use crate::local_error::LocalError;

/// Resolves host names to IP addresses.
pub(crate) trait NameResolver {
    /// Returns the IP addresses of a host name. Fails if no name server returns an address in time.
    fn resolve<'a>(
        &'a self,
        name: &'a str,
    ) -> LocalBoxFuture<'a, Result<Vec<IpAddr>, ResolveFailure>>;
}

/// The reason for a failed lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ResolveFailure {
    #[error(transparent)]
    Local(LocalError),
    /// The host name has no address, or no name server responded in time.
    #[error("the name does not resolve")]
    Unresolved,
}

/// Creates a resolver from the hosts file and the name servers of the operating system. Each thread creates its own
/// resolver, because its sockets belong to the async runtime of that thread.
pub(crate) fn system() -> Rc<dyn NameResolver> {
    Rc::new(SystemResolver::new(create, change_times, Instant::now()))
}

fn create() -> Option<TokioResolver> {
    let resolver = TokioResolver::builder_tokio()
        .and_then(|builder| builder.with_options(options()).build())
        .inspect_err(|error| {
            tracing::error!(
                error = with_causes(error),
                "cannot read the resolver configuration; host names of webhooks are resolved with the earlier \
                 configuration, or not at all: fix /etc/resolv.conf"
            );
        });
    resolver.ok()
}

/// The times at which the content or the permissions of the [`FILES`] last changed, in seconds and nanoseconds. `None`
/// for a missing file.
type ChangeTimes = [Option<(i64, i64)>; 2];

fn change_times() -> ChangeTimes {
    FILES.map(|file| {
        let metadata = fs::metadata(file).ok()?;
        Some((metadata.ctime(), metadata.ctime_nsec()))
    })
}

/// Resolves names with the configuration of the operating system. Reads the configuration again after a change.
struct SystemResolver {
    create: Box<dyn Fn() -> Option<TokioResolver>>,
    change_times: Box<dyn Fn() -> ChangeTimes>,
    loaded: RefCell<LoadedConfiguration>,
}

struct LoadedConfiguration {
    /// `None` if the configuration could not be read yet.
    resolver: Option<TokioResolver>,
    change_times: ChangeTimes,
    checked_at: Instant,
}

impl SystemResolver {
    fn new(
        create: impl Fn() -> Option<TokioResolver> + 'static,
        change_times: impl Fn() -> ChangeTimes + 'static,
        now: Instant,
    ) -> Self {
        // Reads the times first. A change during the creation is then found by the next check.
        let times = change_times();
        let loaded =
            LoadedConfiguration { resolver: create(), change_times: times, checked_at: now };
        Self {
            create: Box::new(create),
            change_times: Box::new(change_times),
            loaded: RefCell::new(loaded),
        }
    }

    /// Returns the resolver. Creates a new one if a file of the configuration has changed, which is checked at most
    /// once per [`CHECK_INTERVAL`]. If the changed configuration cannot be read, keeps the earlier resolver.
    fn current(&self, now: Instant) -> Option<TokioResolver> {
        let mut loaded = self.loaded.borrow_mut();
        if now.duration_since(loaded.checked_at) >= CHECK_INTERVAL {
            loaded.checked_at = now;
            let times = (self.change_times)();
            if times != loaded.change_times {
                loaded.change_times = times;
                loaded.resolver = (self.create)().or(loaded.resolver.take());
            }
        }
        loaded.resolver.clone()
    }
}

impl NameResolver for SystemResolver {
    fn resolve<'a>(
        &'a self,
        name: &'a str,
    ) -> LocalBoxFuture<'a, Result<Vec<IpAddr>, ResolveFailure>> {
        async move {
            let Some(resolver) = self.current(Instant::now()) else {
                return Err(ResolveFailure::Unresolved);
            };
            // Builds the name from its labels, because the parser of [`Name`] rejects some host names that exist, such
            // as `a_b`. A name that is built from labels is absolute, so the search domains of this machine do not
            // apply.
            let name = Name::from_labels(name.split('.').map(str::as_bytes));
            let name = name.map_err(|_too_long| ResolveFailure::Unresolved)?;
            let addresses = async |family| match resolver.lookup(name.clone(), family).await {
                Ok(found) => {
                    found.answers().iter().filter_map(|record| record.data.ip_addr()).collect()
                }
                Err(_) => Vec::new(),
            };
            let both = both_families(addresses(RecordType::A), addresses(RecordType::AAAA));
            let found = timeout(RESOLVE_TIMEOUT, both).await.unwrap_or_default();
            if found.is_empty() {
                // The error of the resolver does not show whether this node failed to open a socket. Opens another
                // socket to detect such a fault.
                return Err(
                    LocalError::probe().map_or(ResolveFailure::Unresolved, ResolveFailure::Local)
                );
            }
            Ok(found)
        }
        .boxed_local()
    }
}

/// Returns the IPv4 and the IPv6 addresses. As soon as one of the two lookups has found addresses, waits for the other
/// for at most [`RESOLUTION_DELAY`].
async fn both_families(
    v4: impl Future<Output = Vec<IpAddr>>,
    v6: impl Future<Output = Vec<IpAddr>>,
) -> Vec<IpAddr> {
    let (v4, v6) = (pin!(v4), pin!(v6));
    let (mut found, other) = match select(v4, v6).await {
        Either::Left((found, v6)) => (found, v6.left_future()),
        Either::Right((found, v4)) => (found, v4.right_future()),
    };
    let rest = if found.is_empty() {
        other.await
    } else {
        timeout(RESOLUTION_DELAY, other).await.unwrap_or_default()
    };
    found.extend(rest);
    found
}

fn options() -> ResolverOpts {
    let mut options = ResolverOpts::default();
    options.timeout = QUERY_TIMEOUT;
    options.attempts = QUERY_ATTEMPTS;
    options.max_active_requests = ACTIVE_QUERIES_MAX;
    options
}

/// The files of the operating system with the name servers and with the fixed addresses of hosts.
const FILES: [&str; 2] = ["/etc/resolv.conf", "/etc/hosts"];
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// Maximum time to resolve one name, with all its queries.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(3);
/// Time to wait for the addresses of one family (IPv4 or IPv6) after the other family has returned addresses (RFC 8305,
/// section 3). Some name servers never respond to queries for IPv6 addresses.
const RESOLUTION_DELAY: Duration = Duration::from_millis(50);
const QUERY_TIMEOUT: Duration = Duration::from_secs(1);
const QUERY_ATTEMPTS: usize = 2;
const ACTIVE_QUERIES_MAX: usize = 1024;
