//! The settings of a client.

use std::{sync::Arc, time::Duration};

use reqwest::{Url, header::HeaderValue};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use sealpost_domain::ApiKeyId;

use crate::{
    client::Client,
    error::ClientError,
    request::{Login, SessionCache, Token},
    retry::RetryPolicy,
    transport::Transport,
};

/// Builds a [`Client`]. A client without credentials can only call operations that need none, such as
/// [`Client::activate`].
#[must_use]
pub struct ClientBuilder {
    url: String,
    api_key: Option<ApiKeyId>,
    login: Option<Login>,
    token: Option<Token>,
    retry: RetryPolicy,
    timeout: Duration,
}

impl Client {
    /// Starts to build a client of the service at `url`.
    pub fn builder(url: &str) -> ClientBuilder {
        ClientBuilder {
            url: url.to_owned(),
            api_key: None,
            login: None,
            token: None,
            retry: RetryPolicy::default(),
            timeout: Duration::from_secs(30),
        }
    }
}

impl ClientBuilder {
    /// Sets the API key that the client acts as.
    pub fn api_key(mut self, api_key: ApiKeyId) -> Self {
        self.api_key = Some(api_key);
        self
    }

    /// Sets the account. The client logs in when it needs a session.
    pub fn login(mut self, login: Login) -> Self {
        self.login = Some(login);
        self
    }

    /// Sets a token: an API token, or the session token of an earlier client. If a [`Login`] is also set and the
    /// service rejects the token, the client logs in and continues with a new session token.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(Token::new(token.into()));
        self
    }

    /// Sets the limits of retries.
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// Sets the time limit of one HTTP request. The default is 30 s.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Creates the client. Opens no connection.
    pub fn build(self) -> Result<Client, ClientError> {
        let Self { url, api_key, login, token, retry, timeout } = self;
        let parsed = Url::parse(&url).ok().filter(|url| {
            let has_user = !url.username().is_empty() || url.password().is_some();
            matches!(url.scheme(), "http" | "https") && !has_user
        });
        // The part before `@` can contain a password, which must not appear in the error.
        let shown = if url.contains('@') { "a text with @".to_owned() } else { url };
        let base_url = parsed.ok_or(ClientError::InvalidUrl(shown))?;
        // The HTTP client would report each request like a lost response, and the request would be repeated.
        if token.as_ref().is_some_and(|token| HeaderValue::from_bytes(token.as_bytes()).is_err()) {
            return Err(ClientError::InvalidToken);
        }
        let http = reqwest::Client::builder()
            .use_preconfigured_tls(tls_config()?)
            .redirect(reqwest::redirect::Policy::none())
            .timeout(timeout)
            .build()
            .map_err(|source| ClientError::Build(source.into()))?;
        let session = SessionCache::new(login, token);
        let transport = Transport { http, base_url, api_key, retry, session };
        Ok(Client { transport: Arc::new(transport) })
    }
}

/// Builds a TLS configuration that trusts the public certificate authorities of the crate `webpki-roots`.
fn tls_config() -> Result<ClientConfig, ClientError> {
    let roots: RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|source| ClientError::Build(source.into()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
