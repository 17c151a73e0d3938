//! Limits activations and logins per client address, and changes and test events per account. Each node counts in its
//! own memory, which suffices to bound the cost of a flood. The limits of a key are exact and stored in the database.
//!
//! A request that is refused without a look-up does not count. Otherwise an attacker could use up the limit of an
//! address with malformed requests.

mod counter;

use std::net::IpAddr;

use actix_web::HttpRequest;
use ipnet::IpNet;
use sealpost_domain::AccountId;
use sealpost_service::Credentials;

use crate::{
    request::{SessionRequest, client_address},
    response::Problem,
    state::ApiState,
};
pub use counter::Throttle;

/// Counts a login through the API or on a page. Fails if the client address has reached the limit of logins.
pub fn admit_login(app: &ApiState, request: &HttpRequest) -> Result<(), Problem> {
    admit(app, request, &app.logins)
}

/// Counts an activation through the API or on a page. Fails if the client address has reached the limit of activations.
pub fn admit_activation(app: &ApiState, request: &HttpRequest) -> Result<(), Problem> {
    admit(app, request, &app.activations)
}

/// Counts a change of an account, and fails if the account has reached the limit of changes. The limits of plans do not
/// apply to these changes, although each takes disk time from sends. A faulty request changes nothing and does not
/// count.
pub(crate) async fn admit_account<B>(
    app: &ApiState,
    request: &SessionRequest<B>,
) -> Result<(), Problem> {
    if request.body.is_err() {
        return Ok(());
    }
    // The account comes mostly from the session cache, so a refusal costs no transaction and no thread of the blocking
    // pool.
    let account = app.sealpost.account_of_session(request.token.as_deref()).await?;
    limit_account(app, account, &app.account_changes)
}

/// Counts a test event, and fails if the account has reached the limit of test events. Each test event is a request to
/// an address that the account chose.
pub(crate) async fn admit_test(app: &ApiState, credentials: &Credentials) -> Result<(), Problem> {
    let account = app.sealpost.account_of(credentials.token.as_deref()).await?;
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
    let admitted = throttle.admit_all(networks(address), app.clock.now());
    admitted.map_err(|retry_after| Problem::AddressThrottled {
        per_minute: throttle.per_minute(),
        retry_after,
    })
}

/// Returns the networks for which a request of this client is counted, each with a factor for the limit. An IPv4 client
/// is one address. An IPv6 client has at least a /64 network, and often a /56 or a /48.
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
