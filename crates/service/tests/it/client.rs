//! A client of the service: authenticates each request and rejects faulty bodies, as the HTTP layer does.

use std::{
    net::{IpAddr, Ipv4Addr},
    ops::Deref,
    pin::pin,
    sync::{Arc, LazyLock},
    task::{Context, Poll, Wake},
    thread::{self, Thread},
};

use sealpost_domain::{ApiKeyId, Refusal, RequestSource, TokenScope};
use sealpost_service::{
    Access, Activate, Activated, Actor, BadgeVerified, BadgeView, Caller, ConfirmationRefusal,
    Credentials, Deleted, Deliveries, DeliveriesPage, Enabled, Error, EvidenceView, Issue, Issued,
    KeyRevoked, KeyStanding, Limited, LoggedIn, Login, NewMessage, Opened, Owner, ProofFormat,
    Purpose, Receipt, Recover, Recovered, Redelivered, Register, Registered, Relay, Scope,
    Sealpost, SecretsReplaced, Sent, Update, Updated, Validate, Validated, WebhookList,
    WebhookSecretRotated,
};
use serde::Serialize;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::support::message;

/// The body of a request, or the refusal of a faulty body.
type Body<T> = Result<T, Refusal>;

/// A node of the service. Its functions authenticate each request and check its body, as the HTTP layer does.
pub(crate) struct Client(pub(crate) Sealpost);

impl Deref for Client {
    type Target = Sealpost;

    fn deref(&self) -> &Sealpost {
        &self.0
    }
}

impl Client {
    pub(crate) async fn send(&self, who: &Credentials, body: Body<NewMessage>) -> Limited<Sent> {
        self.ask(who, Purpose::Send, body, async |caller, send| {
            self.0.sending.send(caller, send).await
        })
        .await
    }

    /// Sends the message `hello`.
    pub(crate) async fn send_hello(&self, from: &Credentials, to: &str) -> Result<Sent, Error> {
        self.send(from, Ok(message(to, "hello", None))).await.result
    }

    pub(crate) fn open(&self, who: &Credentials, body: &Body<String>) -> Limited<Opened> {
        let open = async |caller: &Caller, id| self.0.mailbox.open(caller, id, None).await;
        wait(self.ask(who, Purpose::Execute, body.clone(), open))
    }

    /// Opens an envelope, and asks for its proof.
    pub(crate) fn proven_open(&self, who: &Credentials, body: &Body<String>) -> Limited<Opened> {
        let open = async |caller: &Caller, id| {
            self.0.mailbox.open(caller, id, Some(ProofFormat::Tlog)).await
        };
        wait(self.ask(who, Purpose::Execute, body.clone(), open))
    }

    /// Asks for a receipt with the proof of its envelope.
    pub(crate) fn proven_receipt(
        &self,
        who: &Credentials,
        body: &Body<String>,
    ) -> Limited<Receipt> {
        let receipt = async |caller: &Caller, id| {
            self.0.mailbox.receipt(caller, id, Some(ProofFormat::Tlog)).await
        };
        wait(self.ask(who, Purpose::Manage, body.clone(), receipt))
    }

    pub(crate) async fn evidence(&self, who: &Credentials, id: &str) -> Limited<EvidenceView> {
        let evidence = async |caller: &Caller, id| self.0.mailbox.evidence(caller, id).await;
        self.ask(who, Purpose::Manage, Ok(id.to_owned()), evidence).await
    }

    pub(crate) fn status(&self, who: &Credentials, body: &Body<()>) -> Limited<KeyStanding> {
        let status = async |caller: &Caller, ()| self.0.accounts.key_status(caller, None).await;
        wait(self.ask(who, Purpose::Manage, body.clone(), status))
    }

    pub(crate) fn register(&self, who: &Credentials, body: &Body<Register>) -> Limited<Registered> {
        let register = async |caller: &Caller, asked| {
            self.0.webhooks.register(&caller.acting(&SOURCE), asked).await
        };
        wait(self.ask(who, Purpose::Execute, body.clone(), register))
    }

    pub(crate) fn open_relay(&self, who: &Credentials, body: &Body<String>) -> Limited<Relay> {
        let open = async |caller: &Caller, id| self.0.webhooks.open_relay(caller, id, None).await;
        wait(self.ask(who, Purpose::Manage, body.clone(), open))
    }

