//! Where notices may go. The rules are pure ([`AddressPolicy`]); [`Guard`] applies them at webhook and looks
//! the name up as well. Webhook only gives early notice: the connection is judged again, every time, by
//! the connector, since a name can lead elsewhere a second later.

mod address;
mod location;

use std::{
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use sealpost_domain::ports::TargetGuard;
use url::{Host, Url};

use crate::names::{self, Names};

/// Which URLs and which addresses notices may go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AddressPolicy {
    /// For development: http and loopback are allowed too, and still no other address that is not public.
    pub dev: bool,
}

/// Judges a URL when it is registered.
#[derive(Debug, Clone)]
pub struct Guard {
    policy: AddressPolicy,
    names: fn() -> Rc<dyn Names>,
    /// How many look-ups are under way, of all clones together.
    under_way: Arc<AtomicUsize>,
}

impl Guard {
    /// A guard that looks names up as the system is configured to.
    pub fn new(policy: AddressPolicy) -> Self {
        Self::with_names(policy, names::system)
    }

    pub(crate) fn with_names(policy: AddressPolicy, names: fn() -> Rc<dyn Names>) -> Self {
        Self { policy, names, under_way: Arc::default() }
    }

    /// Whether `name` leads to a forbidden address now. A name that does not resolve in time may do so later, and where
    /// too many look-ups are under way nobody asks: to refuse would let slow name servers keep everybody from
    /// registering, and to wait would take the threads that everybody's requests need.
    fn leads_astray(&self, name: &str) -> bool {
        let Some(turn) = Turn::take(&self.under_way) else { return false };
        let (answer, answered) = mpsc::channel();
        let (name, names, policy) = (name.to_owned(), self.names, self.policy);
        // On a thread of its own: the look-up needs a runtime, and the caller may already be inside another.
        let lookup = move || {
            let runtime = actix_rt::Runtime::new().ok()?;
            let ips = runtime.block_on(names().lookup(&name)).ok()?;
            drop(turn);
            answer.send(ips.iter().any(|ip| !policy.allows(*ip))).ok()
        };
        let spawned = thread::Builder::new().name("webhook-vet".to_owned()).spawn(lookup);
        spawned.is_ok() && answered.recv_timeout(VET_MAX).unwrap_or(false)
    }
}

impl TargetGuard for Guard {
    fn vet(&self, url: &str) -> Result<String, String> {
        let url: Url = self.policy.parse_url(url)?;
        if let Some(Host::Domain(name)) = url.host()
            && self.leads_astray(name)
        {
            return Err(location::NOT_PUBLIC.to_owned());
        }
        Ok(url.into())
    }
}

/// One look-up under way.
struct Turn(Arc<AtomicUsize>);

impl Turn {
    fn take(under_way: &Arc<AtomicUsize>) -> Option<Self> {
        let one_more = |count| (count < LOOKUPS_MAX).then_some(count + 1);
        let taken = under_way.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        taken.is_ok().then(|| Self(Arc::clone(under_way)))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Look-ups under way at once. Each holds one of the threads that requests wait on, of which a worker of a large machine
/// has hardly more.
const LOOKUPS_MAX: usize = 8;
/// A little more than a look-up takes at the most.
const VET_MAX: Duration = Duration::from_millis(3_500);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::names::fixed;

    #[test]
    fn a_name_is_judged_by_every_address_it_leads_to() {
        let guard = Guard::with_names(AddressPolicy::default(), fixed);
        for name in ["private.test", "mixed.test", "loopback.test", "metadata.test"] {
            let verdict = guard.vet(&format!("https://{name}/hook"));
            assert_eq!(verdict, Err(location::NOT_PUBLIC.to_owned()), "{name}");
        }
        assert_eq!(
            guard.vet("https://PUBLIC.test:443/hook"),
            Ok("https://public.test/hook".to_owned())
        );
    }

    #[test]
    fn a_name_that_does_not_resolve_yet_is_accepted() {
        let guard = Guard::with_names(AddressPolicy::default(), fixed);
        assert_eq!(guard.vet("https://later.test/"), Ok("https://later.test/".to_owned()));
    }

    #[test]
    fn only_so_many_names_are_looked_up_at_once() {
        let guard = Guard::with_names(AddressPolicy::default(), fixed);
        let vet = || guard.clone().vet("https://private.test/");
        let mut turns: Vec<_> =
            (1..LOOKUPS_MAX).map(|_| Turn::take(&guard.under_way).unwrap()).collect();
        assert!(vet().is_err(), "the last turn is free");
        assert!(vet().is_err(), "and comes back");
        turns.push(Turn::take(&guard.under_way).unwrap());
        assert!(vet().is_ok(), "nobody asks");
        assert!(guard.vet("https://10.0.0.1/").is_err(), "what needs no look-up is judged still");
        drop(turns);
        assert!(vet().is_err());
    }

    #[test]
    fn development_allows_loopback_names_but_no_private_ones() {
        let guard = Guard::with_names(AddressPolicy { dev: true }, fixed);
        assert!(guard.vet("http://loopback.test:3000/").is_ok());
        assert!(guard.vet("http://private.test:3000/").is_err());
    }

    #[test]
    fn the_systems_own_names_are_looked_up() {
        let hook = "http://localhost:3000/";
        assert!(Guard::new(AddressPolicy { dev: true }).vet(hook).is_ok());
        let ips = actix_rt::Runtime::new().unwrap().block_on(names::system().lookup("localhost"));
        assert!(
            ips.is_ok_and(|ips| !ips.is_empty() && ips.iter().all(std::net::IpAddr::is_loopback))
        );
    }

    #[test]
    fn vetting_works_where_a_runtime_is_running_already() {
        let guard = Guard::with_names(AddressPolicy::default(), fixed);
        actix_rt::Runtime::new().unwrap().block_on(async {
            assert!(guard.vet("https://private.test/").is_err());
        });
    }
}
