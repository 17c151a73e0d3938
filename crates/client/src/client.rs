//! The client, and the operations of identities and envelopes.

use std::{collections::BTreeMap, sync::Arc};

use sealpost_domain::{AccountId, EnvelopeId, IdempotencyKey};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::{
    account::Account,
    error::ClientError,
    models::{
        AccountSecrets, Activated, Evidence, KeyStanding, OpenedEnvelope, PolicyChange, PolicyView,
        Pong, Receipt, Resolved, SentEnvelope,
    },
    request::{ApiRequest, random_idempotency_key},
    transport::Transport,
    webhooks::Webhooks,
};

/// A client of one service, which acts as one API key. Clones share the connections and the session.
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) transport: Arc<Transport>,
}

impl Client {
    pub(crate) fn new(transport: Transport) -> Self {
        Self { transport: Arc::new(transport) }
    }

    /// Returns the operations of the account. They need a [`Login`](crate::Login).
    pub fn account(&self) -> Account {
        Account(Arc::clone(&self.transport))
    }

    /// Returns the operations of webhooks.
    pub fn webhooks(&self) -> Webhooks {
        Webhooks(Arc::clone(&self.transport))
    }

    /// Returns the current session token or API token, to pass to a later client. `None` before the first login.
    pub async fn token(&self) -> Option<Zeroizing<String>> {
        self.transport.session.token.lock().await.clone()
    }

    /// Sends a message to an API key or a handle. Retries use the same random `Idempotency-Key`, so the message is sent
    /// once.
    pub async fn send(&self, to: &str, message: &str) -> Result<SentEnvelope, ClientError> {
        self.send_as(to, message, random_idempotency_key()?).await
    }

    /// Sends a message with an `Idempotency-Key` of the caller. To retry safely after a restart of the program, store
    /// the `Idempotency-Key` together with the message.
    pub async fn send_once(
        &self,
        to: &str,
        message: &str,
        idempotency_key: &IdempotencyKey,
    ) -> Result<SentEnvelope, ClientError> {
        self.send_as(to, message, idempotency_key.as_str().to_owned()).await
    }

    async fn send_as(
        &self,
        to: &str,
        message: &str,
        idempotency_key: String,
    ) -> Result<SentEnvelope, ClientError> {
        let body = json!({"to": to, "message": message});
        let request = ApiRequest::post("/v1/channel/send", &body)?;
        let request = ApiRequest { idempotency_key: Some(idempotency_key), ..request };
        self.transport.call(&request).await
    }

    /// Opens an envelope for the API key of this client.
    pub async fn open(&self, envelope_id: EnvelopeId) -> Result<OpenedEnvelope, ClientError> {
        let body = json!({"envelope_id": envelope_id});
        self.transport.call(&ApiRequest::post("/v1/channel/open", &body)?).await
    }

    /// Returns the state of an envelope that this API key sent.
    pub async fn receipt(&self, envelope_id: EnvelopeId) -> Result<Receipt, ClientError> {
        let body = json!({"envelope_id": envelope_id});
        self.transport.call(&ApiRequest::post("/v1/channel/receipt", &body)?).await
    }

    /// Proves what happened to an envelope that this API key sent or received. Takes up to six seconds, and appends an entry
    /// to the transparency log.
    pub async fn evidence(&self, envelope_id: EnvelopeId) -> Result<Evidence, ClientError> {
        let body = json!({"envelope_id": envelope_id});
        self.transport.call(&ApiRequest::post("/v1/channel/evidence", &body)?).await
    }

    /// Returns the state, the plan and the usage of the API key.
    pub async fn status(&self) -> Result<KeyStanding, ClientError> {
        self.transport.call(&ApiRequest::post("/v1/did/status", &json!({}))?).await
    }

    /// Returns the state of the API key, with a proof of the transparency log. The proof is absent for up to two seconds
    /// after a change.
    pub async fn proven_status(&self) -> Result<KeyStanding, ClientError> {
        self.transport.call(&ApiRequest::post("/v1/did/status", &json!({"proof": true}))?).await
    }

    /// Returns a file of the transparency log by its path, such as `tile/0/000`.
    pub async fn log_tile(&self, path: &str) -> Result<Vec<u8>, ClientError> {
        self.transport.bytes(&ApiRequest::get(format!("/log/{path}"))).await
    }

    /// Returns the identity behind an API key or a handle.
    pub async fn resolve(&self, id: &str) -> Result<Resolved, ClientError> {
        let request = ApiRequest::post("/v1/did/resolve", &json!({"id": id}))?;
        self.transport.call(&request).await
    }

    /// Changes parts of the recipient policy, and returns the whole policy.
    pub async fn policy(&self, change: &PolicyChange) -> Result<PolicyView, ClientError> {
        self.transport.call(&ApiRequest::post("/v1/did/policy", change)?).await
    }

    /// Activates an identity. If the client has no credentials, the service also opens an account, and the response
    /// contains the login secret of this account. Some services require an `invite` to open an account.
    pub async fn activate(
        &self,
        label: &str,
        handle: Option<&str>,
        invite: Option<&str>,
    ) -> Result<Activated, ClientError> {
        let members = [("label", Some(label)), ("handle", handle), ("invite", invite)];
        let given = members.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let body: BTreeMap<_, _> = given.collect();
        self.transport.call(&ApiRequest::post("/v1/did/activate", &body)?).await
    }

    /// Replaces the login secret and the recovery code of an account. Ends its sessions and API tokens. Needs no
    /// credentials. Store the response, then build a client with the new login secret.
    pub async fn recover(
        &self,
        account_id: AccountId,
        recovery_code: &str,
    ) -> Result<AccountSecrets, ClientError> {
        let body = json!({"account_id": account_id, "recovery_code": recovery_code});
        let request = ApiRequest::post("/v1/auth/recover", &body)?.without_credentials();
        self.transport.call(&request).await
    }

    /// Checks that the service is alive.
    pub async fn ping(&self) -> Result<Pong, ClientError> {
        self.transport.call(&ApiRequest::get("/v1/ping")).await
    }

    /// Returns the OpenAPI document of the service.
    pub async fn openapi_document(&self) -> Result<Value, ClientError> {
        self.transport.call(&ApiRequest::get("/openapi.json")).await
    }
}
