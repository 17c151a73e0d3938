//! Rate limits per client address, session and account, for requests that the limits of a plan do not cover, such as
//! logins. Each node counts in memory, which is enough to bound the cost of a flood of requests. The limits of an API
//! key, in contrast, are exact and stored in the database.
//!
//! An attacker must not lock the owner out of an account. Therefore:
//!
//! - A right secret is accepted even over the limit. Wrong secrets, and secrets whose request was cancelled, count
//!   against the client address. Over this limit, only a few secrets are verified at the same time.
//! - A request that ends sessions, tokens or keys is never refused. Over the limit of its session, it waits for a slot.
//! - Any other request in a session counts against its session and its account. The limit of the account is four times
//!   as high, so a stolen session alone cannot use it up.
//!
//! A request that is refused before any look-up does not count.

mod secret_verification;

use std::{
    hash::Hash,
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use actix_web::{HttpRequest, rt};
use ipnet::IpNet;
use sealpost_domain::{AccountId, Refusal, TokenHash};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    request::{SessionRequest, client_address},
    response::Problem,
    state::ApiState,
    throttle::{SessionOrAccount, Throttle},
};
pub use secret_verification::{admit_sign_up, log_in, recover, verify_login_secret};

/// The client whose sign-ins are counted: the name of an operator, or `None` for all unknown names together.
pub(crate) type OperatorName = Option<String>;

/// Counts a sign-in of an operator. Fails if the client address has reached its limit for this name.
pub(crate) fn admit_sign_in(
    app: &ApiState,
    client: IpAddr,
    name: &OperatorName,
    sign_ins: &Throttle<(IpNet, OperatorName)>,
) -> Result<(), Problem> {
    let clients = networks(client).map(|(network, factor)| ((network, name.clone()), factor));
    admit_address(app, client, sign_ins, clients)
}

/// Counts an activation (the creation of an API key) in an account, through the API or a page. Fails if the client
/// address has reached its limit of activations.
pub fn admit_activation(app: &ApiState, request: &HttpRequest) -> Result<(), Problem> {
    let client = client_of(app, request)?;
    admit_address(app, client, &app.activations, networks(client))
}

/// Limits the look-ups of form results by clients without a session. A form that is sent again counts as a wrong secret
/// of the client address. Fails if the address has reached its limit of wrong secrets.
pub fn admit_repetition(app: &ApiState, request: &HttpRequest) -> Result<(), Problem> {
    let client = client_of(app, request)?;
    admit_address(app, client, &app.wrong_secrets, networks(client))
}

/// Counts a request about the account, such as a list of API tokens, against the limits of its session and its account.
/// Fails if one of them is reached. A request with an error in its body is not counted.
///
/// Requests that end sessions, tokens or keys do not call this function, because they must work after the limit too.
pub(crate) async fn admit_session<B>(
    app: &ApiState,
    request: &SessionRequest<B>,
) -> Result<(), Problem> {
    if request.body.is_err() {
        return Ok(());
    }
    // The session usually comes from the cache. A refusal then needs neither a transaction nor a thread of the
    // blocking pool.
    let (account, session) = app.sealpost.session_to_limit(request.token.as_deref()).await?;
    let clients = session_and_account(session, account);
    let admitted = app.account_changes.admit(clients, 1, Instant::now());
    let per_minute = app.account_changes.per_minute;
    admitted.map_err(|retry_after| Problem::SessionThrottled {
        per_minute,
        per_account: per_minute.saturating_mul(FULL_SESSIONS_MAX),
        retry_after,
    })
}

/// Returns the clients for which a [`Throttle`] counts a request of a session: the session and its account. The number
/// beside each client multiplies the limit per minute.
pub fn session_and_account(
    session: TokenHash,
    account: AccountId,
) -> impl Iterator<Item = (SessionOrAccount, u32)> + Clone {
    let clients = [
        (SessionOrAccount::Session(session), 1),
        (SessionOrAccount::Account(account), FULL_SESSIONS_MAX),
    ];
    clients.into_iter()
}

/// Runs `work` for a request that ends sessions, tokens or keys, or for the page with its form. Counts the request
/// against the limit of its session, but never refuses it. Over the limit, `work` waits for one of a few slots, and
/// keeps the slot to its end.
///
/// `work` runs to its end, even if the client closes the connection. Fails only if `work` panics or the server stops.
pub async fn run_ending<T: 'static>(
    app: &ApiState,
    session: TokenHash,
    work: impl Future<Output = T> + 'static,
) -> Result<T, Problem> {
    run_counted(&app.endings, &app.ending_slots, session, work).await
}

async fn run_counted<T: 'static>(
    throttle: &Throttle<TokenHash>,
    slots: &Arc<Semaphore>,
    session: TokenHash,
    work: impl Future<Output = T> + 'static,
) -> Result<T, Problem> {
    let admitted = throttle.admit(std::iter::once((session, 1)), 1, Instant::now());
    let slot = if admitted.is_ok() { None } else { Arc::clone(slots).acquire_owned().await.ok() };
    run_to_end(slot, work).await
}

