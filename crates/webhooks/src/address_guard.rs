//! Restricts webhook requests to public addresses, so that a webhook URL cannot reach internal services (SSRF).
//!
//! [`AddressGuard`] checks a URL when its webhook is registered. The connector checks the resolved address again for
//! every connection, because a host name can resolve to another address later.

pub(crate) mod connector;
mod location;
mod policy;
pub(crate) mod resolver;

use std::{
    rc::Rc,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use sealpost_domain::{
    RELAY_URL,
    ports::{TargetGuard, VettedUrl},
};
use tokio::sync::Semaphore;
use url::{Host, Url};

pub use self::policy::AddressPolicy;
use self::resolver::{NameResolver, ResolveFailure};

/// Checks the URL of a webhook when the webhook is registered.
#[derive(Debug, Clone)]
pub struct AddressGuard {
    policy: AddressPolicy,
    new_resolver: fn() -> Rc<dyn NameResolver>,
    /// Bounds the concurrent DNS lookups, for all clones of this guard together.
    lookups: Arc<Semaphore>,
}

impl AddressGuard {
    /// Creates a guard with the system's name servers and hosts file.
    pub fn new(policy: AddressPolicy) -> Self {
        Self::with_resolver(policy, resolver::system)
    }

    pub(crate) fn with_resolver(
        policy: AddressPolicy,
        new_resolver: fn() -> Rc<dyn NameResolver>,
    ) -> Self {
        Self { policy, new_resolver, lookups: Arc::new(Semaphore::new(LOOKUPS_MAX)) }
    }

    /// Looks up a host name and checks its addresses. Waits for at most [`VET_TIMEOUT`], because longer waits would
    /// block other requests.
    ///
    /// Returns `Unknown` if [`LOOKUPS_MAX`] lookups are in progress, if the lookup takes too long, or if this node
    /// cannot look up names. The caller then accepts the URL: slow name servers must not block registrations, and the
    /// address is checked again for every connection.
    fn look_up(&self, name: &str) -> Lookup {
        let Ok(permit) = Arc::clone(&self.lookups).try_acquire_owned() else {
            return Lookup::Unknown;
        };
        let (sender, receiver) = mpsc::channel();
        let (name, new_resolver, policy) =
            (name.to_owned(), self.new_resolver, self.policy.clone());
        // Runs the lookup on a thread of its own, because the lookup needs an async runtime, and the caller may already
        // run inside another one.
        let lookup = move || {
            let runtime = actix_rt::Runtime::new().ok()?;
            let found = runtime.block_on(new_resolver().resolve(&name));
            drop(permit);
            let lookup = match found {
                Ok(ips) => policy.dialable(ips).map_or(Lookup::Forbidden, |_ips| Lookup::Allowed),
                Err(ResolveFailure::Unresolved) => Lookup::Unresolved,
                Err(ResolveFailure::Local(_)) => Lookup::Unknown,
            };
            sender.send(lookup).ok()
        };
        let spawned = thread::Builder::new().name("webhook-vet".to_owned()).spawn(lookup);
        let found = spawned.ok().and_then(|_thread| receiver.recv_timeout(VET_TIMEOUT).ok());
        found.unwrap_or(Lookup::Unknown)
    }
}

impl TargetGuard for AddressGuard {
    fn check(&self, url: &str) -> Result<(), String> {
        if url == RELAY_URL {
            return Ok(());
        }
        self.policy.parse_url(url).map(drop)
    }

    fn vet(&self, url: &str) -> Result<VettedUrl, String> {
        if url == RELAY_URL {
            return Ok(VettedUrl { url: url.to_owned(), unresolved: None });
        }
        let url: Url = self.policy.parse_url(url)?;
        let mut unresolved = None;
        if let Some(Host::Domain(name)) = url.host() {
            match self.look_up(name) {
                Lookup::Allowed | Lookup::Unknown => {}
                Lookup::Forbidden => return Err(self.policy.not_public().to_owned()),
                Lookup::Unresolved => unresolved = Some(name.to_owned()),
            }
        }
        Ok(VettedUrl { url: url.into(), unresolved })
    }
}

/// The result of looking up a host name.
#[derive(Debug, Clone, Copy)]
enum Lookup {
    Allowed,
    /// The name has an address that is not allowed.
    Forbidden,
    /// The result of the lookup is not known: too many lookups are in progress, the lookup takes too long, or this node
    /// cannot look up names.
    Unknown,
    /// The name has no address.
    Unresolved,
}

/// Maximum number of concurrent DNS lookups. Each lookup blocks one of the threads that process API requests.
const LOOKUPS_MAX: usize = 8;
/// Maximum time to wait for one DNS lookup. Slightly longer than the timeout of the resolver, which is 3 s.
const VET_TIMEOUT: Duration = Duration::from_millis(3_500);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fake_resolver::fixed;

    #[test]
    fn a_name_with_any_non_public_address_is_refused() {
        let guard = AddressGuard::with_resolver(AddressPolicy::default(), fixed);
        for name in ["private.test", "mixed.test", "loopback.test", "metadata.test"] {
            let verdict = guard.vet(&format!("https://{name}/hook"));
            assert_eq!(verdict, Err(guard.policy.not_public().to_owned()), "{name}");
        }
        assert_eq!(
            guard.vet("https://PUBLIC.test:443/hook"),
            Ok(VettedUrl { url: "https://public.test/hook".to_owned(), unresolved: None })
        );
    }

    #[test]
    fn a_name_that_does_not_resolve_yet_is_accepted() {
        let guard = AddressGuard::with_resolver(AddressPolicy::default(), fixed);
        let unresolved = Some("later.test".to_owned());
        let vetted = VettedUrl { url: "https://later.test/".to_owned(), unresolved };
        assert_eq!(guard.vet("https://later.test/"), Ok(vetted));
    }

    #[test]
    fn lookups_are_bounded_and_a_full_bound_accepts_the_name() {
        let guard = AddressGuard::with_resolver(AddressPolicy::default(), fixed);
        let vet = || guard.clone().vet("https://private.test/");
        let permit = || guard.lookups.try_acquire().unwrap();
        let mut permits: Vec<_> = (1..LOOKUPS_MAX).map(|_| permit()).collect();
        assert!(vet().is_err(), "the last permit is free");
        assert!(vet().is_err(), "the permit was returned");
        permits.push(permit());
        assert!(vet().is_ok(), "no permit, no lookup");
        assert!(guard.vet("https://10.0.0.1/").is_err(), "an address needs no lookup");
        drop(permits);
        assert!(vet().is_err());
    }

    #[test]
    fn development_allows_loopback_names_and_no_private_names() {
        let guard = AddressGuard::with_resolver(
            AddressPolicy { dev: true, ..AddressPolicy::default() },
            fixed,
        );
        assert!(guard.vet("http://loopback.test:3000/").is_ok());
        assert!(guard.vet("http://private.test:3000/").is_err());
    }

    #[test]
    fn the_system_resolver_reads_the_hosts_file() {
        let hook = "http://localhost:3000/";
        assert!(
            AddressGuard::new(AddressPolicy { dev: true, ..AddressPolicy::default() })
                .vet(hook)
                .is_ok()
        );
        let ips =
            actix_rt::Runtime::new().unwrap().block_on(resolver::system().resolve("localhost"));
        assert!(
            ips.is_ok_and(|ips| !ips.is_empty() && ips.iter().all(std::net::IpAddr::is_loopback))
        );
    }

    #[test]
    fn vetting_works_inside_a_running_runtime() {
        let guard = AddressGuard::with_resolver(AddressPolicy::default(), fixed);
        actix_rt::Runtime::new().unwrap().block_on(async {
            assert!(guard.vet("https://private.test/").is_err());
        });
    }
}
