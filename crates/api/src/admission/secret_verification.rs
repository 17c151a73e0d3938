//! Verifies the secrets in requests: login secrets, recovery codes and invites. A wrong secret counts against the
//! client address. A verification runs to its end, even if the client closes the connection.

use std::{net::IpAddr, sync::Arc, time::Instant};

use actix_web::HttpRequest;
use sealpost_domain::{Code, Refusal};
use sealpost_service::{AccountSession, Error, LoggedIn, Login, Recovery, SecretsReplaced};
use tokio::sync::Semaphore;

use super::{admit_account, admit_activation, admit_address, client_of, networks, run_to_end};
use crate::{request::request_source, response::Problem, state::ApiState, throttle::Throttle};

/// Logs in through the API or a page. A wrong secret counts against the client address. A right secret counts against
/// the pair of client address and account, so logins to one account never block another.
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

/// Recovers an account with its recovery code. A wrong code counts against the client address, like a wrong login
/// secret. A right code counts against the account, like a rotation of the login secret.
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
/// the client address, like a failed login. The activity of the account then shows `attempted`, the action that needs
/// the secret.
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

/// Awaits `verified`, the verification of a secret. A wrong secret counts against the client address. Over the limit of
/// the address, a wrong secret fails with the refusal of the limit.
///
/// The right secret is accepted even over the limit, so an attacker cannot lock out a user who shares the address. Over
/// the limit, only a few verifications run at the same time. This is protection enough: a secret has 256 random bits,
/// and a guess costs only one look-up and a hash.
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

/// Awaits `verified`, the verification of a secret. Returns its result, and true if the secret is wrong but was not
/// counted because the client has reached the limit.
///
/// Counts the secret as wrong before the verification, and reverses the count afterwards unless the secret is wrong. So
/// a client that closes each connection early cannot avoid the limit. Over the limit, waits for a slot first.
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

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        task::{Context, Waker},
    };

    use actix_web::rt;

    use super::*;

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
}
