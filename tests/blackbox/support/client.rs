//! A caller of the API. Every refusal that a case meets is checked against all that the contract says of refusals.

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

/// Calls one server.
#[derive(Clone)]
pub(crate) struct Client {
    agent: Agent,
    url: Arc<str>,
}

/// One key of an account that has logged in.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) key: String,
    pub(crate) did: String,
    pub(crate) account: String,
    /// Of the account, where it was opened for this key.
    pub(crate) login_secret: Option<String>,
    pub(crate) token: String,
}

/// A request as it is put together.
pub(crate) struct Request<'a> {
    client: &'a Client,
    builder: http::request::Builder,
    body: Vec<u8>,
}

/// An answer, read whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    base_url: Arc<str>,
}

impl Client {
    pub(crate) fn new(url: &str) -> Self {
        Self::with(url, TlsConfig::default())
    }

    /// One that believes nobody but this authority.
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
            .timeout_global(Some(PATIENCE))
            .build();
        Self { agent: config.into(), url: url.into() }
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> Request<'_> {
        let builder = http::Request::builder().method(method).uri(format!("{}{path}", self.url));
        Request { client: self, builder, body: Vec::new() }
    }

    pub(crate) fn post(&self, path: &str) -> Request<'_> {
        self.request("POST", path)
    }

    /// A call as this identity.
    pub(crate) fn act(&self, who: &Identity, path: &str, body: &Value) -> Answer {
        self.post(path).by(who).json(body).answer()
    }

    pub(crate) fn activate(&self, body: &Value) -> Answer {
        self.post("/v1/did/activate").json(body).answer()
    }

    pub(crate) fn login(&self, account: &str, secret: &str) -> Answer {
        let body = json!({"account_id": account, "login_secret": secret});
        self.post("/v1/auth/login").json(&body).answer()
    }

    /// A new account with one key, logged in.
    #[track_caller]
    pub(crate) fn newcomer(&self) -> Identity {
        self.newcomer_with(&json!({"label": "somebody"}))
    }

    /// The same with a handle.
    #[track_caller]
    pub(crate) fn newcomer_named(&self, handle: &str) -> Identity {
        self.newcomer_with(&json!({"label": "somebody", "handle": handle}))
    }

    #[track_caller]
    fn newcomer_with(&self, body: &Value) -> Identity {
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

    /// Another key of the same account.
    #[track_caller]
    pub(crate) fn sibling(&self, of: &Identity) -> Identity {
        let request = self.post("/v1/did/activate").token(&of.token);
        let activated = request.json(&json!({"label": "another"})).answer().ok();
        Identity {
            key: text(&activated, "api_key_id"),
            did: text(&activated, "did"),
            login_secret: None,
            ..of.clone()
        }
    }

    pub(crate) fn send(&self, from: &Identity, to: &str, message: &str) -> Answer {
        self.act(from, "/v1/channel/send", &json!({"to": to, "message": message}))
    }

    pub(crate) fn open(&self, who: &Identity, envelope_id: &str) -> Answer {
        self.act(who, "/v1/channel/open", &json!({"envelope_id": envelope_id}))
    }

    pub(crate) fn status(&self, who: &Identity) -> Answer {
        self.post("/v1/did/status").by(who).answer()
    }

    /// Registers a webhook and gives what was answered.
    #[track_caller]
    pub(crate) fn register(&self, who: &Identity, url: &str) -> Value {
        let body = json!({"url": url, "events": ["envelope.received"]});
        self.act(who, "/v1/webhooks/register", &body).ok()
    }

    pub(crate) fn manage(&self, who: &Identity, body: &Value) -> Answer {
        self.act(who, "/v1/webhooks", body)
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

    pub(crate) fn by(self, who: &Identity) -> Self {
        self.token(&who.token).key(&who.key)
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string().as_bytes())
    }

    pub(crate) fn body(mut self, content_type: &str, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self.header("Content-Type", content_type)
    }

    #[track_caller]
    pub(crate) fn answer(self) -> Answer {
        let client = self.client;
        let method = self.builder.method_ref().map(ToString::to_string).unwrap_or_default();
        let path = self.builder.uri_ref().map(|uri| uri.path().to_owned()).unwrap_or_default();
        let answer = self.try_answer().unwrap_or_else(|error| panic!("no answer: {error}"));
        documented::check(client, &method, &path, &answer);
        answer
    }

    /// `Err` where the server does not answer.
    pub(crate) fn try_answer(self) -> Result<Answer, ureq::Error> {
        let base_url = Arc::clone(&self.client.url);
        let agent = &self.client.agent;
        let answer =
            if self.body.is_empty() && self.builder.method_ref() != Some(&http::Method::POST) {
                agent.run(self.builder.body(())?)?
            } else {
                agent.run(self.builder.body(self.body)?)?
            };
        let (head, mut body) = answer.into_parts();
        let body = body.read_to_vec()?;
        Ok(Answer { status: head.status.as_u16(), headers: head.headers, body, base_url })
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        serde_json::from_str(&text)
            .unwrap_or_else(|_| panic!("{} and no JSON: {text}", self.status))
    }

    /// The body of a 200.
    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        self.check_headers();
        assert_eq!(self.header("content-type"), Some("application/json"));
        self.json()
    }

    /// The problem document of a refusal.
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

    #[track_caller]
    fn check_headers(&self) {
        assert!(self.header("x-request-id").is_some_and(|id| !id.is_empty()));
        assert_eq!(self.header("cache-control"), Some("no-store"));
        assert_eq!(self.header("x-content-type-options"), Some("nosniff"));
    }
}

/// The text of a member that an answer must have.
#[track_caller]
pub(crate) fn text(answer: &Value, name: &str) -> String {
    let value = answer[name].as_str();
    value.unwrap_or_else(|| panic!("no {name} in {answer}")).to_owned()
}

/// Longer than anything that the server may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
