//! Sends requests with credentials, repeats them if this is safe, and converts error responses into [`ClientError`].

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use httpdate::parse_http_date;
use reqwest::{
    Response, StatusCode, Url,
    header::{
        AUTHORIZATION, CONNECTION, CONTENT_TYPE, RETRY_AFTER, SEC_WEBSOCKET_KEY,
        SEC_WEBSOCKET_VERSION, UPGRADE,
    },
};
use sealpost_domain::ApiKeyId;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::json;

use crate::{
    error::ClientError,
    request::{ApiRequest, LOG, Login, SessionCache, Token},
    retry::RetryPolicy,
};

/// Sends the requests of a client and of its clones, which share the connections and the session.
pub(crate) struct Transport {
    pub(crate) http: reqwest::Client,
    pub(crate) base_url: Url,
    pub(crate) api_key: Option<ApiKeyId>,
    pub(crate) retry: RetryPolicy,
    pub(crate) session: SessionCache,
}

impl Transport {
    /// Sends a request, and returns the JSON of the response.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        request: &ApiRequest,
    ) -> Result<T, ClientError> {
        parse(&request.path, &self.bytes(request).await?)
    }

    /// Sends a POST request with credentials and this JSON body, and returns the JSON of the response.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &'static str,
        body: &impl Serialize,
    ) -> Result<T, ClientError> {
        self.call(&ApiRequest::post(path, body)?).await
    }

    /// Sends a request, and returns the bytes of the response. Repeats the request while this is safe and the limits of
    /// the retry policy allow it.
    pub(crate) async fn bytes(&self, request: &ApiRequest) -> Result<Vec<u8>, ClientError> {
        let is_send = request.idempotency_key.is_some();
        let mut tries = 0;
        loop {
            tries += 1;
            let body = async { read(&request.path, self.attempt(request).await?).await };
            let error = match body.await {
                Ok(body) => return Ok(body),
                Err(error) => error,
            };
            match self.retry.pause(tries, &error, is_send) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(error),
            }
        }
    }

    /// Sends a request, and returns the response if its status is a success. If the service rejects the token and the
    /// client has a [`Login`](crate::Login), logs in and sends the request a second time.
    pub(crate) async fn attempt(&self, request: &ApiRequest) -> Result<Response, ClientError> {
        if !request.needs_credentials {
            return self.exchange(request, None).await;
        }
        let token = self.token().await?;
        match self.exchange(request, token.as_ref()).await {
            Err(error) if is_unauthorized(&error) => match token {
                Some(token) if self.session.reject(&token).await => {
                    let token = self.token().await?;
                    self.exchange(request, token.as_ref()).await
                }
                _ => Err(error),
            },
            done => done,
        }
    }

    /// Returns the current token. Logs in if there is none and the client has a [`Login`](crate::Login). Returns `None`
    /// for a client without credentials.
    async fn token(&self) -> Result<Option<Token>, ClientError> {
        let mut current = self.session.token.lock().await;
        if let (None, Some(login)) = (current.as_ref(), &self.session.login) {
            *current = Some(Token::new(self.log_in(login).await?.session_token));
        }
        Ok(current.clone())
    }

    async fn log_in(&self, login: &Login) -> Result<LoggedIn, ClientError> {
        let body = json!({"account_id": login.account_id, "login_secret": *login.login_secret});
        let request = ApiRequest::post(LOGIN, &body)?;
        parse(LOGIN, &read(LOGIN, self.exchange(&request, None).await?).await?)
    }

    /// Sends a request once. Returns a successful response, or an upgrade to a WebSocket, without reading its body.
    ///
    /// Fails for any other status. Also fails if the content type is not `application/…`, because the API does not
    /// respond with web pages. Only files of the transparency log may be plain text.
    async fn exchange(
        &self,
        request: &ApiRequest,
        token: Option<&Token>,
    ) -> Result<Response, ClientError> {
        let path = &*request.path;
        let response = self.builder(request, token).send().await;
        let response = response.map_err(|source| unreachable(path, source))?;
        let (status, retry_after) = (response.status(), retry_after(&response));
        let kind = content_type(&response);
        let is_upgraded = status == StatusCode::SWITCHING_PROTOCOLS;
        let is_content = kind.starts_with("application/")
            || (path.starts_with(LOG) && kind.starts_with("text/plain"));
        if is_upgraded || (status.is_success() && is_content) {
            return Ok(response);
        }
        let body = read(path, response).await?;
        let path = path.to_owned();
        let problem = serde_json::from_slice(&body).ok();
        Err(match problem.filter(|_| kind.starts_with("application/problem+json")) {
            Some(problem) => ClientError::Refused { path, problem, retry_after },
            None => ClientError::NotSealpost { path, status: status.as_u16(), retry_after },
        })
    }

    fn builder(&self, request: &ApiRequest, token: Option<&Token>) -> reqwest::RequestBuilder {
        let mut url = self.base_url.clone();
        url.set_path(&format!("{}{}", self.base_url.path().trim_end_matches('/'), request.path));
        url.set_query(request.query.as_deref());
        let mut builder = match &request.body {
            Some(body) => {
                self.http.post(url).header(CONTENT_TYPE, "application/json").body(body.clone())
            }
            None => self.http.get(url),
        };
        if let Some(key) = self.api_key.filter(|_| request.needs_credentials) {
            builder = builder.header("X-DID-API-Key", key.to_string());
        }
        if let Some(key) = &request.idempotency_key {
            builder = builder.header("Idempotency-Key", key);
        }
        if let Some(key) = &request.websocket_key {
            builder = builder
                .header(CONNECTION, "Upgrade")
                .header(UPGRADE, "websocket")
                .header(SEC_WEBSOCKET_VERSION, "13")
                .header(SEC_WEBSOCKET_KEY, key);
        }
        match token {
            Some(token) => builder.header(AUTHORIZATION, format!("Bearer {}", token.as_str())),
            None => builder,
        }
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport")
            .field("base_url", &self.base_url.as_str())
            .field("api_key", &self.api_key)
            .finish_non_exhaustive()
    }
}

