//! How often one address may activate and log in, and one account change itself and use the dashboard. Each node counts
//! for itself and in memory: this bounds what a flood costs, while the limits of a key are exact and live in the database.

use std::{
    collections::HashMap,
    hash::Hash,
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use actix_web::{
    Error, HttpRequest,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    middleware::Next,
    web,
};
use sealpost_domain::Timestamp;

use super::{ApiState, Problem, caller::Body, client_address::client_address};

/// Counts requests in a minute of UTC, by whose they are.
pub struct Throttle<Who = IpAddr> {
    per_minute: u32,
    seen: Mutex<Minute<Who>>,
}

struct Minute<Who> {
    start_ms: i64,
    counts: HashMap<Who, u32>,
}

impl<Who: Eq + Hash> Throttle<Who> {
    /// Lets everybody pass this often in a minute; always where that is 0.
    pub fn new(per_minute: u32) -> Self {
        let seen = Mutex::new(Minute { start_ms: 0, counts: HashMap::new() });
        Self { per_minute, seen }
    }

    /// Counts a request as `cost` of them, or answers how long they have to wait. What is refused does not count, and
    /// nothing costs more than a whole minute.
    pub fn admit(&self, who: Who, cost: u32, now: Timestamp) -> Result<(), Duration> {
        if self.per_minute == 0 {
            return Ok(());
        }
        let mut minute = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        minute.turn_to(now);
        let ends = Timestamp::from_millis(minute.start_ms.saturating_add(MINUTE_MS));
        let count = minute.count_of(who);
        let counted = count.saturating_add(cost.min(self.per_minute));
        if counted > self.per_minute {
            return Err(ends.since(now));
        }
        *count = counted;
        Ok(())
    }
}

impl<Who: Eq + Hash> Minute<Who> {
    /// Begins a new minute where one has begun; a clock that was set back does not bring an old one back.
    fn turn_to(&mut self, now: Timestamp) {
        let millis = now.as_millis();
        let start_ms = millis.saturating_sub(millis.rem_euclid(MINUTE_MS));
        if start_ms > self.start_ms {
            self.start_ms = start_ms;
            self.counts.clear();
        }
    }

    /// Whoever commands more addresses than are counted could not be held back by counting them: so everybody
    /// starts anew rather than that nobody else gets in.
    fn count_of(&mut self, who: Who) -> &mut u32 {
        if self.counts.len() >= COUNTED_MAX && !self.counts.contains_key(&who) {
            self.counts.clear();
        }
        self.counts.entry(who).or_insert(0)
    }
}

/// `POST /v1/did/activate`, as often as an address may.
pub(crate) async fn activations(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    pass(request, next, |app| &app.activations).await
}

/// `POST /v1/auth/login`, as often as an address may.
pub(crate) async fn logins(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    pass(request, next, |app| &app.logins).await
}

/// The same for whoever signs in on a page.
pub fn admit_login(app: &ApiState, request: &HttpRequest) -> Result<(), Problem> {
    admit(app, request, &app.logins)
}

/// The same for whoever opens an account on a page.
pub fn admit_activation(app: &ApiState, request: &HttpRequest) -> Result<(), Problem> {
    admit(app, request, &app.activations)
}

/// Lets an account end sessions and replace its secret as often as it may: each waits for the disk, with everybody's
/// sends behind it, and no plan counts it. Whose session it is comes first, and mostly from memory, so that whoever is
/// refused here costs neither a transaction nor a thread. What is wrong in itself does nothing, and counts for nothing.
pub(crate) async fn admit_account<T>(
    app: &ApiState,
    token: Option<&str>,
    body: &Body<T>,
) -> Result<(), Problem> {
    if body.is_err() {
        return Ok(());
    }
    let account = app.sealpost.account_of(token).await?;
    let throttle = &app.account_changes;
    let admitted = throttle.admit(account, 1, app.clock.now());
    admitted.map_err(|retry_after| Problem::AccountThrottled {
        per_minute: throttle.per_minute,
        retry_after,
    })
}

async fn pass(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
    throttle: fn(&ApiState) -> &Throttle,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let app = request.app_data::<web::Data<ApiState>>().cloned();
    let admitted =
        app.ok_or(Problem::Lost).and_then(|app| admit(&app, request.request(), throttle(&app)));
    match admitted {
        Ok(()) => Ok(next.call(request).await?.map_into_boxed_body()),
        Err(problem) => Ok(request.error_response(problem)),
    }
}

fn admit(app: &ApiState, request: &HttpRequest, throttle: &Throttle) -> Result<(), Problem> {
    let peer = request.peer_addr().ok_or(Problem::Lost)?.ip();
    let address = client_address(peer, request.headers(), &app.trusted_proxies);
    let admitted = throttle.admit(neighbourhood(address), 1, app.clock.now());
    admitted.map_err(|retry_after| Problem::AddressThrottled {
        per_minute: throttle.per_minute,
        retry_after,
    })
}

/// Whoever has one address of IPv6 has the other 2^64 of its network too.
fn neighbourhood(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

const MINUTE_MS: i64 = 60_000;
/// Some ten megabytes at the most.
const COUNTED_MAX: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_767_225_600_000 + millis)
    }

    fn address(text: &str) -> IpAddr {
        neighbourhood(text.parse().unwrap())
    }

    #[test]
    fn the_limit_holds_until_the_minute_is_over() {
        let throttle = Throttle::new(2);
        let (alice, bob) = (address("192.0.2.1"), address("192.0.2.2"));
        assert!(throttle.admit(alice, 1, at(0)).is_ok());
        assert!(throttle.admit(alice, 1, at(29_000)).is_ok());
        assert_eq!(throttle.admit(alice, 1, at(30_500)), Err(Duration::from_millis(29_500)));
        assert!(throttle.admit(bob, 1, at(30_500)).is_ok());
        assert!(throttle.admit(alice, 1, at(60_000)).is_ok());
    }

    #[test]
    fn what_costs_more_passes_less_often() {
        let throttle = Throttle::new(9);
        let passed =
            |who, cost| (0..20).filter(|_| throttle.admit(who, cost, at(0)).is_ok()).count();
        assert_eq!(passed(1, 4), 2);
        assert_eq!(passed(1, 1), 1, "what is left is for what costs less");
        assert_eq!(passed(2, 10), 1, "nothing is impossible for good");
        assert_eq!(passed(3, 1), 9);
    }

    #[test]
    fn a_clock_set_back_gives_nothing_back() {
        let throttle = Throttle::new(1);
        let alice = address("192.0.2.1");
        assert!(throttle.admit(alice, 1, at(60_000)).is_ok());
        assert_eq!(throttle.admit(alice, 1, at(59_000)), Err(Duration::from_mins(1) + SECOND));
        assert!(throttle.admit(alice, 1, at(120_000)).is_ok());
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let throttle = Throttle::new(1);
        assert!(throttle.admit(address("2001:db8::1"), 1, at(0)).is_ok());
        assert!(throttle.admit(address("2001:db8::ffff:2"), 1, at(0)).is_err());
        assert!(throttle.admit(address("2001:db8:0:1::1"), 1, at(0)).is_ok());
        assert!(throttle.admit(address("192.0.2.1"), 1, at(0)).is_ok());
        assert!(throttle.admit(address("::ffff:192.0.2.1"), 1, at(0)).is_err());
    }

    #[test]
    fn zero_turns_it_off() {
        let throttle = Throttle::new(0);
        assert!((0..1000).all(|_| throttle.admit(address("192.0.2.1"), 1, at(0)).is_ok()));
        assert!(throttle.seen.lock().unwrap().counts.is_empty());
    }

    #[test]
    fn no_more_addresses_are_remembered_than_there_is_room_for() {
        let throttle = Throttle::new(1);
        for number in 0..=u32::try_from(COUNTED_MAX).unwrap() {
            let address = IpAddr::V4(std::net::Ipv4Addr::from_bits(number));
            assert!(throttle.admit(address, 1, at(0)).is_ok());
        }
        assert_eq!(throttle.seen.lock().unwrap().counts.len(), 1);
    }

    const SECOND: Duration = Duration::from_secs(1);
}