    pub(crate) fn manage(&self, who: &Credentials, body: &Body<Manage>) -> Limited<Managed> {
        let manage = async |caller: &Caller, act: Manage| {
            act.perform(&self.0, &caller.acting(&SOURCE)).await
        };
        wait(self.ask(who, Purpose::Manage, body.clone(), manage))
    }

    pub(crate) fn issue_badge(&self, who: &Credentials, body: &Body<Issue>) -> Limited<Issued> {
        let issue = async |caller: &Caller, asked| self.0.badges.issue(caller, asked).await;
        wait(self.ask(who, Purpose::Execute, body.clone(), issue))
    }

    /// Asks for the status with its proof.
    pub(crate) fn proven_status(&self, who: &Credentials) -> Limited<KeyStanding> {
        let status = async |caller: &Caller, ()| {
            self.0.accounts.key_status(caller, Some(ProofFormat::Tlog)).await
        };
        wait(self.ask(who, Purpose::Manage, Ok(()), status))
    }

    /// Verifies a badge, and asks for the proof of its status.
    pub(crate) fn verify_badge(
        &self,
        who: &Credentials,
        body: &Body<String>,
    ) -> Limited<BadgeVerified> {
        let verify = async |caller: &Caller, badge| {
            self.0.badges.verify(caller, badge, Some(ProofFormat::Tlog)).await
        };
        wait(self.ask(who, Purpose::Manage, body.clone(), verify))
    }

    pub(crate) fn validate(&self, who: &Credentials, body: &Body<Validate>) -> Limited<Validated> {
        let validate = async |caller: &Caller, asked| self.0.badges.validate(caller, asked).await;
        wait(self.ask(who, Purpose::Manage, body.clone(), validate))
    }

    pub(crate) fn login(&self, login: &Login) -> Result<LoggedIn, Error> {
        let (account_id, login_secret) = (login.account_id.clone(), login.login_secret.clone());
        wait(self.0.accounts.login(Login { account_id, login_secret, ..*login }, SOURCE))
    }

    pub(crate) fn logout(&self, token: Option<&str>, scope: Body<Scope>) -> Result<(), Error> {
        wait(async {
            let session = self.0.authenticate_session(token).await?;
            self.0.accounts.logout(&session, scope?, SOURCE).await
        })
    }

    pub(crate) fn rotate_login_secret(
        &self,
        token: Option<&str>,
        body: Body<String>,
    ) -> Result<SecretsReplaced, Error> {
        wait(async {
            let session = self.0.authenticate_session(token).await?;
            self.0.accounts.replace_secrets(session.with_secret(body?, SOURCE)).await
        })
    }

    pub(crate) fn activate(
        &self,
        token: Option<&str>,
        body: Body<Activate>,
    ) -> Result<Activated, Error> {
        wait(async {
            let session = match token {
                Some(token) => Some(self.0.authenticate_session(Some(token)).await?),
                None => None,
            };
            self.0.accounts.activate(session.as_ref(), body?, SOURCE).await
        })
    }

    pub(crate) fn owner(&self, token: &str) -> Result<AccountOwner<'_>, Error> {
        wait(self.0.owner(token, SOURCE)).map(|owner| AccountOwner(&self.0, owner))
    }

    pub(crate) fn show_badge(&self, id: &str) -> Result<Option<BadgeView>, Error> {
        wait(self.0.badges.show(id))
    }

    pub(crate) fn status_list(&self, list: &str) -> Result<Option<Arc<str>>, Error> {
        wait(self.0.badges.status_list(list))
    }

    async fn ask<I, T>(
        &self,
        who: &Credentials,
        purpose: Purpose,
        body: Body<I>,
        use_case: impl AsyncFnOnce(&Caller, I) -> Limited<T>,
    ) -> Limited<T> {
        let caller = match self.0.authenticate(who, EVERY_SCOPE).await {
            Ok(caller) => caller,
            Err(error) => return Limited { result: Err(error), limits: None },
        };
        match body {
            Ok(input) => use_case(&caller, input).await,
            Err(refusal) => self.0.sending.reject(&caller, purpose, refusal).await,
        }
    }
}

