//! Limits activations and logins per client address, and changes and test events per account. Each node counts in its
//! own memory, which suffices to bound the cost of a flood. The limits of a key are exact and stored in the database.
//!
//! A request that is refused without a look-up does not count. Otherwise junk from one client would use up the limit of
//! its address.

mod counter;

use std::net::{IpAddr, Ipv6Addr};

use actix_web::HttpRequest;
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

/// Counts a change of an account, and fails if the account has reached the limit of changes. No plan counts these
/// changes, and each takes disk time from sends. A faulty request changes nothing and does not count.
pub(crate) async fn admit_account<B>(
    app: &ApiState,
    request: &SessionRequest<B>,
) -> Result<(), Problem> {
    if request.body.is_err() {
        return Ok(());
    }
    limit_account(app, request.token.as_deref(), &app.account_changes).await
}

/// Counts a test event, and fails if the account has reached the limit of test events. Each test event is a request to
/// an address that the account chose.
pub(crate) async fn admit_test(app: &ApiState, credentials: &Credentials) -> Result<(), Problem> {
    limit_account(app, credentials.token.as_deref(), &app.webhook_tests).await
}

async fn limit_account(
    app: &ApiState,
    token: Option<&str>,
    throttle: &Throttle<AccountId>,
) -> Result<(), Problem> {
    // The account comes mostly from the session cache, so a refusal costs no transaction and no thread of the blocking
    // pool.
    let account = app.sealpost.account_of(token).await?;
    let admitted = throttle.admit(account, 1, app.clock.now());
    admitted.map_err(|retry_after| Problem::AccountThrottled {
        per_minute: throttle.per_minute(),
        retry_after,
    })
}

fn admit(app: &ApiState, request: &HttpRequest, throttle: &Throttle) -> Result<(), Problem> {
    let peer = request.peer_addr().ok_or(Problem::Lost)?.ip();
    let address = client_address(peer, request.headers(), &app.trusted_proxies);
    let admitted = throttle.admit(network(address), 1, app.clock.now());
    admitted.map_err(|retry_after| Problem::AddressThrottled {
        per_minute: throttle.per_minute(),
        retry_after,
    })
}

/// Returns the network that counts as one client: an IPv4 address, or the /64 network of an IPv6 address, because a
/// client usually has the whole /64.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use sealpost_domain::Timestamp;

    use super::*;

    #[test]
    fn an_ipv6_network_counts_as_one_client() {
        let throttle = Throttle::new(1);
        let admit = |address: &str| {
            throttle.admit(network(address.parse().unwrap()), 1, Timestamp::from_millis(0))
        };
        assert!(admit("2001:db8::1").is_ok());
        assert!(admit("2001:db8::ffff:2").is_err());
        assert!(admit("2001:db8:0:1::1").is_ok());
        assert!(admit("192.0.2.1").is_ok());
        assert!(admit("::ffff:192.0.2.1").is_err());
    }
}
