//! An HTTP client for the API. Checks every error response against the API contract.

pub(crate) mod browser;
mod documented;
pub(crate) mod load;
pub(crate) mod raw;

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use ureq::{
    Agent,
    http::{self, HeaderMap},
    tls::{Certificate, RootCerts, TlsConfig},
};

/// An HTTP client for one server.
#[derive(Clone)]
pub(crate) struct Client {
    agent: Agent,
    url: Arc<str>,
}

/// One API key of an account, with the token of an open session.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) key: String,
    pub(crate) did: String,
    pub(crate) account: String,
    /// The login secret, present only for the first key of the account.
    pub(crate) login_secret: Option<String>,
    pub(crate) token: String,
}

/// A request that is not sent yet.
pub(crate) struct Request<'a> {
    client: &'a Client,
    builder: http::request::Builder,
    body: Vec<u8>,
}

/// A response with its complete body.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    base_url: Arc<str>,
}

impl Identity {
    /// Returns the login secret. Panics for a key that is not the first of its account.
    #[track_caller]
    pub(crate) fn secret(&self) -> &str {
        self.login_secret.as_deref().unwrap()
    }
}

impl Client {
    pub(crate) fn new(url: &str) -> Self {
        Self::with(url, TlsConfig::default())
    }

    /// Creates a client that trusts only certificates of this certificate authority.
    pub(crate) fn trusting(url: &str, authority: &[u8]) -> Self {
        let roots = RootCerts::new_with_certs(&[Certificate::from_der(authority).to_owned()]);
        Self::with(url, TlsConfig::builder().root_certs(roots).build())
    }

    fn with(url: &str, tls: TlsConfig) -> Self {
        let config = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .allow_non_standard_methods(true)
            .timeout_global(Some(RESPONSE_TIMEOUT))
            .build();
        Self { agent: config.into(), url: url.into() }
    }

