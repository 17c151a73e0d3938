//! Rate limits for requests that do not count against the limits of an API key. Each node keeps its own counts in
//! memory. This is enough to bound the cost of a flood of requests. The limits of a key, in contrast, are exact and
//! stored in the database.
//!
//! Three rules prevent an attacker from locking the owner out of an account:
//!
//! - A right secret is never refused because of earlier wrong secrets. Wrong secrets, and secrets whose request was
//!   cancelled, count against a limit of the client address. Over this limit, secrets are still verified, but only a
//!   few at a time.
//! - A request that ends sessions, tokens or keys is never refused. Over the limit of its session, the request waits
//!   until only a few such requests run.
//! - Any other request counts against the limit of its session and the limit of its account. The limit of the account
//!   is four times as high, so a stolen session alone cannot use it up.
//!
//! A request that is refused before any look-up does not count.

mod counter;

use std::{
    hash::Hash,
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use actix_web::{HttpRequest, rt};
use ipnet::IpNet;
use sealpost_domain::{AccountId, Code, Refusal, TokenHash};
use sealpost_service::{AccountSession, Error, LoggedIn, Login, Recovery, SecretsReplaced};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    request::{SessionRequest, client_address, request_source},
    response::Problem,
    state::ApiState,
};
pub use counter::{SessionOrAccount, Throttle};

/// Logs in through the API or a page. A wrong secret counts against the client address. A right secret counts against
/// the pair of client address and account, so that logins to other accounts cannot use up this limit.
pub async fn log_in(
    app: &ApiState,
    request: &HttpRequest,
    login: Login,
) -> Result<LoggedIn, Problem> {
    login.check()?;
    let source = request_source(app, request);
    let (sealpost, client_source) = (Arc::clone(&app.sealpost), source.clone());
    let verified = async move {
        let account = sealpost.accounts.verify_login(&login, &client_source).await?;
        Ok::<_, Error>((account, login))
    };
    let (account, login) = verify_secret(app, request, verified).await?;
    let client = client_of(app, request)?;
    let keys = networks(client).map(|(network, factor)| ((network, account), factor));
    admit_address(app, client, &app.logins, keys)?;
    Ok(app.sealpost.accounts.login(login, source).await?)
}

/// Recovers an account. A wrong recovery code counts against the client address, like a wrong login secret. A right
/// code counts against the account, like a rotation of the login secret, because it replaces this secret.
pub async fn recover(
    app: &ApiState,
    request: &HttpRequest,
    recovery: Recovery,
) -> Result<SecretsReplaced, Problem> {
    recovery.check()?;
    let source = request_source(app, request);
    let (sealpost, client_source) = (Arc::clone(&app.sealpost), source.clone());
    let verified = async move {
        let account = sealpost.accounts.verify_recovery(&recovery, &client_source).await?;
        Ok::<_, Error>((account, recovery))
    };
    let (account, recovery) = verify_secret(app, request, verified).await?;
    admit_account(&app.secret_changes, account)?;
    Ok(app.sealpost.accounts.recover(recovery, source).await?)
}

/// Verifies the login secret in a request of a session, and fails if the secret is wrong. A wrong secret counts against
/// the client address, like a failed login. The activity of the account also records a wrong secret, with `attempted`:
/// the action that needs the secret.
pub async fn verify_login_secret(
    app: &ApiState,
    request: &HttpRequest,
    session: &AccountSession,
    login_secret: &str,
    attempted: &'static str,
) -> Result<(), Problem> {
    let (sealpost, source) = (Arc::clone(&app.sealpost), request_source(app, request));
    let (session, login_secret) = (*session, login_secret.to_owned());
    let verified = async move {
        sealpost.accounts.verify_login_secret(&session, &login_secret, &source, attempted).await
    };
    verify_secret(app, request, verified).await
}

/// Awaits `verified`, the verification of a secret. A wrong secret counts against the client address. If the address
/// has reached its limit of wrong secrets, a wrong secret fails with the refusal of the limit.
///
/// The right secret is accepted even over the limit, so an attacker cannot lock out a user who shares the address. Over
/// the limit, only a few verifications run at the same time, which slows guesses. More protection is not needed: a
/// secret has 256 random bits, and a guess costs only one look-up and a hash.
async fn verify_secret<T: 'static>(
    app: &ApiState,
    request: &HttpRequest,
    verified: impl Future<Output = Result<T, Error>> + 'static,
) -> Result<T, Problem> {
    let client = client_of(app, request)?;
    let (throttle, slots) = (&app.wrong_secrets, &app.secret_slots);
    let (verified, is_uncounted) = verify_counted(throttle, slots, client, verified).await?;
    if is_uncounted {
        admit_address(app, client, throttle, networks(client))?;
    }
    Ok(verified?)
}