/// Reads the body of a response.
async fn read(path: &str, response: Response) -> Result<Vec<u8>, ClientError> {
    let body = response.bytes().await;
    Ok(body.map_err(|source| unreachable(path, source))?.to_vec())
}

/// Returns the error of a request without a response.
pub(crate) fn unreachable(path: &str, source: reqwest::Error) -> ClientError {
    ClientError::Unreachable {
        path: path.to_owned(),
        may_have_been_processed: !source.is_connect() && !source.is_builder(),
        source: source.without_url(),
    }
}

fn parse<T: DeserializeOwned>(path: &str, body: &[u8]) -> Result<T, ClientError> {
    serde_json::from_slice(body)
        .map_err(|source| ClientError::InvalidResponse { path: path.to_owned(), source })
}

fn is_unauthorized(error: &ClientError) -> bool {
    match error {
        ClientError::Refused { problem, .. } => problem.status == 401,
        ClientError::NotSealpost { status, .. } => *status == 401,
        _ => false,
    }
}

fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_owned()
}

/// Returns the wait time in the header `Retry-After`, which is a number of seconds or a date.
#[expect(clippy::disallowed_methods, reason = "a date is relative to the clock of this machine")]
fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    if let Some(wait) = seconds_of(value) {
        return Some(wait);
    }
    let date = parse_http_date(value).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

/// Parses a number of seconds. The service sends whole seconds; a proxy may send fractions. A number that is too large
/// for a [`Duration`] gives [`Duration::MAX`].
fn seconds_of(value: &str) -> Option<Duration> {
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let seconds: f64 = value.parse().ok().filter(|_| is_number)?;
    Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// A new session.
#[derive(Deserialize)]
struct LoggedIn {
    /// The token of the session.
    session_token: String,
}

pub(crate) const LOGIN: &str = "/v1/auth/login";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_may_have_a_fraction_and_any_length() {
        assert_eq!(seconds_of("0"), Some(Duration::ZERO));
        assert_eq!(seconds_of("120"), Some(Duration::from_mins(2)));
        assert_eq!(seconds_of("0.5"), Some(Duration::from_millis(500)));
        for huge in ["99999999999999999999999".to_owned(), "9".repeat(400)] {
            assert_eq!(seconds_of(&huge), Some(Duration::MAX));
        }
        for other in ["", ".", "1.2.3", "-5", "1e3", "NaN", "Thu, 01 Jan 2026 00:01:00 GMT"] {
            assert_eq!(seconds_of(other), None, "{other}");
        }
    }
}