/// Runs `work` to its end, even if the client closes the connection, and keeps `slot` until then. An earlier release
/// would let too many requests run at the same time, because work on a blocking thread cannot be cancelled.
async fn run_to_end<T: 'static>(
    slot: Option<OwnedSemaphorePermit>,
    work: impl Future<Output = T> + 'static,
) -> Result<T, Problem> {
    let work = async move {
        let _slot = slot;
        work.await
    };
    rt::spawn(work).await.map_err(|_panicked| Problem::Lost)
}

/// Counts a rotation of the login secret, after the current secret was verified. Fails if the account has reached its
/// limit of rotations and recoveries per minute.
pub fn admit_secret_change(app: &ApiState, account: AccountId) -> Result<(), Refusal> {
    admit_account(&app.secret_changes, account)
}

/// Refuses a test event if the account has reached its limit. Counts nothing.
pub(crate) fn check_test(app: &ApiState, account: AccountId) -> Result<(), Refusal> {
    let throttle = &app.webhook_tests;
    let wait = throttle.wait(std::iter::once((account, 1)), 1, Instant::now());
    wait.map_or(Ok(()), |retry_after| Err(account_limited(throttle, retry_after)))
}

/// Counts a test event, which makes the service call an address that the account chose. Fails if the account has
/// reached its limit.
pub fn admit_test(app: &ApiState, account: AccountId) -> Result<(), Refusal> {
    admit_account(&app.webhook_tests, account)
}

fn admit_account(throttle: &Throttle<AccountId>, account: AccountId) -> Result<(), Refusal> {
    let admitted = throttle.admit(std::iter::once((account, 1)), 1, Instant::now());
    admitted.map_err(|retry_after| account_limited(throttle, retry_after))
}

fn account_limited(throttle: &Throttle<AccountId>, retry_after: Duration) -> Refusal {
    Refusal::AccountRateLimited { per_minute: throttle.per_minute, retry_after }
}

/// Counts a request of a client address in `throttle`, for `clients`. Fails if one of them has reached its limit.
/// Logs the first refusal of an address in a minute.
fn admit_address<Client: Eq + Hash>(
    app: &ApiState,
    client: IpAddr,
    throttle: &Throttle<Client>,
    clients: impl Iterator<Item = (Client, u32)> + Clone,
) -> Result<(), Problem> {
    let now = Instant::now();
    let admitted = throttle.admit(clients, 1, now);
    if admitted.is_err() && app.logged_refusals.admit(networks(client), 1, now).is_ok() {
        tracing::warn!(
            client = %client,
            per_minute = throttle.per_minute,
            "a client address has reached a limit: further refusals in this minute are not logged"
        );
    }
    admitted.map_err(|retry_after| Problem::AddressThrottled {
        per_minute: throttle.per_minute,
        retry_after,
    })
}

fn client_of(app: &ApiState, request: &HttpRequest) -> Result<IpAddr, Problem> {
    let peer = request.peer_addr().ok_or(Problem::Lost)?.ip();
    Ok(client_address(peer, request.headers(), app.trusted_proxies()))
}

/// Returns the networks against whose limits a request of a client address counts, each with the factor of its limit.
/// An IPv4 address counts alone. An IPv6 address counts in its /64, /56 and /48, because an IPv6 client usually has a
/// /64, and sometimes a /56 or a /48.
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

/// The limit of an account is this number times the limit of a session. Up to this number of sessions can use their
/// whole limits at the same time.
const FULL_SESSIONS_MAX: u32 = 4;

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        task::{Context, Waker},
    };

    use tokio::sync::oneshot;

    use super::*;

    fn admitted<A: AsRef<str>>(
        throttle: &Throttle,
        addresses: impl IntoIterator<Item = A>,
    ) -> usize {
        let now = Instant::now();
        let admit = |address: &A| {
            throttle.admit(networks(address.as_ref().parse().unwrap()), 1, now).is_ok()
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

    #[test]
    fn a_cancelled_request_keeps_its_slot_until_the_work_ends() {
        rt::System::new().block_on(async {
            let (throttle, slots) = (Throttle::new(1), Arc::new(Semaphore::new(1)));
            let session = TokenHash([7; 32]);
            assert!(run_counted(&throttle, &slots, session, async {}).await.is_ok());
            let (finish, finished) = oneshot::channel::<()>();
            {
                let mut request = pin!(run_counted(&throttle, &slots, session, finished));
                let mut cx = Context::from_waker(Waker::noop());
                assert!(request.as_mut().poll(&mut cx).is_pending());
            }
            assert_eq!(slots.available_permits(), 0);
            finish.send(()).unwrap();
            assert!(slots.acquire().await.is_ok());
        });
    }
}
