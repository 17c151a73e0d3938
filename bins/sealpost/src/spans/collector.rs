//! The HTTP client that sends spans to a collector. Each request blocks the thread of the exporter, which has no other
//! work.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use sealpost_domain::with_causes;
use tokio::runtime::{Builder, Runtime};

use crate::command_error::CommandError;

#[derive(Debug)]
pub(super) struct CollectorClient {
    http: reqwest::Client,
    runtime: Runtime,
    /// Whether the newest request failed. Only the first of several consecutive failures is logged.
    is_failing: AtomicBool,
}

impl CollectorClient {
    pub(super) fn new() -> Result<Self, CommandError> {
        let fault =
            |error: HttpError| CommandError::caused("the exporter of spans cannot start", error);
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| fault(error.into()))?;
        let http = reqwest::Client::builder()
            .use_preconfigured_tls(tls_config().map_err(|error| fault(error.into()))?)
            .redirect(reqwest::redirect::Policy::none())
            .timeout(REQUEST_TIMEOUT)
            .build()
            .map_err(|error| fault(error.into()))?;
        Ok(Self { http, runtime, is_failing: AtomicBool::new(false) })
    }

    async fn post(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        // Removes the URL of the collector from each error, because the path of the URL may contain a secret.
        let request = reqwest::Request::try_from(request).map_err(reqwest::Error::without_url)?;
        let received = self.http.execute(request).await.map_err(reqwest::Error::without_url)?;
        let mut response = Response::builder().status(received.status());
        if let Some(headers) = response.headers_mut() {
            headers.clone_from(received.headers());
        }
        Ok(response.body(received.bytes().await.map_err(reqwest::Error::without_url)?)?)
    }

    fn log(&self, result: &Result<Response<Bytes>, HttpError>) {
        let problem = match result {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("status {}", response.status())),
            Err(error) => Some(with_causes(&**error)),
        };
        let was_failing = self.is_failing.swap(problem.is_some(), Ordering::Relaxed);
        match problem {
            Some(problem) if !was_failing => {
                tracing::warn!(
                    problem,
                    "the collector of --otlp-endpoint takes no spans; spans are lost meanwhile"
                );
            }
            None if was_failing => tracing::info!("the collector takes spans again"),
            _ => {}
        }
    }
}

#[async_trait::async_trait]
impl HttpClient for CollectorClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let result = self.runtime.block_on(self.post(request));
        self.log(&result);
        result
    }
}

/// Builds a TLS configuration that trusts the public authorities.
fn tls_config() -> Result<ClientConfig, rustls::Error> {
    let roots: RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
