//! Rate limits for requests that the limits of an API key do not cover: activations (of API keys) and logins per client
//! address, and test events and changes per account. Each node counts in memory, which is enough to bound the cost of a
//! flood. The limits of a key, in contrast, are exact and stored in the database.
//!
//! A request that is refused before any look-up does not count. Otherwise an attacker could use up the limit of an
//! address with malformed requests.

mod counter;

use std::net::IpAddr;

use actix_web::HttpRequest;
use ipnet::IpNet;
use sealpost_domain::AccountId;
use sealpost_service::{Access, Credentials};

use crate::{
    request::{SessionRequest, client_address},
    response::Problem,
    state::ApiState,
};
pub use counter::Throttle;

/// Counts a login through the API or a page. Fails if the client address has reached its limit of logins.
pub fn admit_login(app: &ApiState, request: &HttpRequest) -> Result<(), Problem> {
    admit(app, request, &app.logins)
}

/// Counts a sign-in of an operator. Fails if the client address has reached its limit of sign-ins.
pub(crate) fn admit_sign_in(
    app: &ApiState,
    client: Option<IpAddr>,
    sign_ins: &Throttle,
) -> Result<(), Problem> {
    admit_address(app, client.ok_or(Problem::Lost)?, sign_ins)
}

/// Counts an activation (the creation of an API key, with or without a new account) through the API or a page. Fails if
/// the client address has reached its limit of activations.
pub fn admit_activation(app: &ApiState, request: &HttpRequest) -> Result<(), Problem> {
    admit(app, request, &app.activations)
}

/// Counts a logout or a rotation of the login secret. Fails if the account has reached its limit. These requests write
/// to the disk, but do not count against the limits of a plan. Therefore they have a limit of their own. A faulty
/// request writes nothing, so it does not count.
pub(crate) async fn admit_account<B>(
    app: &ApiState,
    request: &SessionRequest<B>,
) -> Result<(), Problem> {
    if request.body.is_err() {
        return Ok(());
    }
    // The account usually comes from the session cache. A refusal then needs neither a transaction nor a thread of the
    // blocking pool.
    let account = app.sealpost.account_of_session(request.token.as_deref()).await?;
    limit_account(app, account, &app.account_changes)
}

/// Counts a test event. Fails if the account has reached its limit. This limit exists because each test event makes the
/// service call an address that the account chose. Only a request that may send test events counts.
pub(crate) async fn admit_test(
    app: &ApiState,
    credentials: &Credentials,
    access: Access,
) -> Result<(), Problem> {
    let caller = app.sealpost.authenticate(credentials, access).await?;
    limit_account(app, caller.account_id(), &app.webhook_tests)
}

/// Counts a test event that the owner of an account sends from a page. Fails if the account has reached its limit.
pub fn admit_owner_test(app: &ApiState, account: AccountId) -> Result<(), Problem> {
    limit_account(app, account, &app.webhook_tests)
}

fn limit_account(
    app: &ApiState,
    account: AccountId,
    throttle: &Throttle<AccountId>,
) -> Result<(), Problem> {
    let admitted = throttle.admit(account, 1, app.clock.now());
    admitted.map_err(|retry_after| Problem::AccountThrottled {
        per_minute: throttle.per_minute(),
        retry_after,
    })
}

fn admit(app: &ApiState, request: &HttpRequest, throttle: &Throttle) -> Result<(), Problem> {
    let peer = request.peer_addr().ok_or(Problem::Lost)?.ip();
    let address = client_address(peer, request.headers(), &app.trusted_proxies);
    admit_address(app, address, throttle)
}

fn admit_address(app: &ApiState, address: IpAddr, throttle: &Throttle) -> Result<(), Problem> {
    let admitted = throttle.admit_all(networks(address), app.clock.now());
    admitted.map_err(|retry_after| Problem::AddressThrottled {
        per_minute: throttle.per_minute(),
        retry_after,
    })
}

/// Returns the networks that count the requests of a client address, each with the factor that multiplies its limit. An
/// IPv4 address counts alone. An IPv6 address counts in its /64, /56 and /48 networks, because an IPv6 client usually
/// has a whole /64 network, and sometimes a /56 or a /48.
fn networks(address: IpAddr) -> impl Iterator<Item = (IpNet, u32)> + Clone {
    let address = address.to_canonical();
    let sizes: &[(u8, u32)] = match address {
        IpAddr::V4(_) => &[(32, 1)],
        IpAddr::V6(_) => &[(64, 1), (56, 2), (48, 4)],
    };
    let network = move |(length, factor): &(u8, u32)| {
        Some((IpNet::new(address, *length).ok()?.trunc(), *factor))
    };
    sizes.iter().filter_map(network)
}

#[cfg(test)]
mod tests {
    use sealpost_domain::Timestamp;

    use super::*;

    fn admitted<A: AsRef<str>>(
        throttle: &Throttle,
        addresses: impl IntoIterator<Item = A>,
    ) -> usize {
        let now = Timestamp::from_millis(0);
        let admit = |address: &A| {
            throttle.admit_all(networks(address.as_ref().parse().unwrap()), now).is_ok()
        };
        addresses.into_iter().filter(admit).count()
    }

    #[test]
    fn an_ipv6_network_counts_as_one_client() {
        let throttle = Throttle::new(1);
        assert_eq!(admitted(&throttle, ["2001:db8::1", "2001:db8::ffff:2"]), 1);
        assert_eq!(admitted(&throttle, ["2001:db8:0:1::1"]), 1);
        assert_eq!(admitted(&throttle, ["192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"]), 2);
    }

    #[test]
    fn larger_ipv6_networks_have_multiples_of_the_limit() {
        let throttle = Throttle::new(3);
        let of_site = |n: u32| format!("2001:db8:7:{n:x}::1");
        let in_one_56: Vec<_> = (0..256).map(of_site).collect();
        assert_eq!(admitted(&throttle, &in_one_56), 6);
        let in_one_48: Vec<_> = (256..65_536).map(of_site).collect();
        assert_eq!(admitted(&throttle, &in_one_48), 6, "12 in all");
        assert_eq!(admitted(&throttle, ["2001:db8:8::1"; 9]), 3);
    }
}