    /// Returns the URL of the server, without a trailing slash.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> Request<'_> {
        let builder = http::Request::builder().method(method).uri(format!("{}{path}", self.url));
        Request { client: self, builder, body: Vec::new() }
    }

    pub(crate) fn post(&self, path: &str) -> Request<'_> {
        self.request("POST", path)
    }

    /// Posts `body` as `identity`: with its API key and its session token.
    pub(crate) fn act(&self, identity: &Identity, path: &str, body: &Value) -> Response {
        self.post(path).by(identity).json(body).response()
    }

    pub(crate) fn activate(&self, body: &Value) -> Response {
        self.post("/v1/did/activate").json(body).response()
    }

    pub(crate) fn login(&self, account: &str, secret: &str) -> Response {
        let body = json!({"account_id": account, "login_secret": secret});
        self.post("/v1/auth/login").json(&body).response()
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        self.request("GET", path).response()
    }

    /// Logs in with the login secret of an identity.
    pub(crate) fn log_in(&self, identity: &Identity) -> Response {
        self.login(&identity.account, identity.secret())
    }

    /// Opens another session of an account.
    #[track_caller]
    pub(crate) fn new_session(&self, identity: &Identity) -> Identity {
        let session = self.log_in(identity).ok();
        Identity { token: text(&session, "session_token"), ..identity.clone() }
    }

    /// Posts `body` as the owner of an account: with a session token and without an API key.
    pub(crate) fn act_as_owner(&self, owner: &Identity, path: &str, body: &Value) -> Response {
        self.post(path).token(&owner.token).json(body).response()
    }

    /// Creates an account with one API key, and opens a session.
    #[track_caller]
    pub(crate) fn new_identity(&self) -> Identity {
        self.activate_and_log_in(&json!({"label": "somebody"}))
    }

    /// Creates an account with one API key that has this handle, and opens a session.
    #[track_caller]
    pub(crate) fn new_identity_with_handle(&self, handle: &str) -> Identity {
        self.activate_and_log_in(&json!({"label": "somebody", "handle": handle}))
    }

    /// Creates an account with the API key that `body` describes, and opens a session.
    #[track_caller]
    pub(crate) fn activate_and_log_in(&self, body: &Value) -> Identity {
        let activated = self.activate(body).ok();
        let (account, secret) = (text(&activated, "account_id"), text(&activated, "login_secret"));
        let session = self.login(&account, &secret).ok();
        Identity {
            key: text(&activated, "api_key_id"),
            did: text(&activated, "did"),
            account,
            login_secret: Some(secret),
            token: text(&session, "session_token"),
        }
    }

    /// Activates another API key in the same account.
    #[track_caller]
    pub(crate) fn sibling(&self, of: &Identity) -> Identity {
        let request = self.post("/v1/did/activate").token(&of.token);
        let activated = request.json(&json!({"label": "another"})).response().ok();
        Identity {
            key: text(&activated, "api_key_id"),
            did: text(&activated, "did"),
            login_secret: None,
            ..of.clone()
        }
    }

    /// Creates an API token for the key of `identity`, whose login secret must be known.
    #[track_caller]
    pub(crate) fn new_token(&self, identity: &Identity, scopes: &[&str]) -> Value {
        let request = self.post("/v1/auth/tokens/create").token(&identity.token);
        request.json(&token_body(identity, scopes)).response().ok()
    }

    /// Like `new_token`, but returns only the text of the token.
    #[track_caller]
    pub(crate) fn token_with(&self, identity: &Identity, scopes: &[&str]) -> String {
        text(&self.new_token(identity, scopes), "token")
    }

    pub(crate) fn send(&self, from: &Identity, to: &str, message: &str) -> Response {
        self.act(from, "/v1/channel/send", &json!({"to": to, "message": message}))
    }

    pub(crate) fn open(&self, identity: &Identity, envelope_id: &str) -> Response {
        self.act(identity, "/v1/channel/open", &json!({"envelope_id": envelope_id}))
    }

    pub(crate) fn status(&self, identity: &Identity) -> Response {
        self.post("/v1/did/status").by(identity).response()
    }

    /// Registers a webhook and returns the response body.
    #[track_caller]
    pub(crate) fn register(&self, identity: &Identity, url: &str) -> Value {
        self.register_for(identity, url, &["envelope.received"])
    }

    /// Registers a webhook for these events and returns the response body.
    #[track_caller]
    pub(crate) fn register_for(&self, identity: &Identity, url: &str, events: &[&str]) -> Value {
        let body = json!({"url": url, "events": events});
        self.act(identity, "/v1/webhooks/register", &body).ok()
    }

    /// Returns the only webhook of a key, as in the list.
    #[track_caller]
    pub(crate) fn only_webhook(&self, identity: &Identity) -> Value {
        only_one(&self.act(identity, "/v1/webhooks/list", &json!({})).ok())
    }

    pub(crate) fn manage(&self, identity: &Identity, body: &Value) -> Response {
        self.act(identity, "/v1/webhooks", body)
    }
}