/// An act on the webhooks of a key.
#[derive(Debug, Clone)]
pub(crate) enum Manage {
    Delete { webhook_id: String },
    Deliveries(Deliveries),
    Enable { webhook_id: String },
    List,
    Recover(Recover),
    Redeliver { webhook_id: String, envelope_id: String },
    RotateSecret { webhook_id: String },
    Update(Update),
}

/// The result of an act on webhooks.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Managed {
    Deleted(Deleted),
    Deliveries(DeliveriesPage),
    Enabled(Enabled),
    Listed(WebhookList),
    Recovered(Recovered),
    Redelivered(Redelivered),
    SecretRotated(WebhookSecretRotated),
    Updated(Updated),
}

impl Manage {
    pub(crate) async fn perform(self, sealpost: &Sealpost, actor: &Actor) -> Limited<Managed> {
        match self {
            Self::Delete { webhook_id } => {
                sealpost.webhooks.delete(actor, webhook_id).await.map(Managed::Deleted)
            }
            Self::Deliveries(query) => {
                sealpost.webhooks.deliveries(actor, query).await.map(Managed::Deliveries)
            }
            Self::Enable { webhook_id } => {
                sealpost.webhooks.enable(actor, webhook_id).await.map(Managed::Enabled)
            }
            Self::List => sealpost.webhooks.list(actor).await.map(Managed::Listed),
            Self::Recover(query) => {
                sealpost.webhooks.recover(actor, query).await.map(Managed::Recovered)
            }
            Self::Redeliver { webhook_id, envelope_id } => {
                let done = sealpost.webhooks.redeliver(actor, webhook_id, envelope_id).await;
                done.map(Managed::Redelivered)
            }
            Self::RotateSecret { webhook_id } => {
                sealpost.webhooks.rotate_secret(actor, webhook_id).await.map(Managed::SecretRotated)
            }
            Self::Update(update) => {
                sealpost.webhooks.update(actor, update).await.map(Managed::Updated)
            }
        }
    }
}

/// The owner of an account on the dashboard, with blocking functions.
pub(crate) struct AccountOwner<'a>(&'a Sealpost, Owner<'a>);

impl<'a> Deref for AccountOwner<'a> {
    type Target = Owner<'a>;

    fn deref(&self) -> &Owner<'a> {
        &self.1
    }
}

impl AccountOwner<'_> {
    pub(crate) fn register(&self, key: &ApiKeyId, asked: Register) -> Result<Registered, Error> {
        wait(self.0.webhooks.register(&self.1.acting_on(key), asked)).result
    }

    pub(crate) fn manage(&self, key: &ApiKeyId, action: Manage) -> Result<Managed, Error> {
        wait(action.perform(self.0, &self.1.acting_on(key))).result
    }

    pub(crate) fn revoke(&self, key: &ApiKeyId) -> Result<KeyRevoked, Error> {
        wait(async {
            match self.1.confirm(None).await {
                Ok(owner) => self.0.accounts.revoke_key(owner, *key).await,
                Err(ConfirmationRefusal::Failed(error)) => Err(error),
                Err(_) => Err(Refusal::Unauthorized("the session is not confirmed").into()),
            }
        })
    }

    /// Exports the account.
    pub(crate) fn export(&self) -> Value {
        let (accounts, mut text) = (&self.0.accounts, Vec::new());
        wait(async {
            let owner = self.1.confirm(None).await.unwrap();
            let mut position = accounts.begin_export(owner).await.unwrap();
            while let Some((portion, next)) = accounts.export_portion(position).await.unwrap() {
                text.extend(portion);
                position = next;
            }
        });
        serde_json::from_slice(&text).unwrap()
    }
}

/// Accepts API tokens with any scope. Black-box tests cover the scopes.
pub(crate) const EVERY_SCOPE: Access = Access::Scopes(&TokenScope::ALL);

/// Blocks the thread until the future is ready. Works inside another runtime too.
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    let _entered = RUNTIME.enter();
    let (mut future, waker) = (pin!(future), Arc::new(Unpark(thread::current())).into());
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The runtime that provides blocking threads. It is never dropped, because a runtime must not be dropped inside
/// another one.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().build().unwrap());

/// Client address and user agent of all requests.
const SOURCE: RequestSource =
    RequestSource { address: Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7))), user_agent: None };