/// Counts a secret as wrong, awaits its verification, and reverses the count unless the secret is wrong. A cancelled
/// request therefore counts as wrong, so that a client cannot avoid the limit by closing each connection early. If the
/// limit is already reached, counts nothing, and waits for a slot before the verification. Returns the result of the
/// verification, and true if the secret is wrong but was not counted.
async fn verify_counted<T: 'static>(
    throttle: &Throttle,
    slots: &Arc<Semaphore>,
    client: IpAddr,
    verified: impl Future<Output = Result<T, Error>> + 'static,
) -> Result<(Result<T, Error>, bool), Problem> {
    let counted_at = Instant::now();
    let is_counted = throttle.admit(networks(client), 1, counted_at).is_ok();
    let slot = if is_counted { None } else { Arc::clone(slots).acquire_owned().await.ok() };
    let verified = run_to_end(slot, verified).await?;
    let is_wrong = verified.as_ref().is_err_and(|error| {
        let code = error.refusal().map(Refusal::code);
        matches!(code, Some(Code::ActivationRefused | Code::Unauthorized))
    });
    if is_counted && !is_wrong {
        throttle.refund(networks(client), counted_at);
    }
    Ok((verified, is_wrong && !is_counted))
}

/// Runs `work` to its end, even if the request is cancelled because the client closes the connection. Keeps `slot`
/// until the end of `work`. Work on a blocking thread cannot be cancelled, so an earlier release of the slot would let
/// too many requests run at the same time.
pub(crate) async fn run_to_end<T: 'static>(
    slot: Option<OwnedSemaphorePermit>,
    work: impl Future<Output = T> + 'static,
) -> Result<T, Problem> {
    let work = async move {
        let _slot = slot;
        work.await
    };
    rt::spawn(work).await.map_err(|_panicked| Problem::Lost)
}

/// The key under which sign-ins are counted: the name of an operator, or `None` for all unknown names together.
pub(crate) type OperatorName = Option<String>;

/// Counts a sign-in of an operator. Fails if the client address has reached its limit of sign-ins with this name.
pub(crate) fn admit_sign_in(
    app: &ApiState,
    client: IpAddr,
    name: &OperatorName,
    sign_ins: &Throttle<(IpNet, OperatorName)>,
) -> Result<(), Problem> {
    let keys = networks(client).map(|(network, factor)| ((network, name.clone()), factor));
    admit_address(app, client, sign_ins, keys)
}

/// Counts an activation (the creation of an API key) in an account, through the API or a page. Fails if the client
/// address has reached its limit of activations.
pub fn admit_activation(app: &ApiState, request: &HttpRequest) -> Result<(), Problem> {
    let client = client_of(app, request)?;
    admit_address(app, client, &app.activations, networks(client))
}

/// Counts an activation that creates an account. Fails if the client address has reached its limit of activations. Also
/// fails if sign-up needs an invite and the invite is wrong. A wrong invite counts as a wrong secret, not as an
/// activation.
pub async fn admit_sign_up(
    app: &ApiState,
    request: &HttpRequest,
    invite: Option<&str>,
) -> Result<(), Problem> {
    if let Some(invite) = app.sealpost.accounts.needed_invite(invite)? {
        let sealpost = Arc::clone(&app.sealpost);
        let verified = async move { sealpost.accounts.verify_invite(invite).await };
        verify_secret(app, request, verified).await?;
    }
    admit_activation(app, request)
}

/// Counts a form that a client without a session submits again. The server then looks up the result of the first
/// submission. The form counts as a wrong secret of the client address. Fails if the address has reached its limit of
/// wrong secrets.
pub fn admit_repetition(app: &ApiState, request: &HttpRequest) -> Result<(), Problem> {
    let client = client_of(app, request)?;
    admit_address(app, client, &app.wrong_secrets, networks(client))
}

/// Counts a request about the account that does not end sessions, tokens or keys, such as a list of API tokens. Fails
/// if the session or its account has reached its limit. Plans do not limit these requests. A request with an error in
/// its body does not count.
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
    let keys = session_and_account(session, account);
    let admitted = app.account_changes.admit(keys, 1, Instant::now());
    let per_minute = app.account_changes.per_minute();
    admitted.map_err(|retry_after| Problem::SessionThrottled {
        per_minute,
        per_account: per_minute.saturating_mul(FULL_SESSIONS_MAX),
        retry_after,
    })
}

/// Returns the two keys under which a [`Throttle`] counts a request of a session: the session and its account. The
/// number beside each key multiplies the limit per minute.
pub fn session_and_account(
    session: TokenHash,
    account: AccountId,
) -> impl Iterator<Item = (SessionOrAccount, u32)> + Clone {
    let keys = [
        (SessionOrAccount::Session(session), 1),
        (SessionOrAccount::Account(account), FULL_SESSIONS_MAX),
    ];
    keys.into_iter()
}

/// Counts a request that ends sessions, tokens or keys, or that shows the page for this purpose. Never refuses the
/// request. If the session is below its limit, returns `None`. Otherwise waits for a slot and returns the slot. The
/// caller must keep the slot until the end of the request.
pub async fn admit_ending(app: &ApiState, session: TokenHash) -> Option<OwnedSemaphorePermit> {
    let admitted = app.endings.admit(std::iter::once((session, 1)), 1, Instant::now());
    let slots = Arc::clone(&app.ending_slots);
    if admitted.is_err() { slots.acquire_owned().await.ok() } else { None }
}