impl Request<'_> {
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.builder = self.builder.header(name, value);
        self
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("X-DID-API-Key", key)
    }

    pub(crate) fn by(self, identity: &Identity) -> Self {
        self.token(&identity.token).key(&identity.key)
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string().as_bytes())
    }

    pub(crate) fn body(mut self, content_type: &str, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self.header("Content-Type", content_type)
    }

    #[track_caller]
    pub(crate) fn response(self) -> Response {
        let client = self.client;
        let method = self.builder.method_ref().map(ToString::to_string).unwrap_or_default();
        let path = self.builder.uri_ref().map(|uri| uri.path().to_owned()).unwrap_or_default();
        let response = self.try_response().unwrap_or_else(|error| panic!("no response: {error}"));
        documented::check(client, &method, &path, &response);
        response
    }

    /// Sends the request. The result is `Err` if the server sends no response.
    pub(crate) fn try_response(self) -> Result<Response, ureq::Error> {
        let base_url = Arc::clone(&self.client.url);
        let agent = &self.client.agent;
        let response =
            if self.body.is_empty() && self.builder.method_ref() != Some(&http::Method::POST) {
                agent.run(self.builder.body(())?)?
            } else {
                agent.run(self.builder.body(self.body)?)?
            };
        let (head, mut body) = response.into_parts();
        let body = body.read_to_vec()?;
        Ok(Response { status: head.status.as_u16(), headers: head.headers, body, base_url })
    }
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        serde_json::from_str(&text).unwrap_or_else(|_| {
            panic!("status {} with a body that is not JSON: {text}", self.status)
        })
    }

    /// Checks that the status is 200, and returns the body.
    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        self.check_headers();
        assert_eq!(self.header("content-type"), Some("application/json"));
        self.json()
    }

    /// Checks that the response is a problem document with this status and code and all required headers. Returns the
    /// document.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) -> Value {
        let problem = self.json();
        assert_eq!((self.status, problem["code"].as_str()), (status, Some(code)), "{problem}");
        self.check_headers();
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        assert_eq!(problem["status"], status);
        assert_eq!(problem["type"], format!("{}/docs/errors/{code}", self.base_url));
        assert_eq!(problem["request_id"].as_str(), self.header("x-request-id"));
        for text in ["title", "detail"] {
            assert!(problem[text].as_str().is_some_and(|text| !text.is_empty()), "{problem}");
        }
        let members = ["type", "title", "status", "detail", "code", "request_id", "field"];
        let more: &[&str] = match code {
            "BADGE_DENIED_DRIFT" | "BADGE_DENIED_THRESHOLDS" => &["unmet"],
            "COMPLIANCE_CIRCUIT_FAILED" => &["jurisdiction", "checks"],
            _ => &[],
        };
        let known = |name: &String| [&members, more].concat().contains(&name.as_str());
        assert!(problem.as_object().unwrap().keys().all(known), "{problem}");
        assert_eq!(self.header("www-authenticate").is_some(), status == 401);
        assert_eq!(self.header("www-authenticate").unwrap_or("Bearer"), "Bearer");
        assert_eq!(self.header("allow").is_some(), status == 405);
        let is_pause = code == "KEY_INACTIVE" && text(&problem, "detail").contains("temporary");
        let can_wait = matches!(status, 429 | 503) || is_pause;
        assert_eq!(self.header("retry-after").is_some(), can_wait);
        assert!(self.header("retry-after").is_none_or(|wait| wait.parse::<u32>().unwrap() >= 1));
        problem
    }

    /// Checks that `Retry-After` is 1 to 60 seconds.
    #[track_caller]
    pub(crate) fn check_wait(&self) {
        let wait: u64 = self.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
    }

    #[track_caller]
    fn check_headers(&self) {
        assert!(self.header("x-request-id").is_some_and(|id| !id.is_empty()));
        assert_eq!(self.header("cache-control"), Some("no-store"));
        assert_eq!(self.header("x-content-type-options"), Some("nosniff"));
    }
}

/// Returns the only webhook of a list.
#[track_caller]
pub(crate) fn only_one(list: &Value) -> Value {
    let webhooks = list["webhooks"].as_array().unwrap();
    assert_eq!(webhooks.len(), 1, "{list}");
    webhooks[0].clone()
}

/// Checks that a JSON object has these members with these values. The object may have further members.
#[track_caller]
pub(crate) fn has(object: &Value, members: &Value) {
    for (name, value) in members.as_object().unwrap() {
        assert_eq!(object[name], *value, "{name} of {object}");
    }
}

/// Returns the body that creates an API token.
pub(crate) fn token_body(identity: &Identity, scopes: &[&str]) -> Value {
    json!({
        "login_secret": identity.login_secret,
        "api_key_id": identity.key,
        "name": "order service",
        "scopes": scopes,
    })
}

/// Returns the text of a JSON field. Panics if the field is missing.
#[track_caller]
pub(crate) fn text(response: &Value, name: &str) -> String {
    let value = response[name].as_str();
    value.unwrap_or_else(|| panic!("no {name} in {response}")).to_owned()
}

/// Maximum time to wait for a response. Longer than the server may take for any response.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);