/// Counts a rotation of the login secret, after the current secret was verified. Fails if the account has reached its
/// limit of replacements.
pub fn admit_secret_change(app: &ApiState, account: AccountId) -> Result<(), Refusal> {
    admit_account(&app.secret_changes, account)
}

/// Refuses a test event if the account has reached its limit. Counts nothing.
pub(crate) fn check_test(app: &ApiState, account: AccountId) -> Result<(), Refusal> {
    let throttle = &app.webhook_tests;
    let wait = throttle.wait(std::iter::once((account, 1)), 1, Instant::now());
    wait.map_or(Ok(()), |retry_after| Err(account_limited(throttle, retry_after)))
}

/// Counts a test event. Fails if the account has reached its limit. This limit exists because each test event makes the
/// service call an address that the account chose.
pub fn admit_test(app: &ApiState, account: AccountId) -> Result<(), Refusal> {
    admit_account(&app.webhook_tests, account)
}

fn admit_account(throttle: &Throttle<AccountId>, account: AccountId) -> Result<(), Refusal> {
    let admitted = throttle.admit(std::iter::once((account, 1)), 1, Instant::now());
    admitted.map_err(|retry_after| account_limited(throttle, retry_after))
}

fn account_limited(throttle: &Throttle<AccountId>, retry_after: Duration) -> Refusal {
    Refusal::AccountRateLimited { per_minute: throttle.per_minute(), retry_after }
}

/// Counts a request of a client address in `throttle`, under `keys`. Fails if one of the keys has reached its limit.
/// Logs the first refusal of an address in a minute.
fn admit_address<Key: Eq + Hash>(
    app: &ApiState,
    client: IpAddr,
    throttle: &Throttle<Key>,
    keys: impl Iterator<Item = (Key, u32)> + Clone,
) -> Result<(), Problem> {
    let now = Instant::now();
    let admitted = throttle.admit(keys, 1, now);
    if admitted.is_err() && app.logged_refusals.admit(networks(client), 1, now).is_ok() {
        tracing::warn!(
            client = %client,
            per_minute = throttle.per_minute(),
            "a client address has reached a limit: further refusals in this minute are not logged"
        );
    }
    admitted.map_err(|retry_after| Problem::AddressThrottled {
        per_minute: throttle.per_minute(),
        retry_after,
    })
}

fn client_of(app: &ApiState, request: &HttpRequest) -> Result<IpAddr, Problem> {
    let peer = request.peer_addr().ok_or(Problem::Lost)?.ip();
    Ok(client_address(peer, request.headers(), &app.trusted_proxies))
}

/// Returns the networks against whose limits a request of a client address counts. The number beside each network is a
/// factor that multiplies its limit. An IPv4 address counts alone. An IPv6 address counts in its /64, /56 and /48
/// networks, because an IPv6 client usually has a whole /64 network, and sometimes a /56 or a /48.
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
    fn only_wrong_secrets_count() {
        rt::System::new().block_on(async {
            let (throttle, slots) = (Throttle::new(1), Arc::new(Semaphore::new(1)));
            let client: IpAddr = "192.0.2.1".parse().unwrap();
            let verify = async |verified: Result<(), Error>| {
                verify_counted(&throttle, &slots, client, std::future::ready(verified))
                    .await
                    .map(|(verified, is_uncounted)| (verified.is_ok(), is_uncounted))
                    .unwrap()
            };
            let wrong = || Err(Error::Refused(Refusal::Unauthorized("wrong")));
            assert_eq!(verify(Ok(())).await, (true, false));
            assert_eq!(verify(Err(Error::Lost)).await, (false, false));
            assert_eq!(verify(wrong()).await, (false, false));
            assert_eq!(verify(wrong()).await, (false, true));
            assert_eq!(verify(Ok(())).await, (true, false));
        });
    }

    #[test]
    fn a_cancelled_verification_counts() {
        rt::System::new().block_on(async {
            let (throttle, slots) = (Throttle::new(1), Arc::new(Semaphore::new(1)));
            let client: IpAddr = "192.0.2.1".parse().unwrap();
            {
                let never = std::future::pending::<Result<(), Error>>();
                let mut request = pin!(verify_counted(&throttle, &slots, client, never));
                let mut cx = Context::from_waker(Waker::noop());
                assert!(request.as_mut().poll(&mut cx).is_pending());
            }
            assert!(throttle.wait(networks(client), 1, Instant::now()).is_some());
        });
    }

    #[test]
    fn a_cancelled_request_keeps_its_slot_until_the_work_ends() {
        rt::System::new().block_on(async {
            let slots = Arc::new(Semaphore::new(1));
            let (finish, finished) = oneshot::channel::<()>();
            {
                let slot = Arc::clone(&slots).try_acquire_owned().unwrap();
                let mut request = pin!(run_to_end(Some(slot), finished));
                let mut cx = Context::from_waker(Waker::noop());
                assert!(request.as_mut().poll(&mut cx).is_pending());
            }
            assert_eq!(slots.available_permits(), 0);
            finish.send(()).unwrap();
            assert!(slots.acquire().await.is_ok());
        });
    }
}
